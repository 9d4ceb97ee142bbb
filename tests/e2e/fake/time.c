/* SPDX-License-Identifier: MIT */
/* Where time passes (FAKE_ITEM_NS): when commands begin and end. */
#include "fake.h"

#include <sched.h>
#include <time.h>

/* No mutex: programs count those that a call locks. */
static atomic_flag time_lock = ATOMIC_FLAG_INIT; /* the commands whose ends aren't known, oldest first */
static cl_event open_first, *open_last = &open_first;
static cl_ulong last_end_ns; /* of all commands whose ends are known */

cl_ulong fake_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (cl_ulong)t.tv_sec * 1000000000 + (cl_ulong)t.tv_nsec;
}

void fake_sleep_until(cl_ulong ns)
{
    const struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    if (fake.item_ns > 0)
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

void fake_lock_time(void)
{
    while (atomic_flag_test_and_set_explicit(&time_lock, memory_order_acquire))
        sched_yield();
}

void fake_unlock_time(void)
{
    atomic_flag_clear_explicit(&time_lock, memory_order_release);
}

/* False: it waits for what isn't known. With time_lock held. */
static bool find_end(cl_event e)
{
    cl_ulong begin = e->begin_ns;
    for (cl_uint i = 0; i < e->n_waits; i++) {
        const cl_ulong end = atomic_load(&e->waits[i]->end_ns);
        if (end == OPEN_NS)
            return false;
        begin = end > begin ? end : begin;
    }
    if (e->kernel) { /* a device runs them one after the other, whatever their queues */
        cl_device_id device = e->queue->device;
        begin = device->end_ns > begin ? device->end_ns : begin;
        device->end_ns = begin + e->took_ns;
    }
    e->begin_ns = begin;
    atomic_store(&e->end_ns, begin + e->took_ns);
    last_end_ns = begin + e->took_ns > last_end_ns ? begin + e->took_ns : last_end_ns;
    return true;
}

void fake_find_ends(void)
{
    for (cl_event e, *at = &open_first; (e = *at);) {
        if (!find_end(e)) {
            at = &e->next;
            continue;
        }
        *at = e->next;
        if (!e->next)
            open_last = at;
        for (cl_uint i = 0; i < e->n_waits; i++)
            clReleaseEvent(e->waits[i]);
        free(e->waits);
        clReleaseEvent(e);
    }
}

void fake_sleep_until_end(cl_event e)
{
    if (!(fake.item_ns > 0))
        return;
    while (atomic_load(&e->end_ns) == OPEN_NS)
        fake_sleep_until(fake_now_ns() + 20000);
    fake_sleep_until(atomic_load(&e->end_ns));
}

bool fake_take_time(cl_event e, cl_command_queue queue, cl_uint n, const cl_event *wait)
{
    if (!(e->waits = calloc(n + 1, sizeof *wait)))
        return false;
    for (cl_uint i = 0; i < n; i++)
        e->waits[e->n_waits++] = wait[i];
    fake_lock_time();
    if (queue->last)
        e->waits[e->n_waits++] = queue->last;
    for (cl_uint i = 0; i < e->n_waits; i++)
        clRetainEvent(e->waits[i]);
    if (queue->last)
        clReleaseEvent(queue->last);
    queue->last = e;
    atomic_fetch_add(&e->refs, 2); /* the queue's, and the list's */
    atomic_store(&e->end_ns, OPEN_NS);
    *open_last = e;
    open_last = &e->next;
    fake_find_ends();
    fake_unlock_time();
    return true;
}

bool fake_is_idle(void)
{
    fake_lock_time();
    const bool idle = !open_first && last_end_ns <= fake_now_ns();
    fake_unlock_time();
    return idle;
}
