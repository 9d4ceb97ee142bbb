/* SPDX-License-Identifier: MIT */
/* See client.h, section job.c. */
#include "common/lock/locked.h"
#include "common/lock/rank.h"
#include "common/log.h"
#include "shim/client/client.h"
#include "shim/report/watch.h"

enum { PRUNE_FROM = 64 };
enum { WARMUP_WITHOUT_DAEMON = 1 }; /* jobs */

atomic_bool gs_job_open;
atomic_uint gs_jobs_ended;
static struct {
    pthread_mutex_t pace_lock; /* held while a job awaits its release; taken before `lock`. Protects the next three: */
    uint64_t release_ns;       /* of the paced job under way */
    bool said;                 /* that none is paced */
    uint64_t told_ns;          /* the task's period, kept so that a dead daemon doesn't make jobs come more often */
    /* All below. It looks for errors: a signal's handler that calls exit() may run in the thread that holds it, and
     * gs_lock_soon must fail then, not wait. */
    pthread_mutex_t lock;
    atomic_bool reads;             /* the job has read results; read like gs_job_open */
    atomic_uint_fast64_t ended_ns; /* when the open job seems to have ended; 0: not yet; read like gs_job_open */
    bool read_since;               /* ... and something was read after */
    struct gs_job current;
    struct gs_events pending; /* ends of commands that may be under way */
    cl_uint prune_at;
    atomic_bool told_at_exit; /* tell_last_job is registered with atexit(); without the lock */
} jobs = {
    .pace_lock = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP, .prune_at = PRUNE_FROM};
GS_RANKED(jobs.pace_lock, GS_RANK_PACE);
GS_RANKED(jobs.lock, GS_RANK_JOB);

static void end_job(void)
{
    struct gs_client *c = atomic_load(&gs_process.client);
    atomic_store(&gs_job_open, false);
    atomic_fetch_add(&gs_jobs_ended, 1);
    if (c)
        gs_client_job_end(c, jobs.ended_ns);
    gs_trace_job(false);
}

/* The process ends: tells the daemon of the last job's end, which no command follows. No OpenCL calls here. A thread
 * that just looks at its commands is soon done, unless the driver was taken apart under it. */
static void tell_last_job(void)
{
    if (gs_forked() || !gs_lock_soon(&jobs.lock))
        return;
    if (atomic_load(&gs_job_open) && jobs.ended_ns)
        end_job();
    pthread_mutex_unlock(&jobs.lock);
}

void gs_job_drop(void)
{
    GS_LOCKED(&jobs.lock);
    if (atomic_load(&gs_job_open))
        end_job();
    gs_events_free(&jobs.pending);
}

/* The places among the GPUs of the mask. */
static unsigned list_places(unsigned n, uint32_t mask, unsigned *place)
{
    unsigned count = 0;
    for (unsigned p = 0; p < n; p++)
        if (mask & GS_MASK(gs_resource_of(p)))
            place[count++] = p;
    return count;
}

/* Any of several GPUs: the one that the daemon says. It gives no unit yet: a job needn't begin with a kernel. */
static unsigned pick_place(struct gs_client *c, const struct gs_job *job)
{
    uint32_t mask = 0;
    for (unsigned i = 0; i < job->n; i++)
        mask |= GS_MASK(gs_resource_of(job->place[i]));
    const unsigned resource = gs_client_choose(c, mask);
    for (unsigned i = 0; i < job->n; i++)
        if (gs_resource_of(job->place[i]) == resource)
            return job->place[i];
    return job->place[0];
}

/* The next place after the last job's. */
static unsigned next_place(const struct gs_job *job, unsigned last)
{
    for (unsigned i = 0; i < job->n; i++)
        if (job->place[i] > last)
            return job->place[i];
    return job->place[0];
}

/* If the daemon may change the number of GPUs from job to job, the warm-up's first job has all and its second has one,
 * so that no later job is the first to need a kernel's other form, or memory on another device. */
static void warm_both_modes(const struct gs_context *ctx, struct gs_client_mode *mode)
{
    const unsigned job = atomic_load(&gs_jobs_ended);
    if (!mode->chooses || mode->warmup < 2 || job > 1)
        return;
    mode->gpus = job ? 1 : ctx->n;
    mode->gpu_mask = GS_MASK_ALL_GPUS(GS_MAX_GPUS);
}

/* The daemon's decision for this job. With jobs.lock held. */
static void set_mode(const struct gs_context *ctx, struct gs_client_mode *mode)
{
    struct gs_client *c = atomic_load(&gs_process.client);
    const struct gs_job last = jobs.current;
    warm_both_modes(ctx, mode);
    jobs.current = (struct gs_job){.scheduled = mode->scheduled,
                                   .told = mode->scheduled && mode->task[0],
                                   .kernel_chunk = mode->kernel_chunk,
                                   .transfer_chunk = mode->transfer_chunk};
    jobs.current.n = list_places(ctx->n, mode->scheduled ? mode->gpu_mask : UINT32_MAX, jobs.current.place);
    if (!jobs.current.n) /* a group of which the daemon knows nothing */
        jobs.current.n = list_places(mode->gpus < ctx->n ? mode->gpus : ctx->n, UINT32_MAX, jobs.current.place);
    if (mode->scheduled && mode->gpus == 1 && jobs.current.n > 1) {
        /* The warm-up's jobs go round, so that no later one is the first on a GPU. */
        const bool moves = mode->moves || (!mode->chooses && atomic_load(&gs_jobs_ended) < mode->warmup);
        jobs.current.place[0] = moves ? next_place(&jobs.current, last.place[0]) : pick_place(c, &jobs.current);
        jobs.current.n = 1;
    }
}

static void begin_job(const struct gs_context *ctx, uint64_t released_ns)
{
    struct gs_client *c = atomic_load(&gs_process.client);
    struct gs_client_mode mode = {0};
    if (c)
        gs_client_job_begin(c, released_ns, &mode);
    set_mode(ctx, &mode);
    if (!atomic_exchange(&jobs.told_at_exit, true))
        atexit(tell_last_job);
    if (atomic_exchange(&gs_job_open, true))
        return;
    jobs.reads = jobs.read_since = false;
    jobs.ended_ns = 0;
    gs_trace_job(true);
}

/* The period to pace by, or 0. With pace_lock held. */
static uint64_t period_ns(const struct gs_client_mode *mode)
{
    const struct gs_settings *s = gs_settings();
    if (!s->pace || s->pace_ns)
        return s->pace_ns;
    if (mode->scheduled)
        jobs.told_ns = mode->period_ns;
    if (!jobs.told_ns && !jobs.said) {
        jobs.said = true;
        gs_error("--pace: %s: the jobs are not held back", mode->scheduled ? "the application is no task with a period"
                                                                           : "there is no daemon to know the period");
    }
    return jobs.told_ns;
}

/* Waits for a paced job's release, and returns that time; 0: now. With pace_lock held. Delays of the warm-up's jobs
 * don't count: the first job after them starts afresh. Nor do those jobs come closer together than the task's, for
 * which the others' deadlines are proven. */
static uint64_t await_release(void)
{
    struct gs_client *c = atomic_load(&gs_process.client);
    struct gs_client_mode mode = {0};
    if (c)
        gs_client_mode(c, &mode);
    const uint64_t period = period_ns(&mode);
    if (!period) {
        jobs.release_ns = 0; /* a later job with a period isn't late for those without */
        return 0;
    }
    const uint64_t now = gs_now_ns();
    jobs.release_ns = jobs.release_ns ? jobs.release_ns + period : now;
    if (jobs.release_ns < now && atomic_load(&gs_jobs_ended) <= (mode.scheduled ? mode.warmup : WARMUP_WITHOUT_DAEMON))
        jobs.release_ns = now;
    const struct timespec t = gs_timespec(jobs.release_ns);
    while (jobs.release_ns > now && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0)
        ;
    return jobs.release_ns;
}

static void enter_new(const struct gs_context *ctx)
{
    GS_LOCKED(&jobs.pace_lock);
    if (!atomic_load(&gs_job_open)) {
        const uint64_t released = await_release();
        pthread_mutex_lock(&jobs.lock);
        begin_job(ctx, released);
        pthread_mutex_unlock(&jobs.lock);
    }
}

/* Ends the job if its results have been read. */
static void end_if_read(void)
{
    if (!atomic_load_explicit(&jobs.ended_ns, memory_order_relaxed))
        return;
    GS_LOCKED(&jobs.lock);
    if (atomic_load(&gs_job_open) && jobs.ended_ns)
        end_job();
}

const struct gs_job *gs_job_enter(const struct gs_context *ctx, bool reads, struct gs_job *job)
{
    if (!reads)
        end_if_read();
    if (!atomic_load(&gs_job_open))
        enter_new(ctx);
    pthread_mutex_lock(&jobs.lock);
    if (jobs.current.scheduled != gs_online()) /* it has come, or gone, in the middle of the job */
        begin_job(ctx, 0);
    *job = jobs.current;
    pthread_mutex_unlock(&jobs.lock);
    /* Another context of the process may have fewer devices. */
    while (job->n > 1 && job->place[job->n - 1] >= ctx->n)
        job->n--;
    if (job->place[0] >= ctx->n)
        job->place[0] = 0;
    return job;
}

const struct gs_job *gs_job_now(struct gs_job *job)
{
    GS_LOCKED(&jobs.lock);
    *job = jobs.current;
    return job->scheduled ? job : NULL;
}

/* Releases events that have ended. A failed one stays while others are under way: PoCL (3.1) uses such an event once
 * more when the others end. */
static void prune(void)
{
    if (!gs_events_drop_complete(&jobs.pending, false) && jobs.pending.n)
        gs_events_drop_complete(&jobs.pending, true);
}

void gs_job_reads(void)
{
    GS_LOCKED(&jobs.lock);
    jobs.reads = jobs.read_since = true;
}

void gs_job_add(cl_event end)
{
    GS_LOCKED(&jobs.lock);
    gs_events_share(&jobs.pending, end);
    if (jobs.pending.n >= jobs.prune_at) {
        prune();
        jobs.prune_at = jobs.pending.n * 2 > PRUNE_FROM ? jobs.pending.n * 2 : PRUNE_FROM;
    }
}

void gs_job_look(void)
{
    if (!atomic_load_explicit(&gs_job_open, memory_order_relaxed) || gs_forked() ||
        !atomic_load_explicit(&jobs.reads, memory_order_relaxed))
        return;
    GS_LOCKED(&jobs.lock);
    if (atomic_load(&gs_job_open) && atomic_load(&jobs.reads)) {
        prune();
        if (!jobs.pending.n && (!jobs.ended_ns || jobs.read_since)) {
            jobs.ended_ns = gs_now_ns();
            jobs.read_since = false;
        }
    }
}
