/* SPDX-License-Identifier: MIT */
/* Measures launches for `auto` mode's choice (shim/choose/choice.h), at the cost of those measured alone: the
 * application's queue has no profiles, and a launch that isn't measured no event of ours. docs/choice.md says how. */
#ifndef GS_SHIM_CHOOSE_TIMING_H
#define GS_SHIM_CHOOSE_TIMING_H

#include "shim/choose/choice.h"
#include "shim/schedule/dispatch.h"
#include "shim/plan/plan.h"
#include "shim/plan/prepare.h"

/* What is known of one kernel at one size. Lives as long as the process. */
struct gs_timing;
struct gs_size;

/* What is known of a launch of that size. NULL in other modes than auto (and multi, where the devices differ), with one
 * device, for programs that can't be split, and without memory. */
struct gs_timing *gs_timing_of(struct gs_kernel *k, struct gs_size *size);

/* A large blocking read took so long, with nothing before it, of bytes that lay on one device or on several. Any
 * thread. */
void gs_timing_read(uint64_t bytes, uint64_t took_ns, bool several);

/* Before the launch is planned: is it worth a closer look? `prepared`: its program has been translated. Else *reason
 * says why not, and the launch is counted. */
bool gs_timing_may_plan(struct gs_timing *t, bool prepared, const char **reason);

/* Nothing is known yet of how long it takes (in auto mode), or of where to cut between devices that differ (in multi):
 * waits a little for what may be known soon where the application goes on enqueueing, which loses nothing while the
 * device is busy. Not where the application may have to call again for anything to begin. Without locks. */
void gs_timing_await(struct gs_timing *t, const struct gs_command *cmd);

/* The program isn't prepared yet. If its splits are worth that it is begun, and the launch waits for it for as long as
 * the launch is likely to gain by waiting, or the device is busy. Returns why the launch isn't split, and counts the
 * launch; or NULL. Without locks. */
const char *gs_timing_prepare(struct gs_timing *t, const struct gs_command *cmd, struct gs_program *p);

/* A launch is about to be enqueued, or split, which is behind all before it on the queue. to_read: bytes of the
 * launch's outputs that the application is likely to fetch by large blocking reads. With the context's lock held. */
void gs_timing_enqueues(struct gs_queue *q, struct gs_timing *t, uint64_t to_read);
/* The launch has been enqueued. --stats gets the expected times. */
void gs_timing_enqueued(struct gs_queue *q, struct gs_timing *t, bool split, struct gs_kernel_stats *stats);

/* A kernel of that name has been made; NULL: the program is about to be built. If that kernel, or any of the program,
 * gained by splits in the process before, the program is prepared at once, beside the application. Without locks. */
void gs_timing_prepare_known(struct gs_program *p, const char *name);

/* It can't be split, as its plan says: counts a launch on one device. */
void gs_timing_refused(struct gs_timing *t);

/* Where the parts should end, in `cut`; false: they should be of equal size. */
bool gs_timing_cut(struct gs_timing *t, unsigned n, unsigned *dim, double cut[GS_MAX_DEVICES]);

/* One split that is being decided on. */
struct gs_trial {
    struct gs_forecast forecast;
    struct gs_move all; /* what the parts need and write */
    double return_rate; /* of what earlier launches wrote away from home; < 0: not known */
    double risk_ns, single_ns;
    uint64_t begun_ns; /* when its planning began, by gs_thread_ns: a busy machine makes no plan dearer */
    bool guessed;      /* single_ns is only an estimate */
    bool forced;       /* nobody has asked what one device would take: multi mode */
    unsigned moves;    /* the cut's generation */
    bool measured;     /* it is to be measured */
    bool turns_back;   /* it goes to one device after splits, by choice */
};

/* Fills trial->forecast, but for the link, ->all and ->return_rate for a launch of `of`: once more where another plan
 * takes the place of the trial's. -ENOMEM. Of forecast.c, as the next three; all with the context's lock held. */
int gs_forecast(struct gs_trial *trial, struct gs_timing *of, const struct gs_plan *plan);

/* Where each part ends, as a share of plan->dim. */
void gs_forecast_cut(const struct gs_plan *plan, double cut[GS_MAX_DEVICES]);

/* How much of the launch each part's device could have done in the time that its part takes. With fewer work-groups
 * than compute units it may as well have had one on each of these; the mean of the two, as parts to come will tell. */
void gs_forecast_shares(const struct gs_plan *plan, double share[GS_MAX_DEVICES]);

/* Is anything of these memory objects missing at home? mems[i] may be NULL. */
bool gs_forecast_gathers(struct gs_mem *const *mems, unsigned n);

/* Why the launch isn't split by this plan, or NULL: it is, and the trial has what gs_timing_learn asks for. With
 * the context's lock held. */
const char *gs_timing_choose(struct gs_timing *t, struct gs_context *ctx, const struct gs_plan *plan,
                             struct gs_trial *trial);

/* The same in multi mode, which splits it whatever is expected: is it to be measured? */
void gs_timing_split(struct gs_timing *t, const struct gs_plan *plan, struct gs_trial *trial);

/* Should this launch on one device be measured? */
bool gs_timing_measures(struct gs_timing *t);

/* When the commands of a split that is measured were enqueued, by the host's clock. */
struct gs_asked {
    uint64_t begin_ns;                /* before the first; later by what making memory for transfers took */
    uint64_t part_ns[GS_MAX_DEVICES]; /* each part's */
    bool idle;                        /* nothing was before them in the application's queues that hadn't ended */
};

/* A launch that is measured, and where its times are noted. What isn't given is null. */
struct gs_timed_launch {
    struct gs_timing *t;
    const struct gs_trial *trial; /* of a split: what was predicted for it, */
    const struct gs_plan *plan;   /* and its plan */
    struct gs_taken *spent;       /* by units of the daemon's: what they took, */
    const unsigned *place;        /* and where each part ran */
    const struct gs_asked *asked; /* of a split that isn't: when it was enqueued, */
    const cl_event *part;         /* and each part's event */
};

/* Learns from the launch's units, or from profiles: a split's parts', or that of `end`, the launch's event, once it has
 * ended. */
void gs_timing_learn(const struct gs_timed_launch *launch, cl_event end);

/* The launches on a queue that are judged together (stretch.c): until one of them comes again after a wait. */
enum { GS_SEEN = 8 };
struct gs_stretch {
    uint64_t begin_ns, last_ns; /* before the first was enqueued (as in gs_asked), and after the last */
    uint64_t making_ns;         /* what memory for transfers had taken before the last */
    uint64_t empty_ns;          /* before the first since the queue was last known to be empty */
    double single_ns;           /* what one device takes for all of them */
    bool unknown;               /* ... and for others, of which that isn't known */
    bool split, first;          /* any of them was; for the first time in this process */
    unsigned n;
    struct {
        struct gs_timing *of;
        unsigned launches; /* on one device, since the queue was last known to be empty */
    } seen[GS_SEEN];
};

/* What this room knows of a queue, but for gs_queue.launched. */
struct gs_queue_times {
    atomic_uint_fast64_t busy_until_ns; /* when the queue's launches should have ended, by their known times */
    struct gs_stretch stretch;          /* the context's lock */
};

/* A call returns that waited for commands, of any queue: now, which is returned. */
uint64_t gs_timing_waited(void);

/* The same around such a call: until all that was enqueued on q has run, if that isn't null. What has ended by then is
 * learnt. before->n is 0 where there is nothing to be learnt of q. */
void gs_timing_begin_wait(struct gs_queue *q, struct gs_stretch *before);
static inline void gs_timing_before_wait(struct gs_queue *q, struct gs_stretch *before)
{
    before->n = 0;
    if (q && atomic_load_explicit(&q->launched, memory_order_relaxed))
        gs_timing_begin_wait(q, before);
}
void gs_timing_after_wait(const struct gs_stretch *before, cl_int err);

/* ---- short_runs.c: commands whose processes end soon and split nothing, for which a context over all of them would be
 * paid in vain: on H200s 110 ms a device at its beginning and 57 at its end, where a small process takes a second. Kept
 * from process to process in the cache, by executable, arguments, folder and devices. ---- */

/* How many devices a context of the group is to be made over: one where the last three processes of this command have
 * each ended soon, and split nothing; else all. */
unsigned gs_short_runs_devices(const struct gs_group *g);

/* The sentence for launches in such a context; NULL: it isn't one. */
const char *gs_short_runs_reason(void);

/* A context over n devices has been made, which took so long. */
void gs_short_runs_made(unsigned n, uint64_t took_ns);

/* ---- later.c: programs whose translation no single process wins back, compiled once between processes for all later
 * ones (docs/choice.md). ---- */

/* May a job be written for the program? If it has been compiled for later processes its built_ns says what that took.
 * The first time a file is looked for. The book is open; without its lock. */
bool gs_later_look(struct gs_program *p);

/* Later processes would gain by splits if it were compiled: a job is written, once. The same locks. */
void gs_later_write(struct gs_program *p);

/* This process has prepared it by itself. */
void gs_later_prepared(struct gs_program *p);

/* Has this process written a job that is still to be done? */
bool gs_later_written(void);

/* gpusparc-compile has its program prepared at once, whatever that gains, and waits for it: no other process does. */
void gs_later_compile(struct gs_program *p);

/* The process ends: what is to be compiled is, beyond it. */
void gs_later_end(void);

#endif
