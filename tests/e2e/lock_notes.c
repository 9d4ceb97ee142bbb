/* SPDX-License-Identifier: MIT */
/* Part of the shim that the tests load in its place: writes a line for each GS_NOTE (common/lock/rank.h) into the file
 * GS_NOTES, with the thread before it, and lines of its own: `wait` where a thread of the process begins to wait for
 * events, a queue or a condition, `set` for a user event's status, and `end` once the process ends and all that is
 * under way by units has ended. model.py replays the file. A line is written before what it says can be seen by others,
 * but for grants, which it follows. */
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/lock/rank.h"
#include "shim/process/threads.h"
#include "shim/schedule/deferred.h"

static int file = -1;
static struct _cl_icd_dispatch below;
static atomic_int grants; /* that are out */
static atomic_bool begun;

static cl_int CL_API_CALL wait_for_events(cl_uint n, const cl_event *events)
{
    GS_WAITS("an event", NULL);
    gs_note("wait events");
    return below.clWaitForEvents(n, events);
}

static cl_int CL_API_CALL finish(cl_command_queue queue)
{
    GS_WAITS("a queue", NULL);
    gs_note("wait queue");
    return below.clFinish(queue);
}

static cl_int CL_API_CALL set_status(cl_event event, cl_int status)
{
    gs_note("set %p %d", (void *)event, status);
    return below.clSetUserEventStatus(event, status);
}

static cl_int CL_API_CALL build(cl_program program, cl_uint n, const cl_device_id *devices, const char *options,
                                void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
    GS_WAITS("the compiler", NULL);
    return below.clBuildProgram(program, n, devices, options, notify, data);
}

static void begin(void)
{
    const char *path = getenv("GS_NOTES");
    file = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644) : -1;
    if (file < 0)
        return;
    atomic_store(&begun, true);
}

static void see_waits(void)
{
    below = gs_real_table;
    gs_real_table.clWaitForEvents = wait_for_events;
    gs_real_table.clFinish = finish;
    gs_real_table.clBuildProgram = build;
    gs_real_table.clSetUserEventStatus = set_status;
}

static pthread_once_t loaded = PTHREAD_ONCE_INIT;

void __real_gs_real_load(void);
void __wrap_gs_real_load(void);
void __wrap_gs_real_load(void)
{
    __real_gs_real_load();
    pthread_once(&loaded, see_waits);
}

bool __real_gs_real_use(const struct _cl_icd_dispatch *driver, unsigned n_entries);
bool __wrap_gs_real_use(const struct _cl_icd_dispatch *driver, unsigned n_entries);
bool __wrap_gs_real_use(const struct _cl_icd_dispatch *driver, unsigned n_entries)
{
    const bool used = __real_gs_real_use(driver, n_entries);
    pthread_once(&loaded, see_waits);
    return used;
}

void gs_note(const char *format, ...)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    char line[200];
    pthread_once(&once, begin);
    if (file < 0)
        return;
    atomic_fetch_add(&grants, !strncmp(format, "grant", 5) - !strncmp(format, "give", 4));
    int n = snprintf(line, sizeof line, "%d ", (int)gettid());
    va_list args;
    va_start(args, format);
    n += vsnprintf(line + n, sizeof line - (size_t)n, format, args);
    va_end(args);
    line[n++] = '\n';
    if (write(file, line, (size_t)n) != n)
        abort();
}

int __real_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
    GS_WAITS("a condition", m);
    if (atomic_load(&begun))
        gs_note("wait condition");
    return __real_pthread_cond_wait(c, m);
}

int __real_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until);
int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until);
int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until)
{
    GS_WAITS("a condition", m);
    return __real_pthread_cond_timedwait(c, m, until);
}

int __real_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result)
{
    GS_WAITS("a thread", NULL);
    return __real_pthread_join(thread, result);
}

int __real_nanosleep(const struct timespec *pause, struct timespec *left);
int __wrap_nanosleep(const struct timespec *pause, struct timespec *left);
int __wrap_nanosleep(const struct timespec *pause, struct timespec *left)
{
    GS_WAITS_FOR("a while", NULL, (uint64_t)pause->tv_sec * GS_S + (uint64_t)pause->tv_nsec);
    return __real_nanosleep(pause, left);
}

int __real_gs_spawn(const char *path, const char *input, size_t bytes, int timeout_ms, uint64_t memory_bytes,
                    char **output, size_t *output_bytes, const char **how);
int __wrap_gs_spawn(const char *path, const char *input, size_t bytes, int timeout_ms, uint64_t memory_bytes,
                    char **output, size_t *output_bytes, const char **how);
int __wrap_gs_spawn(const char *path, const char *input, size_t bytes, int timeout_ms, uint64_t memory_bytes,
                    char **output, size_t *output_bytes, const char **how)
{
    GS_WAITS("a program of ours", NULL);
    return __real_gs_spawn(path, input, bytes, timeout_ms, memory_bytes, output, output_bytes, how);
}

static bool is_busy(void)
{
    pthread_mutex_lock(&gs_deferred_list.lock);
    const bool any = gs_deferred_list.oldest;
    pthread_mutex_unlock(&gs_deferred_list.lock);
    return any || atomic_load(&grants);
}

void __real_gs_threads_finish(void);
void __wrap_gs_threads_finish(void);
/* The process has begun to end. What isn't over after so long never will be. */
void __wrap_gs_threads_finish(void)
{
    enum { PAUSE_NS = 1000 * 1000, MOST_PAUSES = 30 * 1000 };
    static const struct timespec pause = {.tv_nsec = PAUSE_NS};
    static atomic_bool said;
    if (atomic_load(&begun) && !atomic_exchange(&said, true)) {
        for (int i = 0; i < MOST_PAUSES && is_busy(); i++)
            __real_nanosleep(&pause, NULL);
        gs_note("end");
    }
    __real_gs_threads_finish();
}
