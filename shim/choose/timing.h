/* SPDX-License-Identifier: MIT */
/* Measures launches for `auto` mode's choice (shim/choose/choice.h). Only measured launches pay: the application's
 * queue has no profiles, and other launches have no event of ours. docs/choice.md explains it. */
#ifndef GS_SHIM_CHOOSE_TIMING_H
#define GS_SHIM_CHOOSE_TIMING_H

#include "shim/choose/choice.h"
#include "shim/schedule/dispatch.h"
#include "shim/plan/plan.h"
#include "shim/plan/prepare.h"

/* What is known of one kernel at one size. Lives as long as the process. */
struct gs_timing;
struct gs_size;

/* What is known of a launch of that size. NULL: the mode isn't auto (or multi with devices that differ), there is one
 * device, the program can't be split, or there is no memory. */
struct gs_timing *gs_timing_of(struct gs_kernel *k, struct gs_size *size);

/* A large blocking read took so long, with no command before it, of bytes on one device or on several. Any thread. */
void gs_timing_read(uint64_t bytes, uint64_t took_ns, bool several);

/* Is a launch worth planning? If not, counts it, and *reason says why. `prepared`: the program is. */
bool gs_timing_may_plan(struct gs_timing *t, bool prepared, const char **reason);

/* Waits a little for a measurement that will soon say how long the launch takes (in auto mode) or where to cut it (in
 * multi mode, devices that differ). The application loses nothing while the device is busy. Doesn't wait where the
 * application may have to call again before anything begins. Without locks. */
void gs_timing_await(struct gs_timing *t, const struct gs_command *cmd);

/* The program isn't prepared yet. If splits are worth that, preparing begins, and the launch waits as long as it is
 * likely to gain by waiting, or the device is busy. NULL: prepared by now. Else returns why the launch isn't split, and
 * counts the launch. Without locks. */
const char *gs_timing_prepare(struct gs_timing *t, const struct gs_command *cmd, struct gs_program *p);

/* A launch is about to be enqueued, or split. to_read: bytes of its outputs that the application is likely to fetch by
 * large blocking reads. With the context's lock held. */
void gs_timing_enqueues(struct gs_queue *q, struct gs_timing *t, uint64_t to_read);
/* The launch has been enqueued. Gives --stats the expected times. */
void gs_timing_enqueued(struct gs_queue *q, struct gs_timing *t, bool split, struct gs_kernel_stats *stats);

/* A kernel of that name has been made; name NULL: the program is about to be built. If that kernel (or any of the
 * program) gained by splits in the process before, the program is prepared at once by a thread. Without locks. */
void gs_timing_prepare_known(struct gs_program *p, const char *name);

/* The plan says that the launch can't be split: counts a launch on one device. */
void gs_timing_refused(struct gs_timing *t);

/* Where the parts should end, in `cut`; false: parts of equal size. */
bool gs_timing_cut(struct gs_timing *t, unsigned n, unsigned *dim, double cut[GS_MAX_DEVICES]);

/* A split: what is expected of it while it is decided on, and, where it is measured, how it was enqueued. */
struct gs_trial {
    struct gs_forecast forecast;
    struct gs_move all; /* bytes that the parts need and write */
    double return_rate; /* of the bytes that earlier launches wrote away from home; < 0: unknown */
    double risk_ns;
    uint64_t begun_ns; /* begin of planning, by gs_thread_ns: on a busy machine planning costs the thread no more */
    bool guessed;      /* one device's time is only an estimate */
    bool forced;       /* multi mode: one device's time doesn't matter */
    unsigned moves;    /* the cut's number of moves when this split was planned */
    bool measured;     /* to be measured */
    bool turns_back;   /* back to one device after splits, by choice */
    /* Of a split that is measured, by the host's clock: */
    uint64_t asked_ns;                /* before the first command; later by the time that memory for transfers took */
    uint64_t part_ns[GS_MAX_DEVICES]; /* when each part was enqueued */
    bool idle;                        /* all that it comes after had ended, what is prefetched too */
    const struct gs_plan *plan;       /* for gs_timing_learn, like what follows */
    const unsigned *place;            /* of each part */
    const cl_event *part;             /* each part's event */
};

/* Fills trial->forecast (but for the link), ->all and ->return_rate for a launch of `of` by this plan; may be called
 * again for another plan. -ENOMEM. In forecast.c, like the next four; all with the context's lock held. */
int gs_forecast(struct gs_trial *trial, struct gs_timing *of, const struct gs_plan *plan);

/* Where each part ends, as a share of plan->dim. */
void gs_forecast_cut(const struct gs_plan *plan, double cut[GS_MAX_DEVICES]);

/* For each part, how much of the launch its device could have done in the part's time. A part with fewer work-groups
 * than compute units might have had one for each unit, so share[p] is the mean of both until later parts tell. */
void gs_forecast_shares(const struct gs_plan *plan, double share[GS_MAX_DEVICES]);

/* How many of the object's bytes large blocking reads will take once a launch has written them all, as before. */
uint64_t gs_forecast_reads(const struct gs_mem *m);

/* Are bytes of these memory objects missing at home? mems[i] may be NULL. */
bool gs_forecast_gathers(struct gs_mem *const *mems, unsigned n);

/* Should the launch be split by this plan? NULL: yes, and the trial is ready for gs_timing_learn. Else the reason why
 * not. With the context's lock held. */
const char *gs_timing_choose(struct gs_timing *t, struct gs_context *ctx, const struct gs_plan *plan,
                             struct gs_trial *trial);

/* For multi mode, which splits whatever is expected: fills the trial, and decides whether the split is measured. */
void gs_timing_split(struct gs_timing *t, const struct gs_plan *plan, struct gs_trial *trial);

/* Should this launch on one device be measured? */
bool gs_timing_measures(struct gs_timing *t);

/* Learns from a launch once its event has ended (`end`): by its units' times (`spent`), or else by profiles of parts or
 * of `end`. split: null for a launch on the first device. */
void gs_timing_learn(struct gs_timing *t, const struct gs_trial *split, struct gs_taken *spent, cl_event end);

/* The launches in a queue that are judged together (stretch.c): until a kernel comes again after a wait. */
enum { GS_SEEN = 8 };
struct gs_stretch {
    uint64_t begin_ns, last_ns; /* before the first launch (as gs_trial.asked_ns), and after the last */
    uint64_t making_ns;         /* gs_paths_made_ns() before the last launch */
    uint64_t empty_ns;          /* begin of the first launch since the queue was known to be empty */
    double single_ns;           /* the time of all launches on one device */
    bool unknown;               /* a launch's time on one device isn't known */
    bool split, first;          /* was a launch split; one for the first time in this process */
    unsigned n;
    struct {
        struct gs_timing *of;
        unsigned launches; /* on one device since the queue was known to be empty */
    } seen[GS_SEEN];
};

/* What this room knows of a queue, beside gs_queue.launched. */
struct gs_queue_times {
    atomic_uint_fast64_t busy_until_ns; /* when the queue's launches should have ended, by their known times */
    struct gs_stretch stretch;          /* the context's lock */
};

/* A call that waited for commands returns, whatever the queue. Returns the time. */
uint64_t gs_timing_waited(void);

/* Called around a wait for all commands in q (or null). Learns from ended launches. before->n 0: none in q. */
void gs_timing_begin_wait(struct gs_queue *q, struct gs_stretch *before);
static inline void gs_timing_before_wait(struct gs_queue *q, struct gs_stretch *before)
{
    before->n = 0;
    if (q && atomic_load_explicit(&q->launched, memory_order_relaxed))
        gs_timing_begin_wait(q, before);
}
void gs_timing_after_wait(const struct gs_stretch *before, cl_int err);

/* ---- short_runs.c: commands whose processes end soon and split nothing, so that a context over all devices costs in
 * vain: on H200s 110 ms a device to make and 57 to end, in a process of perhaps a second. The cache remembers such
 * commands by executable, arguments, folder and devices. ---- */

/* A context's number of devices: 1 if the command's last three processes ended soon, without a split; else all. */
unsigned gs_short_runs_devices(const struct gs_group *g);

/* The reason for launches in a context that has one device so; NULL: any other context. */
const char *gs_short_runs_reason(void);

/* A context over n devices has been made, in took_ns. */
void gs_short_runs_made(unsigned n, uint64_t took_ns);

/* ---- later.c: programs that no process can afford to compile are compiled between processes (docs/choice.md) ---- */

/* May a job be written for the program? If it was compiled for later processes, p->built_ns is set to the time taken.
 * Looks for a file the first time. The book must be open; without its lock. */
bool gs_later_look(struct gs_program *p);

/* Later processes would gain if the program were compiled: writes a job, once. Locks as gs_later_look. */
void gs_later_write(struct gs_program *p);

/* This process has compiled the program itself. */
void gs_later_compiled(struct gs_program *p);

/* Has this process written a job that isn't done yet? */
bool gs_later_written(void);

/* In gpusparc-compile: prepares the program at once, whatever that gains, and waits for the end. */
void gs_later_compile(struct gs_program *p);

/* The process ends: starts gpusparc-compile, which outlives the process, if a job was written. */
void gs_later_end(void);

#endif
