/* SPDX-License-Identifier: MIT */
#include "shim/schedule/alone.h"

#include "shim/schedule/alone_kinds.h"
#include "shim/schedule/deferred.h"
#include "shim/order/callbacks.h"
#include "shim/order/command.h"
#include "shim/process/threads.h"
#include "shim/record/bypass.h"
#include "shim/schedule/upward.h"

#include "common/lock/rank.h"
#include "shim/record/enqueue.h"

/* So many launches are made in a queue, one after the other by the same thread, before it goes alone there: another's
 * would have to wait for this one's. And so many commands go by units where it was ended in the middle. */
enum { IN_TURN = 16, LEFT_OUT = 64 };

struct gs_alone gs_alone_of[GS_FAST_PATH_THREADS];
atomic_uint gs_kernels_gone;

static pthread_mutex_t alone_lock = PTHREAD_MUTEX_INITIALIZER; /* a leaf, but for gs_fast_path_bar() and the driver */
GS_RANKED(alone_lock, GS_RANK_ALONE);
static struct gs_alone *the_one; /* that goes alone; or null. alone_lock */
_Atomic(cl_event) gs_alone_newest;
/* Commands of a task that went alone since it was last waited for. Its thread counts them, others see that they have
 * ended. */
static atomic_uint out;

static struct gs_alone *own(void)
{
    return &gs_alone_of[gs_fast_path_thread() - gs_fast_path_threads];
}

static bool is_own(const struct gs_alone *a)
{
    return gs_fast_path_is_mine(&gs_fast_path_threads[a - gs_alone_of]);
}

/* ---- what may go ---- */

static bool cares(void)
{
    return gs_fast_path_cares(~(unsigned)GS_CARE_DAEMON);
}

/* Isn't such a launch split, in a context of several devices? */
static bool stays(const struct gs_alone_kind *kind, const struct gs_op *op)
{
    const struct gs_kernel *k = gs_find_newest(GS_KERNEL, op->kernel);
    if (!k || gs_kernel_is_fresh(k))
        return false;
    const enum gs_passes passes = kind->ways == GS_ALONE_ALWAYS ? GS_PASSES : gs_kernel_passes(k);
    if (passes != GS_PASSES_BY_SIZE)
        return passes;
    struct gs_size *last = gs_size_of_last(k, op->dims, op->global, op->local);
    return last ? gs_size_passes(last) : gs_size_is_short(k, op->dims, op->global, op->local);
}

/* The next command of a task begins another job if one has ended. Is what was decided for this one decided for it? */
static GS_COLD bool goes_on(const struct gs_alone *a)
{
    if (gs_job_goes_on(a->job))
        return true;
    const bool again = gs_job_again(a->q->o.ctx, a->job);
    gs_job_tell();
    return again;
}

/* It goes, if its thread still goes alone there. */
static inline bool passes(struct gs_fast_path_thread *t, struct gs_alone *a, cl_command_queue queue,
                          const struct gs_alone_kind *kind, bool waits)
{
    const unsigned passing = gs_fast_path_pass(t);
    if (gs_alone_is_in(t, queue) && !cares()) {
        gs_alone_leave(a, gs_alone_left(a) - 1);
        a->n++;
        if (kind) {
            a->now.ns += kind->ns;
            a->now.uses |= 1u << (kind - a->kind);
        }
        a->now.behind |= waits;
        if (a->told) { /* in this order, for gs_alone_ends_with() */
            atomic_store_explicit(&gs_alone_newest, NULL, memory_order_relaxed);
            atomic_store_explicit(&out, a->n, memory_order_release);
        }
        return true;
    }
    atomic_store_explicit(&t->passing, passing, memory_order_release);
    return false;
}

GS_FAST_PATH bool gs_alone_takes(struct gs_fast_path_thread *t, cl_command_queue queue, const struct gs_op *op,
                                 bool waits)
{
    struct gs_alone *a = &gs_alone_of[t - gs_fast_path_threads];
    if (!gs_alone_is_well_formed(op))
        return false;
    const struct gs_alone_kind *kind = gs_alone_find(a, op->kernel, gs_alone_hash(op));
    if (!gs_alone_fits(a, kind) || (a->told && !goes_on(a)))
        return false;
    if (kind->ways != GS_ALONE_ONE_DEVICE && !stays(kind, op))
        return false;
    return passes(t, a, queue, kind, waits);
}

GS_FAST_PATH bool gs_alone_moves(struct gs_fast_path_thread *t, cl_command_queue queue, bool reads, bool waits)
{
    struct gs_alone *a = &gs_alone_of[t - gs_fast_path_threads];
    return (reads || !a->told || goes_on(a)) && passes(t, a, queue, NULL, waits);
}

/* ---- its end, and what has ended ---- */

/* What went alone was at work. */
static void tell_busy_time(struct gs_alone *a)
{
    if (a->past_ns)
        gs_unit_went(gs_resource_of(0), a->past_ns);
    a->past_ns = 0;
}

/* With alone_lock held. */
static void end(struct gs_queue *q, struct gs_alone *a)
{
    atomic_store_explicit(&a->queue, NULL, memory_order_relaxed);
    if (!is_own(a)) {
        gs_fast_path_bar();
        gs_timeline_enqueue_untracked(q->timeline); /* what went alone may not have ended */
    } else {
        if (a->n)
            gs_timeline_enqueue_untracked(q->timeline);
        else if (a->waited)
            gs_timeline_end(q->timeline, a->waited_call);
        tell_busy_time(a);
        a->begun = false;
    }
    gs_drop_event(atomic_exchange(&a->marker, NULL));
    atomic_store(&q->alone, NULL);
    atomic_store(&out, 0);
    atomic_store(&gs_alone_newest, NULL);
    the_one = NULL;
}

void gs_alone_end(struct gs_queue *q)
{
    pthread_mutex_lock(&alone_lock);
    struct gs_alone *a = atomic_load(&q->alone);
    if (a)
        end(q, a);
    pthread_mutex_unlock(&alone_lock);
}

void gs_alone_touch(struct gs_queue *q)
{
    struct gs_alone *a = atomic_load(&q->alone);
    if (!a || !is_own(a)) { /* another thread's: it may be about to wait */
        gs_alone_end(q);
        return;
    }
    a->now.behind = true;
    if (a->told) /* nor has this ended with what is the newest now */
        atomic_store(&gs_alone_newest, NULL);
}

static void end_own(struct gs_alone *a)
{
    pthread_mutex_lock(&alone_lock);
    if (the_one == a)
        end(a->q, a);
    pthread_mutex_unlock(&alone_lock);
    a->begun = false;
}

/* It was no task when it began; the daemon may have made it one. True: with this wait its job ends. */
static bool ends_outdated(struct gs_alone *a)
{
    if (a->told || !a->begun || !gs_job_is_outdated())
        return false;
    end_own(a);
    gs_job_reads();
    return true;
}

struct gs_alone_wait gs_alone_waits(const struct gs_queue *q)
{
    return (struct gs_alone_wait){
        .queue = q->o.handle, .call = gs_timeline_newest(q->timeline), .begin_ns = gs_now_ns()};
}

void gs_alone_waited(struct gs_fast_path_thread *t, const struct gs_alone_wait *wait)
{
    struct gs_alone *a = &gs_alone_of[t - gs_fast_path_threads];
    if (!gs_alone_is_in(t, wait->queue)) { /* another thread has ended it meanwhile */
        if (a->told)
            gs_job_look();
        return;
    }
    const struct gs_alone_interval all = gs_alone_under_way(a);
    const uint64_t now = gs_now_ns();
    cl_event marker = atomic_exchange(&a->marker, NULL);
    if (gs_alone_took_longer(&all, wait->begin_ns, now))
        gs_alone_learn_by_wait(a, &all, now - wait->begin_ns);
    else
        gs_alone_learn_at_most(a, &all, marker, now);
    gs_drop_event(marker);
    gs_alone_leave(a, GS_ALONE_CALLS);
    a->n = 0;
    a->past_ns += a->now.ns;
    a->now = (struct gs_alone_interval){0};
    a->since_ns = now;
    a->exact = false;
    a->waited = true;
    a->waited_call = wait->call;
    if (a->past_ns >= GS_ALONE_NS || a->told) /* of a task's: it is this job's */
        tell_busy_time(a);
    if (a->told)
        atomic_store_explicit(&out, 0, memory_order_relaxed);
    if (a->told || ends_outdated(a))
        gs_job_look();
}

/* It is in order: so has all that came before. */
struct gs_alone_ends gs_alone_ends_with(cl_uint n, const cl_event *events)
{
    struct gs_alone_ends end = {.out = atomic_load(&out)};
    const cl_event newest = end.out ? atomic_load(&gs_alone_newest) : NULL;
    for (cl_uint i = 0; newest && events && i < n; i++)
        if (events[i] == newest)
            end.newest = newest;
    return end;
}

void gs_alone_has_ended(const struct gs_alone_ends *ends)
{
    unsigned was = ends->out;
    if (ends->newest && atomic_load(&gs_alone_newest) == ends->newest)
        atomic_compare_exchange_strong(&out, &was, 0);
}

/* Ends it. A marker tells of the end of what is out there; null: there is none to be had. With alone_lock held. */
static cl_event end_marked(struct gs_alone *a)
{
    cl_event marker = NULL;
    struct gs_queue *q = a->q;
    end(q, a);
    if (gs_enqueue_marker(q->o.handle, 0, NULL, &marker) != CL_SUCCESS)
        return NULL;
    if (!is_own(a)) /* its thread may never send it off */
        gs_real()->clFlush(q->o.handle);
    return marker;
}

/* The job doesn't end before. */
static void add_marker(cl_event marker)
{
    if (!marker)
        return;
    gs_job_add(marker);
    gs_real()->clReleaseEvent(marker);
}

enum gs_alone_pause gs_alone_pauses(const struct gs_alone_ends *ends, struct gs_alone_wait *wait)
{
    *wait = (struct gs_alone_wait){0};
    if (!gs_fast_path_is_mine(gs_fast_path_thread()))
        return GS_ALONE_NOT;
    struct gs_alone *a = own();
    wait->begin_ns = a->begun && !a->told ? gs_now_ns() : 0;
    if (ends_outdated(a) || !a->begun || !a->told || !a->n)
        return GS_ALONE_NOT;
    pthread_mutex_lock(&alone_lock); /* as long as it goes alone there its queue is there */
    const bool all = the_one == a && ends->newest;
    cl_event marker = NULL;
    if (all)
        *wait = gs_alone_waits(a->q);
    else if (the_one == a)
        marker = end_marked(a);
    pthread_mutex_unlock(&alone_lock);
    if (all)
        return GS_ALONE_ALL_ENDS;
    add_marker(marker);
    a->begun = false;
    a->left_out = LEFT_OUT;
    return GS_ALONE_NOT_KNOWN;
}

void gs_alone_paused(const struct gs_alone_wait *wait, cl_uint n, const cl_event *events)
{
    struct gs_alone *a = own();
    const struct gs_alone_interval all = gs_alone_under_way(a);
    const uint64_t now = wait->begin_ns ? gs_now_ns() : 0;
    if (!gs_alone_took_longer(&all, wait->begin_ns, now))
        return;
    const cl_command_queue alone = atomic_load_explicit(&a->queue, memory_order_relaxed);
    for (cl_uint i = 0; i < n; i++) {
        cl_command_queue queue = NULL;
        gs_real()->clGetEventInfo(events[i], CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, NULL);
        if (!alone || queue != alone)
            return;
    }
    gs_alone_learn_by_wait(a, &all, now - wait->begin_ns);
}

/* This thread has waited for something else, or another one goes alone, which may never wait: nobody would hear of the
 * job's end. */
void gs_alone_settle(void)
{
    if (!atomic_load(&out))
        return;
    cl_event marker = NULL;
    pthread_mutex_lock(&alone_lock);
    if (the_one && atomic_load(&out)) {
        atomic_store(&the_one->disturbed, true);
        marker = end_marked(the_one);
    }
    pthread_mutex_unlock(&alone_lock);
    add_marker(marker);
}

/* ---- its markers ---- */

/* Puts a marker behind the interval, and returns the one before, to be waited for, and its interval; or null. Where
 * that one may wait for what the application has yet to do alone mode ends. With alone_lock held. */
static cl_event mark(struct gs_alone *a, struct gs_alone_interval *ended)
{
    cl_event marker, before = atomic_load(&a->marker);
    const bool may_wait = !a->marked.behind && !gs_callbacks_ever() && !atomic_load(&a->q->o.ctx->user_events);
    const bool stuck = before && !may_wait && gs_event_status(before) > CL_COMPLETE;
    if (stuck || gs_in_callback() || gs_enqueue_marker(a->q->o.handle, 0, NULL, &marker) != CL_SUCCESS) {
        end(a->q, a);
        a->left_out = LEFT_OUT;
        return NULL;
    }
    gs_real()->clFlush(a->q->o.handle);
    before = atomic_exchange(&a->marker, marker);
    *ended = a->marked;
    a->marked = a->now;
    a->marked.end_ns = gs_now_ns();
    a->now = (struct gs_alone_interval){0};
    a->past_ns += a->marked.ns;
    gs_alone_leave(a, GS_ALONE_CALLS);
    return before;
}

/* Takes the marker over. Where this thread has waited for the one before as well it knows what the interval has taken;
 * else no less than from the marker on, and no more than since the one before. (If it was only woken late the next
 * intervals are shorter for it, and say so.) */
static void await_marker(struct gs_alone *a, cl_event marker, const struct gs_alone_interval *i)
{
    const bool waits = gs_event_status(marker) > CL_COMPLETE;
    if (waits)
        gs_real()->clWaitForEvents(1, &marker);
    gs_drop_event(marker);
    tell_busy_time(a);
    const uint64_t now = gs_now_ns(), since = a->exact ? a->since_ns : i->end_ns;
    if (waits && now - since > i->ns)
        gs_alone_learn(a, i, now - since);
    else if (now - a->since_ns < i->ns)
        gs_alone_learn(a, i, now - a->since_ns);
    a->since_ns = waits ? now : i->end_ns;
    a->exact = waits;
}

GS_COLD struct gs_queue *gs_alone_mark(cl_command_queue queue)
{
    struct gs_alone *a = own();
    struct gs_alone_interval ended = {0};
    gs_threads_reopen(); /* it may be for what another queue waits for */
    pthread_mutex_lock(&alone_lock);
    cl_event before = the_one == a ? mark(a, &ended) : NULL;
    pthread_mutex_unlock(&alone_lock);
    if (before)
        await_marker(a, before, &ended);
    return gs_alone_in(gs_fast_path_thread(), queue);
}

/* ---- its begin ---- */

/* Has this thread made the last launches in the queue? */
static bool is_in_turn(struct gs_queue *q, const struct gs_alone *a)
{
    if (q->launcher != a)
        q->launched = 0;
    q->launcher = a;
    q->launched += q->launched < IN_TURN;
    return q->launched == IN_TURN;
}

void gs_alone_note(struct gs_queue *q, const struct gs_kernel *k, const struct gs_followed *f, const struct gs_op *op)
{
    struct gs_alone *a = own();
    if (!gs_unit_is_sole() || cares() || !gs_fast_path_take() || !is_in_turn(q, a) || !gs_alone_is_well_formed(op))
        return;
    if (a->begun)
        end_own(a);
    gs_alone_know(a, k, f, gs_alone_hash(op));
}

/* Is what was decided for the job of its launches what holds now? Paced ones wait for their releases. */
static bool is_of_job(const struct gs_alone *a, bool *told)
{
    struct gs_job job;
    gs_job_now(&job);
    *told = job.told;
    return job.number == a->job && !gs_settings()->pace && gs_job_goes_on(job.number);
}

/* Is all known to have ended that was enqueued there before this call? Behind a unit that runs, somebody would have to
 * look for its end meanwhile, which makes each call of NVIDIA's driver take longer: 7 us a launch instead of 4 (H200).
 */
static bool is_empty(struct gs_queue *q)
{
    const unsigned call = gs_queue_newest(q);
    bool empty = false, looks = true;
    for (int i = 0; i < 2 && looks; i++) {
        if (i)
            gs_units_look(0, q->o.handle, NULL);
        pthread_mutex_lock(&gs_deferred_lock);
        const struct gs_deferred *last = gs_deferred_last_in(q->o.handle);
        empty = !last && gs_timeline_ended_before(q->timeline, call);
        looks = last && last->sharing != GS_SHARE_OPEN; /* else others will join */
        pthread_mutex_unlock(&gs_deferred_lock);
    }
    return empty;
}

/* Another thread goes alone, and has perhaps no use for it any more: it has ended, or goes on elsewhere. Is it to be
 * taken away? Not before all that was expected of it must have ended. With alone_lock held. */
static bool is_unused(void)
{
    static const struct gs_alone *one; /* all of them alone_lock */
    static unsigned left;
    static uint64_t since_ns;
    const uint64_t now = gs_now_ns();
    if (one != the_one || left != gs_alone_left(the_one)) {
        one = the_one;
        left = gs_alone_left(one);
        since_ns = now;
    }
    return now >= since_ns + GS_ALONE_NS;
}

/* With alone_lock held. */
static void begin(struct gs_alone *a, struct gs_queue *q, bool told)
{
    tell_busy_time(a);
    the_one = a;
    a->q = q;
    a->begun = true;
    a->told = told;
    a->timed = a->waited = a->exact = false;
    a->n = 0;
    a->now = (struct gs_alone_interval){0};
    a->since_ns = gs_now_ns();
    gs_alone_leave(a, GS_ALONE_CALLS);
    atomic_store(&q->alone, a);
    atomic_store_explicit(&a->queue, q->o.handle, memory_order_relaxed);
}

bool gs_alone_begin(struct gs_queue *q, const struct gs_op *launch)
{
    struct gs_alone *a = own();
    bool told;
    if (!gs_fast_path_is_mine(gs_fast_path_thread()) || !a->timed || !a->kinds ||
        a->gone != atomic_load(&gs_kernels_gone) || q->launcher != a || q->launched != IN_TURN || q->out_of_order ||
        cares() || !gs_unit_is_sole() || gs_units_recorded() || atomic_load(&q->o.ctx->user_events))
        return false;
    if (launch && (!gs_alone_is_well_formed(launch) ||
                   !gs_alone_is_short(gs_alone_find(a, launch->kernel, gs_alone_hash(launch)))))
        return false;
    if (!is_of_job(a, &told) || !is_empty(q))
        return false;
    if (atomic_exchange(&a->disturbed, false))
        a->left_out = LEFT_OUT;
    if (a->left_out) {
        a->left_out--;
        return false;
    }
    if (a->begun)
        end_own(a);
    cl_event marker = NULL;
    pthread_mutex_lock(&alone_lock);
    if (the_one && is_unused())
        marker = end_marked(the_one);
    const bool first = !the_one;
    if (first)
        begin(a, q, told);
    /* Another thread may have enqueued something meanwhile that isn't looked into. */
    const bool stays = first && gs_timeline_ended_before(q->timeline, gs_timeline_newest(q->timeline));
    if (first && !stays)
        end(q, a);
    pthread_mutex_unlock(&alone_lock);
    add_marker(marker);
    return stays;
}
