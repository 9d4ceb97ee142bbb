/* SPDX-License-Identifier: MIT */
#include "shim/schedule/take.h"

#include "shim/report/report.h"

void gs_take_back(struct gs_deferred *h)
{
    gs_worker_forget(h);
    if (gs_is_taken(h))
        gs_unit_on(h->unit, GS_UNIT_FORGET);
}

/* A launch on one GPU waits a moment in the call: it needs no gate then, nor anybody who opens it. On an H200, behind
 * another process's chunks, the gate and the wait for an event behind it took some 80 us, and 300 at times; and what is
 * enqueued behind a gate takes the GPU from the process that has it for 0.2 ms. */
static uint64_t wait_in_call_ns(const struct gs_deferred *h, const struct gs_job *job)
{
    enum { MOST_NS = 1000 * 1000 };
    return job->scheduled && job->n == 1 && h->resource != GS_RESOURCE_PCI ? MOST_NS : 0;
}

/* What asks for a resource that isn't the application's waits a moment in the call as well: where nobody else has it
 * the daemon grants it within 50 us, and after one gate NVIDIA's driver keeps a thread awake for 0.1 to 0.3 s, with
 * which each call of the application contends: launches of 4.3 us took 5.9 to 7.8 (H200). */
static uint64_t wait_first_ns(const struct gs_deferred *h)
{
    enum { MOST_NS = 500 * 1000, AGAIN_NS = 100 * 1000 * 1000 };
    const uint64_t vain = atomic_load(&gs_deferred_list.vain_ns[h->resource]);
    return !gs_unit_is_ours(h->resource) && (!vain || gs_now_ns() > vain + AGAIN_NS) ? MOST_NS : 0;
}

/* Asks for it in this thread: where the process has nothing else under way, or for the first time in a while. */
static bool ask_unit(struct gs_deferred *h, bool idle)
{
    struct gs_job job;
    gs_job_now(&job);
    pthread_mutex_lock(&gs_deferred_list.lock);
    const bool only = idle && !gs_deferred_list.oldest;
    pthread_mutex_unlock(&gs_deferred_list.lock);
    const uint64_t first_ns = wait_first_ns(h), ns = only ? wait_in_call_ns(h, &job) : 0;
    const bool granted = (only || first_ns) && gs_worker_ask(h, ns > first_ns ? ns : first_ns, job.told);
    if (first_ns && !granted)
        atomic_store(&gs_deferred_list.vain_ns[h->resource], gs_now_ns());
    return granted;
}

static bool try_unit(struct gs_deferred *h, bool idle)
{
    if (gs_unit_try(h->unit, h->resource, h->length))
        return true;
    gs_units_look(h->resource, NULL, NULL);
    return gs_unit_try(h->unit, h->resource, h->length) || ask_unit(h, idle);
}

/* Where no other application is connected nobody waits for a unit which is held while its command can't run yet: what
 * is in the queue, and in the wait list, has the units that it needs, so that it comes to its end; not where it may
 * wait for a thread of ours that has yet to ask for some. With gs_deferred_list.lock held. */
static bool may_at_will(const struct gs_deferred *h, const struct gs_queue *q)
{
    return gs_unit_is_sole() && !atomic_load(&gs_deferred_list.owed) && !(h->home == q->o.handle && q->out_of_order) &&
           !atomic_load(&q->o.ctx->user_events) && gs_deferred_all_served();
}

bool gs_take_now(struct gs_deferred *h, const struct gs_queue *q, bool may_chain)
{
    pthread_mutex_lock(&gs_deferred_list.lock);
    const struct gs_deferred *before = may_chain ? gs_deferred_last_in(h->home) : NULL;
    /* A call may consist of several commands, or another thread's has come meanwhile: nothing waits behind a gate. A
     * queue of ours holds nothing else: there gate, marker and thread took 30 us of the 70 of each piece of the ring
     * (an H200). */
    const bool idle = may_chain && (h->home == q->o.handle ? gs_timeline_ended_before(q->timeline, h->call) &&
                                                                 (!before || gs_is_served(before))
                                                           : !before);
    h->behind = idle ? GS_BEHIND_NOTHING : gs_is_next(before, h->resource, h->call) ? GS_BEHIND_LAST : GS_BEHIND_OTHERS;
    const bool now = h->behind == GS_BEHIND_LAST ? gs_is_served(before) : idle || may_at_will(h, q);
    pthread_mutex_unlock(&gs_deferred_list.lock);
    if (now && try_unit(h, idle && h->home == q->o.handle) && h->behind == GS_BEHIND_OTHERS)
        h->behind = GS_BEHIND_LAST;
    return h->behind == GS_BEHIND_OTHERS || (h->behind == GS_BEHIND_LAST && gs_is_several(h));
}
