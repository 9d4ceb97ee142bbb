/* SPDX-License-Identifier: MIT */
#include "shim/fast_path/fast_path.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/lock/rank.h"

#include "shim/process/process.h"

enum { LOOK = 64 };

struct gs_fast_path gs_fast_path = {.care = GS_CARE_START};
struct gs_fast_path_thread gs_fast_path_threads[GS_FAST_PATH_THREADS];

static struct {
    pthread_mutex_t lock;
    atomic_bool barriers; /* the kernel has them: without, nobody gets a place */
} start = {.lock = PTHREAD_MUTEX_INITIALIZER};
GS_RANKED(start.lock, GS_RANK_FAST_PATH_START);

/* As long as the process has one thread this takes no time; later the kernel waits for all processors, for 10 ms. */
__attribute__((constructor)) static void register_barriers(void)
{
    atomic_store(&start.barriers, syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0);
}

static bool is_whole(const struct _cl_icd_dispatch *real)
{
    return real->clReleaseEvent && real->clWaitForEvents && real->clFinish;
}

void gs_fast_path_start(void)
{
    const struct gs_settings *s = gs_settings();
    const struct _cl_icd_dispatch *real = gs_real();
    if (!gs_fast_path_cares(GS_CARE_START) || !is_whole(real))
        return;
    pthread_mutex_lock(&start.lock);
    if (gs_fast_path_cares(GS_CARE_START)) {
        gs_fast_path.release_event = real->clReleaseEvent;
        gs_fast_path.wait = real->clWaitForEvents;
        if (s->transfer == GS_TRANSFER_AUTO || s->transfer == GS_TRANSFER_PLAIN)
            atomic_store(&gs_fast_path.small_bytes, GS_SMALL_BYTES);
        if (s->stats || s->trace || s->remote || s->pooled)
            gs_fast_path_care(GS_CARE_WATCHED);
        if (s->pace)
            gs_fast_path_care(GS_CARE_DAEMON);
        atomic_fetch_and(&gs_fast_path.care, ~(unsigned)GS_CARE_START);
    }
    pthread_mutex_unlock(&start.lock);
}

/* Is the place this thread's, or has it become so? */
static bool take_place(struct gs_fast_path_thread *t)
{
    void *nobody = NULL;
    if (gs_fast_path_is_mine(t))
        return true;
    return !atomic_load_explicit(&t->owner, memory_order_relaxed) &&
           atomic_compare_exchange_strong(&t->owner, &nobody, __builtin_thread_pointer());
}

void gs_fast_path_look(void)
{
    struct gs_fast_path_thread *t = gs_fast_path_thread();
    if (gs_fast_path_cares(~0u) || !atomic_load_explicit(&start.barriers, memory_order_relaxed) || !take_place(t))
        return;
    if (!atomic_load_explicit(&t->until_look, memory_order_relaxed)) /* else it came for another reason */
        atomic_store_explicit(&t->until_look, LOOK, memory_order_relaxed);
}

void gs_fast_path_barrier(void)
{
    const void *self = __builtin_thread_pointer();
    if (!atomic_load(&start.barriers))
        return;
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    for (unsigned i = 0; i < GS_FAST_PATH_THREADS; i++)
        while (atomic_load_explicit(&gs_fast_path_threads[i].passing, memory_order_acquire) &&
               atomic_load(&gs_fast_path_threads[i].owner) != self)
            sched_yield();
}
