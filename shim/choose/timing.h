/* SPDX-License-Identifier: MIT */
/* Measures launches for `auto` mode's choice (shim/choose/choice.h), at the cost of those measured alone: the
 * application's queue has no profiles, and a launch that isn't measured no event of ours.
 *
 * The first sieve is the host's clock: all that was launched on a queue since it was last empty has run when a blocking
 * call returns, so that the time between bounds what each launch took. Only a kernel that may be long is measured, by a
 * few launches on a queue of ours that has profiles. Results are looked up at later calls. */
#ifndef GS_SHIM_CHOOSE_TIMING_H
#define GS_SHIM_CHOOSE_TIMING_H

#include "shim/choose/choice.h"
#include "shim/order/command.h"
#include "shim/schedule/dispatch.h"
#include "shim/devices/links.h"
#include "shim/plan/plan.h"
#include "shim/plan/prepare.h"

/* What is known of one kernel at one size. Lives as long as the process. */
struct gs_timing;
struct gs_size;

/* What is known of a launch of that size. NULL in other modes than auto (and multi, where the devices differ), with one
 * device, for programs that can't be split, and without memory. */
struct gs_timing *gs_timing_of(struct gs_kernel *k, struct gs_size *size);

/* Of what the next launches write the application will fetch so much by large blocking reads, by what it did so far. */
void gs_timing_reads(struct gs_timing *t, uint64_t bytes);

/* Such a read took so long, with nothing before it, of bytes that lay on one device or on several. Any thread. */
void gs_timing_read(uint64_t bytes, uint64_t took_ns, bool several);

/* Before the launch is planned: is it worth a closer look? `prepared`: its program has been translated. Else *reason
 * says why not, and the launch is counted. */
bool gs_timing_worth(struct gs_timing *t, bool prepared, const char **reason);

/* May it be worth waiting for what will be known soon? Where nothing is known of how long it takes (*is_new),
 * or nothing has been heard of its first splits yet. */
bool gs_timing_may_await(struct gs_timing *t, bool *is_new);

/* The first launch of it, or its first splits, are being measured: should the application wait for that a little
 * longer, as it has for waited_ns, of which counted_ns (0 at first) have been counted? What waits loses nothing while
 * the device is busy, if all that it does is to enqueue more. */
bool gs_timing_awaits(struct gs_timing *t, uint64_t waited_ns, uint64_t *counted_ns);

/* In multi mode, where the devices differ: should the application wait, as it has for waited_ns, for what a split says
 * of the cut, before all of a run goes by one that may be wrong? */
bool gs_timing_awaits_cut(struct gs_timing *t, uint64_t waited_ns);

/* By that, having waited for so long: is it far longer than what a split costs? To translate it takes a core of the
 * host's from what is short. */
bool gs_timing_seems_long(struct gs_timing *t, uint64_t waited_ns);

/* Is a launch of it that is being measured still under way, the first? Then the device is busy. */
bool gs_timing_runs(struct gs_timing *t);

/* For how long the device has to do before a launch to come, by what is known of those on the queue. */
uint64_t gs_timing_busy_ns(const struct gs_queue *q);

/* A launch is about to be enqueued, or split, which is behind all before it on the queue; it has been. With the
 * context's lock held. */
void gs_timing_enqueues(struct gs_queue *q);
void gs_timing_enqueued(struct gs_queue *q, struct gs_timing *t, bool split);

/* It is worth one, but its program isn't translated yet: counts a launch on one device. Returns the reason. Meanwhile
 * windows between GPUs are opened, if its splits will want them. Without locks. */
const char *gs_timing_waits(struct gs_timing *t, struct gs_context *ctx);

/* How long the application may be kept waiting for the translation: for this launch's sake; for that of those to come;
 * or for as long as the device has to do, which is in vain for nobody. 0 where that wouldn't do. */
struct gs_patience gs_timing_patience(struct gs_timing *t, const struct gs_queue *q);

/* The process ends: what has ended by now is learnt. */
void gs_timing_end(void);

/* A kernel of that name has been made; NULL: the program is about to be built. Where it, or one of the program, gained
 * by splits in the process before, the program is prepared at once, beside the application, and windows between GPUs
 * are opened if it moved much. Without locks. */
void gs_timing_foresee(struct gs_program *p, const char *name);

/* The program has been translated: are there kernels of it for which it is worth compiling? From any thread. */
bool gs_timing_pays(struct gs_program *p);

/* It has been prepared: what that took is kept, though there may be no launch any more. From any thread. */
void gs_timing_prepared(struct gs_program *p);

/* It can't be split, as its plan says: counts a launch on one device. */
void gs_timing_refused(struct gs_timing *t);

/* Where the parts should end, in `cut`; false: they should be of equal size. */
bool gs_timing_cut(struct gs_timing *t, unsigned n, unsigned *dim, double cut[GS_MAX_DEVICES]);

/* In multi mode, before a launch is cut into n parts: has the first device all of it, as the others take too long? */
bool gs_timing_stays(struct gs_timing *t, unsigned n);

/* speed[p]: how many times as fast as the first each of n devices is thought to be for this kernel; 0: not known.
 * False: the devices are alike. */
bool gs_timing_speeds(struct gs_timing *t, unsigned n, double speed[GS_MAX_DEVICES]);

/* One split that is being decided on. */
struct gs_trial {
    struct gs_forecast forecast;
    struct gs_move all; /* what the parts need and write */
    double return_rate; /* of what earlier launches wrote away from home; < 0: not known */
    double risk_ns, single_ns;
    bool guessed;   /* single_ns is only an estimate */
    bool forced;    /* nobody has asked what one device would take: multi mode */
    unsigned moves; /* the cut's generation */
    bool measured;  /* it is to be measured */
};

/* Splits the launch? *reason says why not. Sets what gs_timing_learn_split asks for. */
bool gs_timing_choose(struct gs_timing *t, struct gs_context *ctx, struct gs_trial *trial, const char **reason);

/* A launch will be split in multi mode. Is it to be measured? *moves: the cut's generation. */
bool gs_timing_split(struct gs_timing *t, unsigned *moves);

/* Should this launch on one device be measured? */
bool gs_timing_measures(struct gs_timing *t);

/* When the commands of a split that is measured were enqueued, by the host's clock. */
struct gs_asked {
    uint64_t begin_ns;                /* before the first */
    uint64_t ready_ns;                /* when all of it but the parts themselves had been */
    uint64_t part_ns[GS_MAX_DEVICES]; /* each part's */
    bool idle;                        /* nothing was before them in the application's queues that hadn't ended */
};

/* A launch that is measured: where its times are noted; of a split what was predicted for it, and its plan. */
struct gs_timed_launch {
    struct gs_timing *t;
    const struct gs_trial *trial;
    const struct gs_plan *plan;
};

/* Learns from the profiles of these events, once they are complete: a launch on one device; a split, from the end of
 * `begin` to that of `end`. */
void gs_timing_learn_single(struct gs_timing *t, const struct gs_kernel *k, cl_event ran);
void gs_timing_learn_split(const struct gs_timed_launch *launch, const struct gs_asked *asked, cl_event begin,
                           cl_event end, const cl_event *parts);

/* The same of a launch by units of the daemon's, from what they took: of a split where there is a trial, part p of
 * which ran on place[p]. `end` is the launch's. */
void gs_timing_learn_units(const struct gs_timed_launch *launch, cl_event end, struct gs_spent *spent,
                           const unsigned *place);

/* What runs on a queue since it was last known to be empty. */
enum { GS_SIEVED = 8 };
struct gs_sieve {
    uint64_t begin_ns; /* before the first of them was enqueued */
    double single_ns;  /* what one device takes for all of them */
    bool unknown;      /* ... and for others, of which that isn't known */
    bool split;        /* any of them was */
    unsigned n;
    struct {
        struct gs_timing *of;
        unsigned launches; /* on one device */
    } seen[GS_SIEVED];
};

/* What this room knows of a queue. */
struct gs_queue_times {
    atomic_uint sieved; /* sieve.n */
    atomic_uint_fast64_t
        busy_until_ns;     /* when what was launched on it should have run, by what that is known to take */
    struct gs_sieve sieve; /* the context's lock */
};

/* Around a call that blocks until all that was enqueued on q has run. Null is allowed. */
struct gs_sieve gs_timing_before_wait(struct gs_queue *q);
extern atomic_uint gs_measured_pending __attribute__((visibility("hidden"))); /* launches under way */
/* Is there anything to be learnt by it? Without, these two have nothing to do. */
static inline bool gs_timing_learns_by_wait(const struct gs_queue *q)
{
    return atomic_load_explicit(&q->times->sieved, memory_order_relaxed) ||
           atomic_load_explicit(&gs_measured_pending, memory_order_relaxed);
}
void gs_timing_after_wait(const struct gs_sieve *before, cl_int err);

/* The last prediction for --stats. */
void gs_timing_report(struct gs_timing *t, struct gs_kernel_stats *stats);

/* To pin the memory between devices took so long, of this process's time. Any thread. */
void gs_timing_pinned(uint64_t took_ns);

/* What it costs between devices has been measured meanwhile: for this process, unless its splits have taught it better,
 * and kept for those to come. From any thread. */
void gs_timing_links(const struct gs_links *links);

/* Has any launch of this process been split? Waits for nobody for longer than a second; then it may have been. */
bool gs_timing_any_split(void);

#endif
