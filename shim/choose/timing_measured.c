/* SPDX-License-Identifier: MIT */
/* Launches that are measured, by profiles or the host's clock, and what the book learns (shim/choose/timing.h). */
#include <inttypes.h>

#include "common/log.h"
#include "shim/choose/timing_book.h"
#include "shim/transfer/transfer.h"
#include "shim/order/completion.h"

enum {
    MOST_PENDING = 32,
    MEASURE_NS = 50 * 1000, /* what measuring a launch on one device costs: markers, another queue */
    AFFORDABLE = 500,       /* of the time elapsed, one part for measuring launches of unknown length */
};

struct measurement {
    struct measurement *next;
    struct gs_timing *t;
    cl_event end;
    struct gs_trial trial;
    unsigned dim;
    double cut[GS_MAX_DEVICES], share[GS_MAX_DEVICES];
    cl_event part[GS_MAX_DEVICES];
    struct gs_taken *spent; /* under a daemon: the units' times, in place of profiles; held */
    bool split;
    unsigned place[GS_MAX_DEVICES];
    uint64_t running_ns; /* when the launch was first seen running; 0: never */
};

static cl_ulong profile(cl_event event, cl_profiling_info what)
{
    cl_ulong value = 0;
    return gs_real()->clGetEventProfilingInfo(event, what, sizeof value, &value, NULL) == CL_SUCCESS ? value : 0;
}

/* 0: there is no profile. */
static uint64_t duration(cl_event ran)
{
    const cl_ulong from = profile(ran, CL_PROFILING_COMMAND_START), to = profile(ran, CL_PROFILING_COMMAND_END);
    return from && to > from ? to - from : 0;
}

static void drop_measurement(struct measurement *m)
{
    gs_real()->clReleaseEvent(m->end);
    for (unsigned p = 0; p < GS_MAX_DEVICES; p++)
        GS_RELEASE(Event, m->part[p]);
    gs_taken_drop(m->spent);
    free(m);
}

/* 0: unknown. */
static uint64_t part_took(const struct measurement *m, unsigned p)
{
    if (m->spent)
        return atomic_load(&m->spent->kernel_ns[m->place[p]]);
    return m->part[p] ? duration(m->part[p]) : 0;
}

/* Time by units: of the link, and of the GPU that had most to do. */
static uint64_t units_took(const struct measurement *m)
{
    uint64_t most = 0;
    for (unsigned p = 0; p < m->trial.forecast.n; p++) {
        const uint64_t ns = part_took(m, p) + atomic_load(&m->spent->other_ns[gs_resource_of(m->place[p])]);
        most = ns > most ? ns : most;
    }
    return most + atomic_load(&m->spent->other_ns[GS_RESOURCE_PCI]);
}

/* A split's time by the parts' profiles, each by its device's clock, and by the host's times of enqueueing; 0: unknown.
 * If other work was still before the parts, nobody knows when they could have begun: counts from the first part's
 * begin, plus the transfers' expected time. */
static uint64_t parts_took(const struct measurement *m)
{
    const struct gs_forecast *o = &m->trial.forecast;
    uint64_t begin = UINT64_MAX, end = 0;
    for (unsigned p = 0; p < o->n; p++) {
        const cl_ulong asked = profile(m->part[p], CL_PROFILING_COMMAND_QUEUED);
        const cl_ulong from = profile(m->part[p], CL_PROFILING_COMMAND_START);
        const cl_ulong to = profile(m->part[p], CL_PROFILING_COMMAND_END);
        if (!asked || from < asked || to < from)
            return 0;
        const uint64_t began = m->trial.part_ns[p] + (from - asked), ended = m->trial.part_ns[p] + (to - asked);
        begin = began < begin ? began : begin;
        end = ended > end ? ended : end;
    }
    return m->trial.idle ? end - m->trial.asked_ns
                         : end - begin + (uint64_t)gs_move_ns(&gs_book.machine, o->link, o->scatter);
}

/* A split's time: by its parts, unless their outputs are merged afterwards; else until its end was heard, if it stood
 * first. (A marker behind the split would say more, but NVIDIA's markers that wait for other devices have no usable
 * profiles: 0 or less between two, on H200s.) Never more than until its end was heard. */
static uint64_t split_took(const struct measurement *m, uint64_t longest_ns)
{
    if (m->spent)
        return units_took(m);
    const uint64_t heard_ns = gs_now_ns() - m->trial.asked_ns;
    const uint64_t parts_ns = m->trial.forecast.merge.bytes ? 0 : parts_took(m);
    const uint64_t at_most_ns = m->trial.idle ? heard_ns : 0; /* else the time has waits for earlier commands in it */
    const uint64_t took_ns = parts_ns >= longest_ns ? parts_ns : at_most_ns;
    gs_debug("%s: a split took %" PRIu64 " us by its parts, and was heard of after %" PRIu64, m->t->at->name,
             parts_ns / 1000, heard_ns / 1000);
    return took_ns < heard_ns ? took_ns : heard_ns;
}

static void learn_split(struct measurement *m)
{
    const struct gs_forecast *o = &m->trial.forecast;
    struct gs_machine *machine = &gs_book.machine;
    struct gs_history *h = &m->t->h;
    uint64_t part_ns[GS_MAX_DEVICES], longest_ns = 0, sum_ns = 0;
    bool all = true;
    for (unsigned p = 0; p < o->n; p++) {
        part_ns[p] = part_took(m, p);
        longest_ns = part_ns[p] > longest_ns ? part_ns[p] : longest_ns;
        sum_ns += part_ns[p];
        all = all && part_ns[p];
    }
    const uint64_t took_ns = split_took(m, longest_ns);
    const double alone_ns = machine->unlike ? (double)part_ns[0] / m->cut[0] : (double)sum_ns;
    const struct gs_split_times times = {took_ns, part_ns, m->trial.guessed ? alone_ns : gs_choice_single_ns(h),
                                         m->trial.risk_ns};
    const bool stale = m->trial.moves != h->balance.moves; /* the cut has moved since */
    gs_book.machine_learnt = true;
    /* In multi mode only the cut is learnt. */
    if (!m->trial.forced && machine->unlike && stale)
        gs_choice_learn_budget(&gs_book.budget, &times);
    else if (!m->trial.forced)
        gs_choice_learn_split(h, machine, &gs_book.budget, o, &times);
    if (!all || stale)
        return;
    gs_balance_learn(&h->balance, m->dim, o->n, m->cut, part_ns, machine->unlike ? m->share : NULL);
    gs_choice_move_cut(h, machine, o->link, m->trial.all);
}

void gs_measured_look(void)
{
    for (struct measurement **at = &gs_book.pending; *at;) {
        struct measurement *m = *at;
        cl_int status = CL_COMPLETE;
        gs_real()->clGetEventInfo(m->end, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
        if (status > CL_COMPLETE || (m->spent && !gs_taken_is_complete(m->spent))) {
            if (status == CL_RUNNING && !m->split && !m->spent) {
                const uint64_t now_ns = gs_now_ns();
                m->running_ns = m->running_ns ? m->running_ns : now_ns;
                m->t->begun = true;
                gs_choice_runs(&m->t->h, &gs_book.machine, m->t->at->n, (double)(now_ns - m->running_ns));
            }
            at = &m->next;
            continue;
        }
        *at = m->next;
        gs_book.n_pending--;
        if (status == CL_COMPLETE && m->split) {
            learn_split(m);
        } else if (status == CL_COMPLETE) {
            const uint64_t took_ns = m->spent ? part_took(m, 0) : duration(m->end);
            gs_debug("%s: one device took %" PRIu64 " us", m->t->at->name, took_ns / 1000);
            gs_choice_learn_single(&m->t->h, took_ns);
        }
        drop_measurement(m);
    }
}

void gs_timing_read(uint64_t bytes, uint64_t took_ns, bool several)
{
    GS_LOCKED(&gs_book.lock);
    if (gs_book.learnt_name[0])
        gs_choice_learn_read(&gs_book.machine, bytes, took_ns, several);
}

bool gs_measured_splits(const struct gs_timing *t)
{
    const struct measurement *m = gs_book.pending;
    while (m && (m->t != t || !m->split))
        m = m->next;
    return m;
}

bool gs_measured_has_room(void)
{
    return gs_book.n_pending < MOST_PENDING;
}

bool gs_timing_measures(struct gs_timing *t)
{
    GS_LOCKED(&gs_book.lock);
    const uint64_t spent_ns = (uint64_t)(gs_book.n_measured + 1) * MEASURE_NS;
    const bool affordable = spent_ns < (gs_now_ns() - gs_book.budget.begin_ns) / AFFORDABLE;
    return !t->refused && gs_measured_has_room() && t->h.together.state != GS_STRETCH_ASKED &&
           gs_choice_wants_single(&t->h, &gs_book.machine, t->at->n, affordable);
}

/* The index of t in the stretch; s->n: it is not there. */
static unsigned find_seen(const struct gs_stretch *s, const struct gs_timing *t)
{
    unsigned i = 0;
    while (i < s->n && s->seen[i].of != t)
        i++;
    return i;
}

/* Ends the stretch with the last wait: the application's reads after the launches count. With the book's lock. */
static void end_stretch(struct gs_stretch *s, uint64_t end_ns)
{
    /* Devices that differ: the cut may be wrong yet, and moves on (balance.c). */
    for (unsigned i = 0; i < s->n && !s->unknown && !gs_book.machine.unlike; i++)
        gs_stretch_learn(&s->seen[i].of->h.together, (double)(end_ns - s->begin_ns), s->single_ns, s->split, s->first);
    s->n = 0;
}

void gs_timing_enqueues(struct gs_queue *q, struct gs_timing *t, uint64_t to_read)
{
    struct gs_stretch *s = &q->times->stretch;
    const uint64_t end_ns = atomic_load_explicit(&gs_book.waited_ns, memory_order_relaxed), now_ns = gs_now_ns();
    gs_time_is(now_ns);
    GS_LOCKED(&gs_book.lock);
    t->before_ns = t->last_ns;
    t->last_ns = now_ns;
    t->h.read_bytes = (double)to_read;
    if (to_read && !gs_choice_is_short(&t->h, &gs_book.machine, t->at->n))
        gs_size_pass(t->at, 0);
    if (end_ns > s->last_ns && (s->n == GS_SEEN || find_seen(s, t) < s->n))
        end_stretch(s, end_ns);
    if (!s->n)
        *s = (struct gs_stretch){.begin_ns = now_ns, .empty_ns = s->empty_ns};
    if (!atomic_load(&q->launched))
        s->empty_ns = now_ns;
    s->making_ns = gs_paths_made_ns(q->o.ctx);
}

/* Notes the launch for the waits to come. */
static void note(struct gs_queue *q, struct gs_timing *t, double single_ns, bool split, bool first, uint64_t now_ns)
{
    struct gs_stretch *s = &q->times->stretch;
    const unsigned i = find_seen(s, t);
    s->last_ns = now_ns;
    s->split |= split;
    s->first |= first;
    s->single_ns += single_ns;
    s->unknown |= single_ns <= 0 || i == GS_SEEN;
    if (i == GS_SEEN)
        return;
    if (i == s->n) {
        s->seen[s->n++].of = t;
        s->seen[i].launches = 0;
    }
    s->seen[i].launches += !split;
    atomic_store_explicit(&q->launched, true, memory_order_relaxed);
}

void gs_timing_enqueued(struct gs_queue *q, struct gs_timing *t, bool split, struct gs_kernel_stats *stats)
{
    const uint64_t now_ns = gs_now_ns(), until_ns = atomic_load(&q->times->busy_until_ns);
    const uint64_t made_ns = gs_paths_made_ns(q->o.ctx) - q->times->stretch.making_ns;
    pthread_mutex_lock(&gs_book.lock);
    const double one_ns = t->h.single_ns, parts_ns = t->h.split_ns, single_ns = gs_choice_single_ns(&t->h);
    const double at_most_ns = (double)t->h.bound_ns;
    const bool unplanned = t->h.unplanned, first = split && gs_choice_first_split(&t->h);
    gs_book.budget.lost_ns += (double)made_ns;
    q->times->stretch.begin_ns += made_ns;
    pthread_mutex_unlock(&gs_book.lock);
    const double ns = split ? parts_ns : one_ns;
    if (gs_settings()->stats)
        gs_report_choice(stats, one_ns > 0 ? (uint64_t)one_ns : 0, parts_ns > 0 ? (uint64_t)parts_ns : 0, unplanned);
    if (ns > 0)
        atomic_store(&q->times->busy_until_ns, (until_ns > now_ns ? until_ns : now_ns) + (uint64_t)ns);
    note(q, t, single_ns > 0 ? single_ns : at_most_ns, split, first, now_ns);
}

uint64_t gs_timing_waited(void)
{
    const uint64_t now_ns = gs_now_ns();
    gs_time_is(now_ns);
    atomic_store_explicit(&gs_book.waited_ns, now_ns, memory_order_relaxed);
    gs_callbacks_await();
    return now_ns;
}

void gs_timing_begin_wait(struct gs_queue *q, struct gs_stretch *before)
{
    struct gs_stretch *s = &q->times->stretch;
    GS_LOCKED(&q->o.ctx->lock);
    *before = *s;
    for (unsigned i = 0; i < s->n; i++)
        s->seen[i].launches = 0;
    atomic_store(&q->times->busy_until_ns, 0);
    atomic_store_explicit(&q->launched, false, memory_order_relaxed);
}

void gs_timing_after_wait(const struct gs_stretch *before, cl_int err)
{
    const uint64_t now_ns = gs_timing_waited();
    if (!before->n && !gs_book.n_pending)
        return;
    pthread_mutex_lock(&gs_book.lock);
    for (unsigned i = 0; i < before->n && !err; i++)
        if (before->seen[i].launches)
            gs_choice_learn_bound(&before->seen[i].of->h, now_ns - before->empty_ns, before->seen[i].launches);
    gs_measured_look();
    pthread_mutex_unlock(&gs_book.lock);
    for (unsigned i = 0; i < before->n; i++)
        if (before->seen[i].of->asks)
            gs_leave_for_later(before->seen[i].of);
}

void gs_timing_learn(struct gs_timing *t, const struct gs_trial *split, struct gs_taken *spent, cl_event end)
{
    struct measurement *m = calloc(1, sizeof *m), **last = &gs_book.pending;
    if (!m || gs_real()->clRetainEvent(end) != CL_SUCCESS) {
        free(m);
        return;
    }
    m->t = t;
    m->end = end;
    m->split = split;
    m->spent = spent;
    if (spent)
        atomic_fetch_add(&spent->refs, 1);
    if (split) {
        m->trial = *split;
        m->dim = split->plan->dim;
        gs_forecast_cut(split->plan, m->cut);
        gs_forecast_shares(split->plan, m->share);
        memcpy(m->place, split->place, sizeof m->place);
    }
    for (unsigned p = 0; split && !spent && p < split->plan->n_parts; p++)
        if (gs_real()->clRetainEvent(split->part[p]) == CL_SUCCESS)
            m->part[p] = split->part[p];
    GS_LOCKED(&gs_book.lock);
    while (*last) /* in their order, so that the last ones' times stay */
        last = &(*last)->next;
    *last = m;
    gs_book.n_pending++;
    gs_book.n_measured++;
    m->t->h.asked += !m->split;
    m->t->h.asked_split += m->split;
}
