/* SPDX-License-Identifier: MIT */
#include "shim/events/gates.h"

#include <unistd.h>

#include "common/lock/locked.h"
#include "common/lock/rank.h"
#include "common/log.h"
#include "shim/driver/upward.h"
#include "shim/process/process.h"
#include "shim/process/threads.h"

/* A gate that is shut, or a release that waits for the gates before. */
struct entry {
    struct entry *next;
    cl_event gate; /* null: a release */
    bool opening;  /* somebody sets its status */
    cl_int (*of)(void *object);
    void *object;
};

static struct {
    cl_int(CL_API_CALL *release)(cl_mem mem); /* the driver's function; written before anybody calls */
    atomic_uint n;                            /* of entries: read without the lock */
    pthread_mutex_t lock;                     /* all below */
    pthread_cond_t news;                      /* a release is the first */
    struct entry *first, **end;               /* from the oldest */
} gates = {.lock = PTHREAD_MUTEX_INITIALIZER, .news = PTHREAD_COND_INITIALIZER, .end = &gates.first};
GS_RANKED(gates.lock, GS_RANK_GATES);

static __thread bool opens; /* the caller is opening a gate */

/* With the lock held, as for take_out. */
static void append(struct entry *e)
{
    *gates.end = e;
    gates.end = &e->next;
    atomic_fetch_add(&gates.n, 1);
}

static void take_out(struct entry **at)
{
    struct entry *e = *at;
    if (!(*at = e->next))
        gates.end = at;
    free(e);
    atomic_fetch_sub(&gates.n, 1);
    if (gates.first && !gates.first->gate)
        pthread_cond_signal(&gates.news);
}

/* A thread of its own, since who opens a gate may hold locks or be called back by the driver, and what is released may
 * call the application. */
static void *release_due(void *unused)
{
    (void)unused;
    GS_LOCKED(&gates.lock);
    for (;;) {
        while (!gates.first || gates.first->gate)
            pthread_cond_wait(&gates.news, &gates.lock);
        struct entry *e = gates.first; /* remains so: others only take gates out */
        pthread_mutex_unlock(&gates.lock);
        gs_threads_serve_wait();
        e->of(e->object);
        gs_threads_served();
        pthread_mutex_lock(&gates.lock);
        take_out(&gates.first);
    }
    return NULL;
}

static void start_thread(void)
{
    gs_threads_start("gs-release", NULL, release_due, NULL);
}

/* Is there more than gates that are being opened? Waits a moment for these, since who releases after a command's end
 * may count on it: the memory is free, the driver looks at the host's no more. With the lock held. */
static bool await_opening(void)
{
    enum { TRIES = 100, PAUSE_US = 20 };
    GS_MAY_WAIT("a gate that is being opened", 10 * GS_MS);
    for (int i = 0; i < TRIES && gates.first && !opens; i++) {
        const struct entry *e = gates.first;
        while (e && e->opening)
            e = e->next;
        if (e)
            break;
        pthread_mutex_unlock(&gates.lock);
        usleep(PAUSE_US);
        pthread_mutex_lock(&gates.lock);
    }
    return gates.first;
}

bool gs_gate_waits(cl_int (*of)(void *), void *object)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (!atomic_load(&gates.n) || gs_forked())
        return false;
    pthread_once(&once, start_thread);
    struct entry *e = malloc(sizeof *e);
    if (e)
        *e = (struct entry){.of = of, .object = object};
    GS_LOCKED(&gates.lock);
    const bool waits = await_opening();
    if (waits && e) /* without memory, or a thread, the object stays for good */
        append(e);
    else
        free(e);
    return waits;
}

cl_event gs_gate_new(cl_context ctx, cl_int *err)
{
    struct entry *e = malloc(sizeof *e);
    *err = CL_OUT_OF_HOST_MEMORY;
    const cl_event event = e ? gs_real()->clCreateUserEvent(ctx, err) : NULL;
    if (*err) {
        free(e);
        return NULL;
    }
    *e = (struct entry){.gate = event};
    GS_LOCKED(&gates.lock);
    append(e);
    return event;
}

/* Where the gate is in the list, or its end. With the lock held. */
static struct entry **find(cl_event gate)
{
    struct entry **at = &gates.first;
    while (*at && (*at)->gate != gate)
        at = &(*at)->next;
    return at;
}

cl_int gs_event_end(cl_event event, cl_int status)
{
    enum { TRIES = 3 };
    const bool opened = opens;
    cl_int err = CL_INVALID_EVENT;
    pthread_mutex_lock(&gates.lock);
    if (*find(event))
        (*find(event))->opening = true;
    pthread_mutex_unlock(&gates.lock);
    opens = true;
    for (int i = 0; i < TRIES && err; i++)
        err = gs_real()->clSetUserEventStatus(event, status);
    opens = opened;
    if (err)
        gs_debug("the driver doesn't take the end of an event (error %d)", err);
    GS_LOCKED(&gates.lock);
    if (*find(event))
        take_out(find(event));
    return err;
}

/* ---- the driver's function ---- */

cl_int gs_release_now(cl_mem mem)
{
    return gates.release(mem);
}

static cl_int release_later(void *mem)
{
    return gates.release(mem);
}

static cl_int CL_API_CALL release(cl_mem mem)
{
    return mem && gs_gate_waits(release_later, mem) ? CL_SUCCESS : gates.release(mem);
}

static void loaded(struct _cl_icd_dispatch *table)
{
    gates.release = table->clReleaseMemObject;
    table->clReleaseMemObject = gates.release ? release : NULL;
}

const struct gs_above_events gs_above_events = {.loaded = loaded};
