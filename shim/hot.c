/* SPDX-License-Identifier: MIT */
#include "shim/hot.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim/group.h"
#include "shim/watch.h"

enum { LOOK = 64 };

struct gs_hot gs_hot = {.care = GS_CARE_START};
struct gs_hot_thread gs_hot_threads[GS_HOT_THREADS];

static atomic_bool barriers; /* the kernel has them: without, nobody gets a place */

static bool is_whole(const struct _cl_icd_dispatch *real)
{
    return real->clSetKernelArg && real->clEnqueueNDRangeKernel && real->clEnqueueWriteBuffer &&
           real->clEnqueueReadBuffer && real->clReleaseEvent && real->clWaitForEvents && real->clFinish;
}

void gs_hot_start(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const struct gs_settings *s = gs_settings();
    const struct _cl_icd_dispatch *real = gs_real();
    if (!gs_hot_cares(GS_CARE_START) || !is_whole(real))
        return;
    pthread_mutex_lock(&lock);
    if (gs_hot_cares(GS_CARE_START)) {
        gs_hot.set_arg = real->clSetKernelArg;
        gs_hot.launch = real->clEnqueueNDRangeKernel;
        gs_hot.write = real->clEnqueueWriteBuffer;
        gs_hot.read = real->clEnqueueReadBuffer;
        gs_hot.release_event = real->clReleaseEvent;
        gs_hot.wait = real->clWaitForEvents;
        if (s->transfer == GS_TRANSFER_AUTO || s->transfer == GS_TRANSFER_PLAIN)
            atomic_store(&gs_hot.small_bytes, GS_SMALL_BYTES);
        if (s->stats || s->trace)
            gs_hot_care(GS_CARE_WATCHED);
        if (s->pace)
            gs_hot_care(GS_CARE_DAEMON);
        atomic_store(&barriers, syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0);
        atomic_fetch_and(&gs_hot.care, ~(unsigned)GS_CARE_START);
    }
    pthread_mutex_unlock(&lock);
}

/* Is the place this thread's, or has it become so? */
static bool take(struct gs_hot_thread *t)
{
    void *nobody = NULL;
    if (gs_hot_is_mine(t))
        return true;
    return !atomic_load_explicit(&t->owner, memory_order_relaxed) &&
           atomic_compare_exchange_strong(&t->owner, &nobody, __builtin_thread_pointer());
}

bool gs_hot_take(void)
{
    return atomic_load_explicit(&barriers, memory_order_relaxed) && take(gs_hot_thread());
}

void gs_hot_look(void)
{
    struct gs_hot_thread *t = gs_hot_thread();
    if (gs_hot_cares(~0u) || !gs_hot_take())
        return;
    const unsigned left = atomic_load_explicit(&t->until_look, memory_order_relaxed);
    if (left) /* it came for another reason */
        return;
    const uint64_t now_ns = gs_now_ns();
    t->fast = now_ns - t->looked_ns < LOOK * (uint64_t)GS_HOT_FAST_NS;
    t->looked_ns = now_ns;
    atomic_store_explicit(&t->until_look, LOOK, memory_order_relaxed);
}

bool gs_hot_is_fast(void)
{
    struct gs_hot_thread *t = gs_hot_thread();
    return !gs_hot_cares(~0u) && gs_hot_is_mine(t) && t->fast;
}

void gs_hot_bar(void)
{
    const void *self = __builtin_thread_pointer();
    if (!atomic_load(&barriers))
        return;
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    for (unsigned i = 0; i < GS_HOT_THREADS; i++)
        while (atomic_load_explicit(&gs_hot_threads[i].passing, memory_order_acquire) &&
               atomic_load(&gs_hot_threads[i].owner) != self)
            sched_yield();
}
