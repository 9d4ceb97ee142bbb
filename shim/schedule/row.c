/* SPDX-License-Identifier: MIT */
#include "shim/schedule/row.h"

#include "shim/schedule/deferred.h"
#include "shim/record/bypass.h"
#include "shim/schedule/upward.h"

#include "common/lock/rank.h"

/* Launches between two that are counted; and so many are made in a queue, one after the other by the same thread,
 * before it has rows there: another's would have to wait for this one's. */
enum { ROW = 15, ALONE = 16 };

/* Calls that go by a free row, before a launch is timed again. Where so many come one after the other, or take so long,
 * without a wait, units are no burden: the next rows aren't free. */
enum { FREE_CALLS = 128, LEFT_OUT = 64 };

struct gs_row gs_rows[GS_FAST_PATH_THREADS];
atomic_uint gs_kernels_gone;

static pthread_mutex_t free_lock = PTHREAD_MUTEX_INITIALIZER; /* a leaf, but for gs_fast_path_bar() */
GS_RANKED(free_lock, GS_RANK_FREE_ROWS);
static struct gs_row *free_row; /* at most one: nobody is to find more at work than it may have. free_lock */
_Atomic(cl_event) gs_row_newest;
/* Commands of a task by it since it was last waited for. Its thread counts them, others see that they have ended. */
static atomic_uint out;

static struct gs_row *own_row(void)
{
    return &gs_rows[gs_fast_path_thread() - gs_fast_path_threads];
}

static uint64_t hash_of(cl_uint dims, const size_t *global, const size_t *local)
{
    uint64_t hash = dims * 2 + (local != NULL);
    for (cl_uint d = 0; d < dims; d++)
        hash = (hash ^ global[d] ^ (local ? (uint64_t)local[d] << 40 : 0)) * UINT64_C(0x9e3779b97f4a7c15);
    return hash;
}

static bool is_well_formed(cl_uint dims, const size_t *global)
{
    return global && dims >= 1 && dims <= 3;
}

/* Null: it isn't known. */
static struct gs_row_kind *find(struct gs_row *r, cl_kernel kernel, uint64_t size)
{
    for (unsigned i = 0; i < r->kinds; i++)
        if (r->kind[i].kernel == kernel && r->kind[i].size == size)
            return &r->kind[i];
    return NULL;
}

/* A free row outlives the waits after which an application may have let kernels go, whose handles become others'. */
static bool fits(const struct gs_row *r, const struct gs_row_kind *kind)
{
    return kind && (r->free ? r->gone == atomic_load_explicit(&gs_kernels_gone, memory_order_relaxed) : kind->joined) &&
           r->ns + kind->ns <= r->most_ns;
}

static bool cares(void)
{
    return gs_fast_path_cares(~(unsigned)GS_CARE_DAEMON);
}

/* Isn't such a launch split, in a context of several devices? */
static bool stays(const struct gs_row_kind *kind, cl_kernel kernel, cl_uint dims, const size_t *global,
                  const size_t *local)
{
    const struct gs_kernel *k = gs_find_newest(GS_KERNEL, kernel);
    if (!k || gs_kernel_is_fresh(k))
        return false;
    const enum gs_passes passes = kind->ways == GS_ROW_ALWAYS ? GS_PASSES : gs_kernel_passes(k);
    if (passes != GS_PASSES_BY_SIZE)
        return passes;
    struct gs_short *last = gs_size_of_last(k, dims, global, local);
    return last ? gs_size_passes(last) : gs_schedule_choice()->passes(k, dims, global, local);
}

/* The next command of a task begins another job if one has ended. Is what was decided for this one decided for it? */
static GS_COLD bool goes_on(const struct gs_row *r)
{
    if (gs_job_goes_on(r->job))
        return true;
    const bool again = gs_job_again(r->q->o.ctx, r->job);
    gs_job_tell();
    return again;
}

/* It is in the row, if that is still there. */
static inline bool passes(struct gs_fast_path_thread *t, struct gs_row *r, cl_command_queue queue, uint64_t ns)
{
    const unsigned passing = gs_fast_path_pass(t);
    if (gs_row_is_in(t, queue) && !cares()) {
        gs_row_leave(r, gs_row_left(r) - 1);
        r->n++;
        r->ns += ns;
        if (r->free && r->told) { /* in this order, for gs_row_ends_with() */
            atomic_store_explicit(&gs_row_newest, NULL, memory_order_relaxed);
            atomic_store_explicit(&out, r->n, memory_order_release);
        }
        return true;
    }
    atomic_store_explicit(&t->passing, passing, memory_order_release);
    return false;
}

GS_FAST_PATH bool gs_row_takes(struct gs_fast_path_thread *t, cl_command_queue queue, cl_kernel kernel, cl_uint dims,
                               const size_t *global, const size_t *local)
{
    struct gs_row *r = &gs_rows[t - gs_fast_path_threads];
    if (!gs_row_left(r) || !is_well_formed(dims, global))
        return false;
    const struct gs_row_kind *kind = find(r, kernel, hash_of(dims, global, local));
    if (!fits(r, kind) || (r->free && (!gs_unit_is_sole() || (r->told && !goes_on(r)))))
        return false;
    if (kind->ways != GS_ROW_ALONE && !stays(kind, kernel, dims, global, local))
        return false;
    return passes(t, r, queue, kind->ns);
}

GS_FAST_PATH bool gs_row_moves(struct gs_fast_path_thread *t, cl_command_queue queue, bool reads)
{
    struct gs_row *r = &gs_rows[t - gs_fast_path_threads];
    return (reads || !r->told || goes_on(r)) && passes(t, r, queue, 0);
}

/* What went by its thread's free row was at work. */
static void tell_busy_time(struct gs_row *r)
{
    if (r->past_ns)
        gs_unit_went(gs_resource_of(0), r->past_ns);
    r->past_ns = 0;
}

struct gs_row_wait gs_row_waits(const struct gs_queue *q)
{
    return (struct gs_row_wait){.queue = q->o.handle, .call = atomic_load(&q->calls), .brief = atomic_load(&q->brief)};
}

void gs_row_waited(struct gs_fast_path_thread *t, const struct gs_row_wait *wait)
{
    struct gs_row *r = &gs_rows[t - gs_fast_path_threads];
    if (!gs_row_is_in(t, wait->queue)) { /* another thread has ended it meanwhile */
        if (r->told)
            gs_job_look();
        return;
    }
    gs_row_leave(r, gs_row_left(r) - (gs_row_left(r) > 0));
    r->n = 0;
    r->past_ns += r->ns;
    r->ns = 0;
    r->waited = r->paused = true;
    r->waited_call = wait->call;
    r->waited_brief = wait->brief;
    if (r->past_ns >= GS_ROW_FREE_NS || r->told) /* of a task's: it is this job's */
        tell_busy_time(r);
    if (r->told) {
        atomic_store_explicit(&out, 0, memory_order_relaxed);
        gs_job_look();
    }
}

/* Its launches are counted. With gs_deferred_lock held. */
static void settle_row(struct gs_row *r)
{
    atomic_store_explicit(&r->queue, NULL, memory_order_relaxed);
    gs_batch_count(&r->held->batch, r->n, r->ns);
    r->held->row = NULL;
    r->held = NULL;
}

bool gs_row_end_own(struct gs_deferred *h)
{
    if (h->row && gs_fast_path_is_mine(&gs_fast_path_threads[h->row - gs_rows]))
        settle_row(h->row);
    return !h->row;
}

void gs_row_end(struct gs_deferred *h)
{
    struct gs_row *r = h->row;
    if (gs_row_end_own(h))
        return;
    h->rowless = true;
    atomic_store_explicit(&r->queue, NULL, memory_order_relaxed);
    pthread_mutex_unlock(&gs_deferred_lock);
    gs_fast_path_bar(); /* not with the lock: a driver may be about to call back, which the launch on its way waits for
                         */
    pthread_mutex_lock(&gs_deferred_lock);
    if (h->row == r) /* its thread hasn't ended it meanwhile */
        settle_row(r);
}

/* Has this thread made the last launches in the queue? */
static bool is_alone_in(struct gs_queue *q, const struct gs_row *r)
{
    if (q->row != r)
        q->in_row = 0;
    q->row = r;
    q->in_row += q->in_row < ALONE;
    return q->in_row == ALONE;
}

static bool may_be_in(const struct gs_deferred *h, unsigned call)
{
    return h && h->call == call && h->loose && h->bare && h->served && h->granted_ns && !h->closed && !h->joining &&
           !h->closing && !h->rowless;
}

/* Of a launch that goes by a unit. */
static void note_kind(struct gs_row *r, const struct gs_kernel *k, const struct gs_followed *f, uint64_t size,
                      uint64_t ns, bool joined)
{
    struct gs_row_kind *kind = find(r, k->o.handle, size);
    if (!kind)
        kind = r->kinds < GS_ROW_KINDS ? &r->kind[r->kinds++] : &r->kind[size % GS_ROW_KINDS];
    *kind = (struct gs_row_kind){.kernel = k->o.handle,
                                 .size = size,
                                 .ns = ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX,
                                 .ways = k->o.ctx->n == 1 ? GS_ROW_ALONE
                                         : f->always      ? GS_ROW_ALWAYS
                                                          : GS_ROW_BY_SIZE,
                                 .joined = joined};
}

/* None of its kinds has joined the unit; or all are forgotten: something else was decided for this job, or they may be
 * those of other kernels. */
static void forget_kinds(struct gs_row *r, unsigned job)
{
    const unsigned gone = atomic_load(&gs_kernels_gone);
    if (r->job != job || r->gone != gone)
        r->kinds = 0;
    r->job = job;
    r->gone = gone;
    for (unsigned i = 0; i < r->kinds; i++)
        r->kind[i].joined = false;
}

/* With free_lock held. */
static void end_free(struct gs_queue *q, struct gs_row *r)
{
    atomic_store_explicit(&r->queue, NULL, memory_order_relaxed);
    if (!gs_fast_path_is_mine(&gs_fast_path_threads[r - gs_rows])) {
        gs_fast_path_bar();
        atomic_fetch_add(&q->calls, 2); /* what went by it may not have ended */
    } else {
        if (r->n)
            atomic_fetch_add(&q->calls, 2);
        else if (r->waited)
            gs_has_drained(q->drained, r->waited_call, r->waited_brief);
        tell_busy_time(r);
        r->free = false;
        r->left_out = r->paused ? 0 : LEFT_OUT;
    }
    atomic_store(&q->free_row, NULL);
    atomic_store(&out, 0);
    atomic_store(&gs_row_newest, NULL);
    free_row = NULL;
}

void gs_row_end_free(struct gs_queue *q)
{
    pthread_mutex_lock(&free_lock);
    struct gs_row *r = atomic_load(&q->free_row);
    if (r)
        end_free(q, r);
    pthread_mutex_unlock(&free_lock);
}

/* Its thread begins another row. */
static void end_own_free(struct gs_row *r)
{
    pthread_mutex_lock(&free_lock);
    if (free_row == r)
        end_free(r->q, r);
    pthread_mutex_unlock(&free_lock);
    r->free = false;
}

/* It is in order: so has all that came before. */
struct gs_row_end gs_row_ends_with(cl_uint n, const cl_event *events)
{
    struct gs_row_end end = {.out = atomic_load(&out)};
    const cl_event newest = end.out ? atomic_load(&gs_row_newest) : NULL;
    for (cl_uint i = 0; newest && events && i < n; i++)
        if (events[i] == newest)
            end.newest = newest;
    return end;
}

void gs_row_has_ended(const struct gs_row_end *end)
{
    unsigned was = end->out;
    if (end->newest && atomic_load(&gs_row_newest) == end->newest)
        atomic_compare_exchange_strong(&out, &was, 0);
}

/* Ends it. A marker tells of the end of what is out there; null: there is none to be had. With free_lock held. */
static cl_event end_marked(struct gs_row *r)
{
    cl_event marker = NULL;
    struct gs_queue *q = r->q;
    end_free(q, r);
    if (gs_real()->clEnqueueMarkerWithWaitList(q->o.handle, 0, NULL, &marker) != CL_SUCCESS)
        return NULL;
    if (!gs_fast_path_is_mine(&gs_fast_path_threads[r - gs_rows])) /* its thread may never send it off */
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

enum gs_row_pause gs_row_pauses(const struct gs_row_end *end, struct gs_row_wait *wait)
{
    struct gs_fast_path_thread *t = gs_fast_path_thread();
    if (!gs_fast_path_is_mine(t))
        return GS_ROW_NONE;
    struct gs_row *r = own_row();
    r->paused = true;
    if (!r->free || !r->told || !r->n)
        return GS_ROW_NONE;
    pthread_mutex_lock(&free_lock); /* as long as it is the free row its queue is there */
    const bool all = free_row == r && end->newest;
    cl_event marker = NULL;
    if (all)
        *wait = gs_row_waits(r->q);
    else if (free_row == r)
        marker = end_marked(r);
    pthread_mutex_unlock(&free_lock);
    if (all)
        return GS_ROW_ALL_ENDS;
    add_marker(marker);
    r->free = false;
    r->left_out = LEFT_OUT;
    return GS_ROW_NOT_KNOWN;
}

/* Of another thread's row, which may never wait, nobody would hear. */
bool gs_row_is_out(void)
{
    if (!atomic_load(&out))
        return false;
    pthread_mutex_lock(&free_lock);
    const bool own = free_row == own_row() && gs_fast_path_is_mine(gs_fast_path_thread());
    cl_event marker = NULL;
    if (free_row && !own && atomic_load(&out)) {
        atomic_store(&free_row->disturbed, true);
        marker = end_marked(free_row);
    }
    pthread_mutex_unlock(&free_lock);
    add_marker(marker);
    return own;
}

void gs_row_open(struct gs_queue *q, const struct gs_kernel *k, const struct gs_followed *f, cl_uint dims,
                 const size_t *global, const size_t *local, bool joins)
{
    struct gs_row *r = own_row();
    if (!gs_unit_is_sole() || cares() || !gs_fast_path_take() || !is_alone_in(q, r) || !is_well_formed(dims, global))
        return;
    const unsigned call = gs_queue_call(q);
    const uint64_t size = hash_of(dims, global, local);
    if (r->free)
        end_own_free(r);
    pthread_mutex_lock(&gs_deferred_lock);
    struct gs_deferred *h = gs_deferred_last_in(q->o.handle);
    const bool may = joins && may_be_in(h, call);
    uint64_t ns = may ? gs_batch_expects(&h->batch, f->kind) : 0;
    if (r->held)
        settle_row(r);
    if (!ns || !h->had_row || r->job != f->job)
        forget_kinds(r, f->job);
    if (ns && !h->row) {
        const unsigned room = gs_batch_room(&h->batch);
        h->had_row = true;
        h->row = r;
        r->held = h;
        r->n = 0;
        r->ns = 0;
        r->most_ns = h->batch.expected_ns < GS_BATCH_SOLE_NS ? GS_BATCH_SOLE_NS - h->batch.expected_ns : 0;
        gs_row_leave(r, room < ROW ? room : ROW);
        note_kind(r, k, f, size, ns, true);
        atomic_store_explicit(&r->queue, q->o.handle, memory_order_relaxed);
    }
    pthread_mutex_unlock(&gs_deferred_lock);
    if (!ns && (ns = gs_kind_expects(f->kind)))
        note_kind(r, k, f, size, ns, false);
    r->timed = true;
}

/* Is what was decided for the job of its launches what holds now? Paced ones wait for their releases. */
static bool is_of_job(const struct gs_row *r, bool *told)
{
    struct gs_job job;
    gs_job_now(&job);
    *told = job.told;
    return job.number == r->job && !gs_settings()->pace && gs_job_goes_on(job.number);
}

/* Has all ended that was enqueued there before this call, and has this thread no row by a unit, anywhere? */
static bool is_empty(struct gs_queue *q, const struct gs_row *r)
{
    const unsigned call = gs_queue_call(q);
    bool empty = false, looks = true;
    for (int i = 0; i < 2 && looks; i++) {
        if (i)
            gs_units_look(0, q->o.handle, NULL);
        pthread_mutex_lock(&gs_deferred_lock);
        const struct gs_deferred *last = gs_deferred_last_in(q->o.handle);
        empty = !last && !r->held && q->drained && gs_is_drained(q, call);
        looks = last && last->closed; /* else others will join */
        pthread_mutex_unlock(&gs_deferred_lock);
    }
    return empty;
}

/* Another thread has the free row, and perhaps no use for it any more: it has ended, or goes on elsewhere. Is it to be
 * taken away? Not before all that was expected of it must have ended. With free_lock held. */
static bool is_unused(void)
{
    static const struct gs_row *row; /* all of them free_lock */
    static unsigned left;
    static uint64_t since_ns;
    const uint64_t now = gs_now_ns();
    if (row != free_row || left != gs_row_left(free_row)) {
        row = free_row;
        left = gs_row_left(row);
        since_ns = now;
    }
    return now >= since_ns + GS_ROW_FREE_NS;
}

bool gs_row_go_free(struct gs_queue *q, cl_kernel kernel, cl_uint dims, const size_t *global, const size_t *local)
{
    struct gs_row *r = own_row();
    bool told;
    if (!gs_fast_path_is_mine(gs_fast_path_thread()) || !r->timed || !r->kinds ||
        r->gone != atomic_load(&gs_kernels_gone) || q->row != r || q->in_row != ALONE || q->out_of_order || cares() ||
        !gs_unit_is_sole() || gs_units_recorded())
        return false;
    if (kernel && (!is_well_formed(dims, global) || !find(r, kernel, hash_of(dims, global, local))))
        return false;
    if (!is_of_job(r, &told) || !is_empty(q, r))
        return false;
    if (atomic_exchange(&r->disturbed, false))
        r->left_out = LEFT_OUT;
    if (r->left_out) {
        r->left_out--;
        return false;
    }
    if (r->free)
        end_own_free(r);
    cl_event marker = NULL;
    pthread_mutex_lock(&free_lock);
    if (free_row && is_unused())
        marker = end_marked(free_row);
    const bool first = !free_row;
    if (first) {
        tell_busy_time(r);
        free_row = r;
        r->q = q;
        r->free = true;
        r->told = told;
        r->timed = r->waited = r->paused = false;
        gs_row_leave(r, FREE_CALLS);
        r->n = 0;
        r->ns = 0;
        r->most_ns = GS_ROW_FREE_NS;
        atomic_store(&q->free_row, r);
        atomic_store_explicit(&r->queue, q->o.handle, memory_order_relaxed);
    }
    pthread_mutex_unlock(&free_lock);
    add_marker(marker);
    return first;
}
