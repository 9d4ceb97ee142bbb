/* SPDX-License-Identifier: MIT */
/* Whether a launch that may be split should be: `auto` mode's choice between one device and all, for this launch, from
 * what earlier launches of the same kernel and size took and from the bytes that either way would have to move.
 * docs/choice.md says how. Pure: nothing is called, the time is given. The owner locks. Times are in nanoseconds. */
#ifndef GS_SHIM_CHOOSE_CHOICE_H
#define GS_SHIM_CHOOSE_CHOICE_H

#include "common/reasons.h"
#include "common/settings.h"

/* So many splits have to be measured: the first doesn't count, it makes replicas and kernels. */
enum { GS_MEASURED_KEPT = 5, GS_CHOICE_TRIES = 3, GS_CHOICE_KNOWN = GS_CHOICE_TRIES - 1 };

/* What moves costs at most what it does between hosts far apart: 80 Mbit/s, a round trip of 50 ms. */
#define GS_MOST_BYTE_NS 100.0
#define GS_MOST_NS 1e8

static const double gs_hopeless = 4; /* times as long as one device: it isn't tried twice */
static const double gs_small_bytes = 65536, gs_large_bytes = 16777216;

static inline double gs_max(double a, double b)
{
    return a > b ? a : b;
}

static inline double gs_min(double a, double b)
{
    return a < b ? a : b;
}

/* ---- balance.c: where to cut a launch so that its parts end together, by what the parts of earlier ones took ---- */

/* The state for one kernel at one size. All zeros: parts of equal size. */
struct gs_balance {
    unsigned n;                 /* parts; 0: equal ones */
    unsigned dim;               /* that the cut holds for */
    double cut[GS_MAX_DEVICES]; /* cut[p]: the end of part p, as a share of the dimension; the last is 1 */
    /* Under this cut: */
    unsigned measured;
    uint64_t part_ns[GS_MAX_DEVICES]; /* the lowest */
    uint64_t longest_ns;              /* the lowest of the longest parts' times */
    unsigned slow;                    /* the last so many took far longer than that */
    double share[GS_MAX_DEVICES];     /* of the launch, that each part's time was enough for */
    bool unlike;                      /* the devices differ */
    /* The cut before: it comes back if the new one isn't better. */
    double before[GS_MAX_DEVICES];
    uint64_t before_ns;
    unsigned moves;
    unsigned since;   /* moves before what is known now began to be learnt */
    unsigned in_vain; /* moves since `before` */
    bool settled;     /* the cut is moved no more */
};

/* One launch in n parts along `dim`: part p took part_ns[p] and reached up to cut[p]. `share`: the devices differ, and
 * in that time each could have done share[p] of the launch. NULL: they are alike. */
void gs_balance_learn(struct gs_balance *b, unsigned dim, unsigned n, const double *cut, const uint64_t *part_ns,
                      const double *share);

/* The devices may have changed: begins to learn again, from this cut. */
void gs_balance_begin_again(struct gs_balance *b);

/* Part p's share of the dimension. */
static inline double gs_cut_width(const double *cut, unsigned p)
{
    return cut[p] - (p ? cut[p - 1] : 0);
}

/* What all of the parts would take on the first device, one after the other; 0: nothing is known. */
double gs_balance_single_ns(const struct gs_balance *b);

/* Between devices that differ, with a known cut: each one's speed, the first's being 1, as measured, or by the cut. */
double gs_balance_speed(const struct gs_balance *b, unsigned p);

/* Moves the cut if that gains. Between devices that are alike the parts' times say where in the launch there is more to
 * do; between others, which device is faster: then one launch says enough, and it is moved all the way, and on
 * from there if that was in vain. `bytes_ns` is what it would take to move everything that the launch needs and
 * writes, `launches` how many more are expected. True: it has been moved. */
bool gs_balance_move(struct gs_balance *b, double bytes_ns, double launches);

/* What a launch takes beyond the mean of its parts; 0: nothing is known. */
uint64_t gs_balance_over(const struct gs_balance *b);

/* ---- stretch.c: what comes between two waits of the application's, taken together: a split may gain by what it takes
 * itself and lose by what lies between it and its neighbours. docs/choice.md says how that is judged ---- */

enum { GS_STRETCHES_KEPT = 8, GS_STRETCHES_MOST = 64 };

/* So many, each by how many times as long it took as its kernels do on one device. */
struct gs_stretches {
    unsigned n;
    double sum, longest, next; /* next: the longest but one */
};

enum gs_stretch_state {
    GS_STRETCH_FREE,  /* each launch is chosen for by itself */
    GS_STRETCH_ASKED, /* on one device, to see what that takes */
    GS_STRETCH_LEFT,  /* on one device, which took less */
};

/* Of one kernel at one size. All zeros: nothing is known. */
struct gs_together {
    enum gs_stretch_state state;
    struct gs_stretches one, split;
    double once_ns;    /* lost by the first splits of this process, which no other of them loses again */
    double lost_ns;    /* by splits, since it was last decided */
    double owed_ns;    /* so much is to run on one device before splits are tried again */
    uint64_t n, until; /* stretches so far; how many there must have been before it is asked again */
    unsigned asked;    /* in vain */
    bool last_split;   /* the last one was */
};

/* A stretch in which launches of it were: it took all_ns, where its kernels take single_ns on one device. `split`: any
 * of its launches was; `first`: one was its kernel's first here, and tells nothing of later ones. In ns, above 0. */
void gs_stretch_learn(struct gs_together *g, double all_ns, double single_ns, bool split, bool first);

/* keep: what is owed at this process's end, its first split's loss included, for the next. load: begins with that. */
double gs_stretch_keep(const struct gs_together *g);
void gs_stretch_load(struct gs_together *g, double owed_ns);

/* ---- choice.c, choice_learn.c ---- */

/* The last few measurements of one thing. The lowest counts: whatever else a machine does makes one longer. */
struct gs_measured {
    unsigned n; /* so far */
    uint64_t ns[GS_MEASURED_KEPT];
};

void gs_measured_add(struct gs_measured *m, uint64_t ns);
/* 0: there is none. */
uint64_t gs_measured_best(const struct gs_measured *m);

/* Bytes that have to move, in how many pieces, and in how many ways windows carry these; 0: each by itself. */
struct gs_move {
    uint64_t bytes, pieces, packs;
};

/* By what bytes go between devices: the driver or the host's memory, or windows of a GPU's memory that others see. */
enum gs_link { GS_LINK_HOST, GS_LINK_PEER, GS_LINKS };

enum { GS_READ_SIZES = 2 };

/* What is known of the machine: driver and devices. Corrected by what launches take. */
struct gs_machine {
    struct {
        double piece_ns, byte_ns;
    } link[GS_LINKS];
    double split_ns; /* what a split takes beyond its longest part: markers, events, other queues */
    double first_ns; /* a kernel's first split takes so much more: replicas, kernel objects */
    /* A byte of a large blocking read, from one device and from several; 0: not known. The largest reads apart: in
     * these a read's fixed cost counts for less, and the gain by several links for more. */
    double read_ns[GS_READ_SIZES][2];
    /* Not kept for later processes: */
    bool compiles; /* the driver compiles a kernel when it is first launched: what a first split takes says little */
    bool unlike;   /* the devices differ */
};

/* Where to cut a kernel's first launch between n devices that differ: cut[p] is where part p ends. All but the first
 * get a small part, which will tell how fast they are. single_ns: the launch's time on the first one; 0: not known. */
void gs_choice_first_cut(unsigned n, double single_ns, double *cut);

double gs_move_ns(const struct gs_machine *m, enum gs_link link, struct gs_move move);
/* What counts of its pieces on that link. */
double gs_move_pieces(enum gs_link link, struct gs_move move);

/* No kernel that takes less on one device can gain by n of them. */
double gs_least_gain_ns(const struct gs_machine *m, unsigned n);

/* What moves in each launch, and not only when the choice changes. */
struct gs_again {
    bool known;
    struct gs_move move;
};

/* What is known of one kernel at one size. All zeros: nothing. */
struct gs_history {
    struct gs_measured single; /* the kernel's time on one device */
    struct gs_measured split;  /* from a split's begin to its end, without what its transfers should have taken */
    struct gs_measured plan;   /* what the host takes to plan a launch */
    struct gs_balance balance;
    struct gs_together together;
    bool guessed;      /* `single` is by another size: gs_choice_learn_size() */
    double least_part; /* no part takes less of one device's time; 0: not known (gs_choice_least_part) */
    double running_ns; /* the first measured launch has been running for so long, if that is far more than a split
                          costs: the least time of a launch; 0: not known */
    uint64_t bound_ns; /* one launch takes at most so long, by the host's clock; 0: not known */
    uint64_t launches; /* in this process; of a size that goes on from another one, the other's as well */
    uint64_t expected; /* in the process before; 0: not known */
    struct gs_again scatter_again; /* transfers to the parts in a launch that follows a split one */
    struct gs_again gather_again;  /* transfers home in a launch that follows one on one device */
    double return_rate;    /* of the bytes that splits left on other devices: those fetched home; < 0: not known */
    double read_bytes;     /* bytes of a launch's outputs that the application will fetch by large blocking reads */
    unsigned asked;        /* measurements on one device that were begun in this process */
    unsigned asked_split;  /* the same of splits */
    unsigned tried;        /* splits enqueued before TRIES of them were measured */
    unsigned failures;     /* times that a try ended with one device */
    uint64_t retry_at;     /* the launch from which the next try is allowed */
    bool last_split, ever; /* what the launch before was; has any been chosen for in this process? */
    bool split_before;     /* a split of it has been measured in this process */
    uint64_t plan_at;      /* the launch from which a plan is made again, to see what it would move */
    bool wants_peer;       /* it would gain by splits if GS_LINK_PEER were open */
    const char *reason;    /* of the last choice */
    double single_ns, split_ns; /* the last prediction, transfers and all */
    bool unplanned;             /* it has no transfers: a split takes at least that */
};

void gs_history_init(struct gs_history *h);

/* The least share of a launch's time on one device that a part can take, of so many work-groups on so many compute
 * units: work-groups that a device runs at once take as long as one of them. */
double gs_choice_least_part(uint64_t groups, unsigned units);

/* So many tries failed in the process before: the next comes after a quarter of the launches due there. */
void gs_choice_load_failures(struct gs_history *h, unsigned failures);

/* What one device takes; 0: not known. */
double gs_choice_single_ns(const struct gs_history *h);

/* How many more launches are to be expected: what the last run had; or as many as there were. */
double gs_choice_more_launches(const struct gs_history *h);

/* Have its tries been measured, so that what a split takes is known? */
bool gs_choice_split_known(const struct gs_history *h);

/* One launch, as far as it is known. */
struct gs_forecast {
    unsigned n;             /* devices */
    enum gs_link link;      /* that is open */
    bool peer_possible;     /* GS_LINK_PEER could be opened */
    double largest;         /* the longest part's time, as a share of one device's */
    bool ample;             /* each part has work-groups for all of a device: it can be expected to take its share */
    struct gs_move gather;  /* to bring home for one device */
    struct gs_move scatter; /* to bring to the parts */
    struct gs_move leave;   /* outputs that would no longer be at home */
    struct gs_move merge;   /* to compare and merge, where the writers can't be told apart */
    double plan_ns;         /* what the host took to plan it: the application waits for that */
};

/* Time lost by trying must stay below a fiftieth of the time elapsed, of which half is given out, since what will come
 * home later is a guess; what splits gained may be spent as well. */
struct gs_budget {
    uint64_t begin_ns;
    double lost_ns; /* so far; negative: gained */
};

/* A kernel's first tries need no budget where the launches to come, as many as there were, gain twice the risk. */
double gs_budget_left(const struct gs_budget *b, uint64_t now_ns);

/* Split this launch? h->reason says why not. Counts the launch. *risk_ns: taken off the budget until the split's time
 * is known; to be given to gs_choice_learn_split. */
bool gs_choose(struct gs_history *h, const struct gs_machine *m, const struct gs_forecast *o, struct gs_budget *b,
               uint64_t now_ns, double *risk_ns);

/* The same before the launch's transfers are known: may a plan be worth making? If not, the launch is counted. */
bool gs_choice_may_plan(struct gs_history *h, const struct gs_machine *m, unsigned n, double prepare_ns);

/* Before there is a launch to choose for: would splits of the launches to come gain so much? */
bool gs_choice_may_gain(const struct gs_history *h, const struct gs_machine *m, unsigned n, double prepare_ns);

/* Is it known, by whatever means, that the kernel is too short to gain? */
bool gs_choice_is_short(const struct gs_history *h, const struct gs_machine *m, unsigned n);

/* The first launch that is measured still runs, and has for so long. Until there is a measurement the choice takes that
 * for the launch's least time, if it is far longer than a split's cost. */
void gs_choice_runs(struct gs_history *h, const struct gs_machine *m, unsigned n, double ns);

/* Is nothing known but that? */
bool gs_choice_not_measured(const struct gs_history *h);

/* Is something known of it by itself, so that other sizes can go by it? */
bool gs_choice_known(const struct gs_history *h, const struct gs_machine *m, unsigned n);

/* h, of which nothing is known, is of a size with `ratio` times as many work-groups as `of`, which is the same kernel:
 * it goes on from there, with times in proportion, until it is measured itself. Not where one of them has more than
 * twice as many: what a launch takes is not quite in proportion. */
void gs_choice_learn_size(struct gs_history *h, const struct gs_history *of, double ratio);

/* Should this launch be measured? One on one device only if it may be long enough to gain; `affordable`: measuring
 * costs little beside the time elapsed, so that a launch of unknown length may be measured. */
bool gs_choice_wants_single(const struct gs_history *h, const struct gs_machine *m, unsigned n, bool affordable);
/* Where the application goes on enqueueing, no measurement is heard of until the end. Measured launches are spread over
 * all the same, since the first launches run beside the enqueueing. */
bool gs_choice_wants_split(const struct gs_history *h);

void gs_choice_learn_single(struct gs_history *h, uint64_t took_ns);

/* Which of machine.read_ns it is for so many bytes. */
unsigned gs_read_size(double bytes);

/* What the application's reads of its outputs take where these lie on one device, and how much less where they lie on
 * several: each has a link of its own, and what the host's memory makes of that is measured. */
struct gs_reads {
    double one, gain;
};
struct gs_reads gs_reads_of(const struct gs_history *h, const struct gs_machine *m);

/* A large blocking read of so many bytes that lay on one device, or on several, took so long. */
void gs_choice_learn_read(struct gs_machine *m, uint64_t bytes, uint64_t took_ns, bool several);

/* `launches` of it and others took so long together. */
void gs_choice_learn_bound(struct gs_history *h, uint64_t all_ns, unsigned launches);

/* A split took so long, and part p of it part_ns[p] by itself. One device would have taken single_ns, by the
 * prediction; risk_ns was put by for it. */
struct gs_split_times {
    uint64_t took_ns;
    const uint64_t *part_ns;
    double single_ns, risk_ns;
};
void gs_choice_learn_split(struct gs_history *h, struct gs_machine *m, struct gs_budget *b, const struct gs_forecast *o,
                           const struct gs_split_times *times);

/* The same of a split whose times say nothing of its kernel: only the budget learns from it. */
void gs_choice_learn_budget(struct gs_budget *b, const struct gs_split_times *times);

/* Moves the cut between the parts if that gains (gs_balance_move). `all`: what the launch needs and writes. */
bool gs_choice_move_cut(struct gs_history *h, const struct gs_machine *m, enum gs_link link, struct gs_move all);

/* What stands behind a reason of auto mode's; GS_NOT_SPLIT: it is none. */
enum gs_left gs_choice_left(const char *reason);

#endif
