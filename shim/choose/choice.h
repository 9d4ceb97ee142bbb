/* SPDX-License-Identifier: MIT */
/* `auto` mode's choice for a launch that may be split: one device or all? From what earlier launches of the same kernel
 * and size took, and from the bytes that either way would have to move. docs/choice.md explains it. Pure: no calls; the
 * time is a parameter. The caller locks. Times are in nanoseconds. */
#ifndef GS_SHIM_CHOOSE_CHOICE_H
#define GS_SHIM_CHOOSE_CHOICE_H

#include "common/reasons.h"
#include "common/settings.h"

/* Measurements kept of one thing; splits that count as tries; measured tries that say what a split takes (all but the
 * first, which makes replicas and kernel objects); tries at most, while each is far faster than all before. */
enum { GS_MEASURED_KEPT = 5, GS_CHOICE_TRIES = 3, GS_CHOICE_KNOWN = GS_CHOICE_TRIES - 1, GS_CHOICE_MOST_TRIES = 10 };

/* Upper bounds of a move's cost, between hosts far apart: 80 Mbit/s, a round trip of 50 ms. */
#define GS_MOST_BYTE_NS 100.0
#define GS_MOST_NS 1e8

static const double gs_hopeless = 4; /* a first split that took so many times one device's time isn't tried again */
static const double gs_small_bytes = 65536, gs_large_bytes = 16777216;

static inline double gs_max(double a, double b)
{
    return a > b ? a : b;
}

static inline double gs_min(double a, double b)
{
    return a < b ? a : b;
}

/* ---- balance.c: where to cut a launch so that all parts end together, by the times of earlier launches' parts ---- */

/* What is known of one kernel at one size. All zeros: parts of equal size. */
struct gs_balance {
    unsigned n;                 /* parts; 0: equal ones */
    unsigned dim;               /* the dimension of the cut */
    double cut[GS_MAX_DEVICES]; /* cut[p]: the end of part p, as a share of the dimension; the last is 1 */
    /* With this cut: */
    unsigned measured;
    uint64_t part_ns[GS_MAX_DEVICES]; /* the lowest time of each part */
    uint64_t longest_ns;              /* the lowest of the launches' longest parts */
    unsigned slow;                    /* so many launches in a row took far longer than longest_ns */
    double share[GS_MAX_DEVICES]; /* of the launch: as much as each part's device could have done in the part's time */
    bool unlike;                  /* the devices differ */
    /* The cut before, to come back to if the new one isn't better. */
    double before[GS_MAX_DEVICES];
    uint64_t before_ns;
    unsigned moves;
    unsigned since;   /* `moves` when the present learning began */
    unsigned in_vain; /* moves since `before` that didn't help */
    bool settled;     /* the cut stays */
};

/* Learns from a launch in n parts along `dim`: part p took part_ns[p] and ended at cut[p]. `share`, if devices differ:
 * in its time each device could have done share[p] of the launch; NULL: devices are alike. */
void gs_balance_learn(struct gs_balance *b, unsigned dim, unsigned n, const double *cut, const uint64_t *part_ns,
                      const double *share);

/* Learns anew from the present cut, as devices may have changed. */
void gs_balance_begin_again(struct gs_balance *b);

/* The width of part p, as a share of the dimension. */
static inline double gs_cut_width(const double *cut, unsigned p)
{
    return cut[p] - (p ? cut[p - 1] : 0);
}

/* The time of all parts one after the other on the first device; 0: unknown. */
double gs_balance_single_ns(const struct gs_balance *b);

/* A device's speed, the first one's being 1, as measured or cut. For devices that differ, by a known cut. */
double gs_balance_speed(const struct gs_balance *b, unsigned p);

/* Moves the cut if that pays. Where devices are alike, the parts' times say which work-groups take longer: the cut
 * moves part of the way. Where devices differ, they say which device is faster: one launch is enough to move the cut
 * all the way, and once more if that didn't help. bytes_ns: the time to move all bytes that the launch needs and
 * writes; launches: how many more are expected. True: the cut has moved. */
bool gs_balance_move(struct gs_balance *b, double bytes_ns, double launches);

/* By how much the longest part exceeds the mean; 0: unknown. */
uint64_t gs_balance_over(const struct gs_balance *b);

/* ---- stretch.c: a stretch, everything between two of the application's waits, is judged as one: a split that gains
 * may lose by bytes that move before and after. docs/choice.md says how ---- */

enum { GS_STRETCHES_KEPT = 8, GS_STRETCHES_MOST = 64 };

/* Times of n stretches, each divided by its kernels' time on one device. */
struct gs_stretches {
    unsigned n;
    double sum, longest, next; /* next: the second longest */
};

enum gs_stretch_state {
    GS_STRETCH_FREE,  /* each launch is chosen for by itself */
    GS_STRETCH_ASKED, /* launches go to one device, to see what a stretch takes then */
    GS_STRETCH_LEFT,  /* launches go to one device, which was faster */
};

/* What is known of one kernel at one size. All zeros: nothing. */
struct gs_together {
    enum gs_stretch_state state;
    struct gs_stretches one, split;
    double once_ns;    /* lost by the first splits in this process, and not to be lost again */
    double lost_ns;    /* lost by other splits since the last judgement */
    double owed_ns;    /* time to run on one device before splits are tried again */
    uint64_t n, until; /* stretches so far; and how many there must be before the next question */
    unsigned asked;    /* questions that changed nothing */
    bool last_split;   /* the last stretch had a split */
};

/* Learns from a stretch with launches of this kernel. It took all_ns; its kernels take single_ns on one device.
 * `split`: a launch was split; `first`: for its kernel's first time in this process, unlike later splits. Times > 0. */
void gs_stretch_learn(struct gs_together *g, double all_ns, double single_ns, bool split, bool first);

/* keep: owed_ns for the next process, with the first splits' loss. load: begins with that. */
double gs_stretch_keep(const struct gs_together *g);
void gs_stretch_load(struct gs_together *g, double owed_ns);

/* ---- choice.c, choice_learn.c ---- */

/* The last few measurements of one thing. The lowest counts, since disturbances only make times longer. */
struct gs_measured {
    uint64_t n; /* ever */
    uint64_t ns[GS_MEASURED_KEPT];
};

void gs_measured_add(struct gs_measured *m, uint64_t ns);
/* The lowest; 0: none. */
uint64_t gs_measured_best(const struct gs_measured *m);

/* Bytes that have to move, in so many pieces; packs: in which windows carry the pieces (0: each by itself). */
struct gs_move {
    uint64_t bytes, pieces, packs;
};

/* What bytes between devices go through: the driver or the host's memory, or windows of another GPU's memory. */
enum gs_link { GS_LINK_HOST, GS_LINK_PEER, GS_LINKS };

enum { GS_READ_SIZES = 2 };

/* What is known of the machine (driver and devices), corrected by what launches take. */
struct gs_machine {
    struct {
        double piece_ns, byte_ns;
    } link[GS_LINKS];
    double split_ns; /* a split takes so much more than its longest part: markers, events, other queues */
    double first_ns; /* a kernel's first split takes so much more: replicas, kernel objects */
    /* Time for a byte of a large blocking read, [0] from one device, [1] from several; 0: unknown. The largest reads
     * are kept apart: a read's fixed cost counts less for them, and several links gain more. */
    double read_ns[GS_READ_SIZES][2];
    /* Not for later processes: */
    bool compiles; /* the driver compiles at a kernel's first launch, so first splits say little */
    bool unlike;   /* the devices differ */
};

/* Where to cut a kernel's first launch between n devices that differ. All but the first device get a small part, to
 * show how fast they are. single_ns: the launch's time on the first device; 0: unknown. */
void gs_choice_first_cut(unsigned n, double single_ns, double *cut);

double gs_move_ns(const struct gs_machine *m, enum gs_link link, struct gs_move move);
/* How many pieces the link has to carry: packs, if windows carry them so. */
double gs_move_pieces(enum gs_link link, struct gs_move move);

/* A kernel that takes less on one device can't gain by n devices. */
double gs_least_gain_ns(const struct gs_machine *m, unsigned n);

/* What moves in each launch of a row, not only when the choice changes. */
struct gs_again {
    uint64_t known; /* as the file has it: learnt.h */
    struct gs_move move;
};

/* What is known of one kernel at one size. All zeros: nothing. */
struct gs_history {
    struct gs_measured single; /* the kernel's time on one device */
    struct gs_measured split;  /* from a split's begin to its end, less the transfers' expected time */
    struct gs_measured plan;   /* the host's time to plan a launch */
    struct gs_balance balance;
    struct gs_together together;
    bool guessed;      /* `single` is derived from another size: gs_choice_learn_size() */
    double least_part; /* the least share of one device's time that a part takes; 0: unknown (gs_choice_least_part) */
    double running_ns; /* the first measured launch has been running so long; 0: not far longer than a split */
    uint64_t bound_ns; /* an upper bound of a launch's time, by the host's clock; 0: unknown */
    uint64_t launches; /* in this process; if derived from another size, including that size's */
    uint64_t expected; /* launches in the process before; 0: unknown */
    struct gs_again scatter_again; /* transfers to the parts in a launch after a split one */
    struct gs_again gather_again;  /* transfers home in a launch after one on one device */
    double return_rate;            /* the share of bytes left on other devices that came home later; < 0: unknown */
    double read_bytes;     /* bytes of a launch's outputs that the application will fetch by large blocking reads */
    unsigned asked;        /* single launches whose measurement was begun in this process */
    unsigned asked_split;  /* splits whose measurement was begun */
    unsigned tried;        /* splits enqueued, up to GS_CHOICE_MOST_TRIES */
    bool warming;          /* the last split measured was one of these, and far faster than all before */
    unsigned failures;     /* how often trying ended with one device */
    uint64_t retry_at;     /* the launch at which to try again */
    bool last_split, ever; /* was the last launch split; was any launch chosen for in this process */
    bool split_before;     /* a split was measured in this process */
    uint64_t plan_at;      /* the launch at which to plan again, to see what would move */
    bool wants_peer;       /* splits would gain if GS_LINK_PEER were open */
    const char *reason;    /* of the last choice; NULL: split */
    double single_ns, split_ns; /* the last prediction, transfers included */
    bool unplanned;             /* the last prediction had no transfers: a split takes at least split_ns */
};

void gs_history_init(struct gs_history *h);

/* The least share of a launch's time on one device that a part takes: work-groups run at once take as long as one. */
double gs_choice_least_part(uint64_t groups, unsigned units);

/* So many tries failed in the process before: the next comes after a quarter of the launches that were due there. */
void gs_choice_load_failures(struct gs_history *h, unsigned failures);

/* The launch's time on one device; 0: unknown. */
double gs_choice_single_ns(const struct gs_history *h);

/* How many more launches to expect: what is left of the last process's number, or as many as there were so far. */
double gs_choice_more_launches(const struct gs_history *h);

/* Was the last split one of a row's first, which may take far longer than those to come? */
static inline bool gs_choice_first_split(const struct gs_history *h)
{
    return h->tried <= GS_CHOICE_TRIES || h->warming;
}

/* Have enough tries been measured to know what a split takes? */
bool gs_choice_split_known(const struct gs_history *h);

/* A launch, as its plan predicts. */
struct gs_forecast {
    unsigned n;         /* devices */
    enum gs_link link;  /* the link that is open */
    bool peer_possible; /* GS_LINK_PEER could be opened */
    double largest;     /* the longest part's time, as a share of one device's */
    bool ample; /* each part has work-groups for a whole device, and so may take no more than its share of the time */
    struct gs_move gather;  /* bytes to bring home, for one device */
    struct gs_move scatter; /* bytes to bring to the parts */
    struct gs_move leave;   /* outputs that would then no longer be at home */
    double shared;          /* the share of these two that other kernels pay, which need the same bytes in turn */
    struct gs_move merge;   /* bytes to compare and merge, if the parts' writes can't be told apart */
    double plan_ns;         /* the host's time for planning, during which the application waits */
};

/* Trying may lose a fiftieth of the time elapsed. Half the budget is given out, since bytes that come home later are a
 * guess. Time that splits have gained may be spent too. */
struct gs_budget {
    uint64_t begin_ns;
    double lost_ns; /* negative: gained */
};

/* What may still be risked. (A kernel's first tries need no budget if the launches to come gain twice the risk.) */
double gs_budget_left(const struct gs_budget *b, uint64_t now_ns);

/* Split this launch? If not, h->reason says why. Counts the launch. *risk_ns: taken off the budget until the split's
 * time is known; to be given to gs_choice_learn_split. */
bool gs_choose(struct gs_history *h, const struct gs_machine *m, const struct gs_forecast *o, struct gs_budget *b,
               uint64_t now_ns, double *risk_ns);

/* The question before a launch's transfers are known: may a plan be worth making? If not, counts the launch, and
 * h->reason says why. prepare_ns: what the program's preparation will cost; 0: prepared. */
bool gs_choice_may_plan(struct gs_history *h, const struct gs_machine *m, unsigned n, double prepare_ns);

/* Would splits of the launches to come gain more than prepare_ns? For when there is no launch yet. */
bool gs_choice_may_gain(const struct gs_history *h, const struct gs_machine *m, unsigned n, double prepare_ns);

/* Is the kernel known, by whatever means, to be too short to gain? */
bool gs_choice_is_short(const struct gs_history *h, const struct gs_machine *m, unsigned n);

/* The first measured launch has been running for ns. Until its end ns counts as its time, if far above a split's. */
void gs_choice_runs(struct gs_history *h, const struct gs_machine *m, unsigned n, double ns);

/* Has no launch been measured yet? */
bool gs_choice_not_measured(const struct gs_history *h);

/* Have this size's own launches told anything, so that other sizes may derive from this one? */
bool gs_choice_known(const struct gs_history *h, const struct gs_machine *m, unsigned n);

/* Derives h, a size of which nothing is known, from `of`, a size of the same kernel; h has `ratio` times as many
 * work-groups. Times in proportion, until measured. Only for ratios from a half to two: times aren't quite so. */
void gs_choice_learn_size(struct gs_history *h, const struct gs_history *of, double ratio);

/* Should this launch on one device be measured? Only if it may be long enough to gain. `affordable`: measuring costs
 * little beside the time elapsed, so that a launch of unknown length may be measured. */
bool gs_choice_wants_single(const struct gs_history *h, const struct gs_machine *m, unsigned n, bool affordable);
/* Should this split be measured? While the application goes on enqueueing, no measurement ends; so measured launches
 * are spread over all, although the first ones run beside the enqueueing. */
bool gs_choice_wants_split(const struct gs_history *h);

void gs_choice_learn_single(struct gs_history *h, uint64_t took_ns);

/* The index in machine.read_ns for reads of so many bytes. */
unsigned gs_read_size(double bytes);

/* The time of the application's reads of a launch's outputs if these lie on one device, and how much less if they lie
 * on several: each device has its own link, and the host's memory bounds their sum, as measured. */
struct gs_reads {
    double one, gain;
};
struct gs_reads gs_reads_of(const struct gs_history *h, const struct gs_machine *m);

/* A large blocking read of bytes on one device, or on several, took so long. */
void gs_choice_learn_read(struct gs_machine *m, uint64_t bytes, uint64_t took_ns, bool several);

/* Several launches, this kernel's and others, took all_ns together. */
void gs_choice_learn_bound(struct gs_history *h, uint64_t all_ns, unsigned launches);

/* A split took took_ns, and part p of it part_ns[p]. single_ns: a plain run's launch; risk_ns: from gs_choose. */
struct gs_split_times {
    uint64_t took_ns;
    const uint64_t *part_ns;
    double single_ns, risk_ns;
};
void gs_choice_learn_split(struct gs_history *h, struct gs_machine *m, struct gs_budget *b, const struct gs_forecast *o,
                           const struct gs_split_times *times);

/* For a split whose times say nothing of its kernel: only the budget learns. */
void gs_choice_learn_budget(struct gs_budget *b, const struct gs_split_times *times);

/* Moves the cut between the parts if that pays (gs_balance_move). `all`: the bytes that the launch needs and writes. */
bool gs_choice_move_cut(struct gs_history *h, const struct gs_machine *m, enum gs_link link, struct gs_move all);

/* What kind of reason this is; GS_NOT_SPLIT: none of auto mode's. */
enum gs_left gs_choice_left(const char *reason);

#endif
