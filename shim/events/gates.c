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
    struct entry *next, **at; /* in the list: the next one, and what leads to this one */
    cl_event gate;            /* null: a release */
    bool opening;             /* somebody sets its status */
    struct entry *same;       /* the next gate with the same hash */
    void (*of)(void *object);
    void *object;
};

enum { HASHES = 4096 };

static struct {
    cl_int(CL_API_CALL *release)(cl_mem mem); /* the driver's function; written before anybody calls */
    atomic_uint n;                            /* of entries: read without the lock */
    atomic_bool has_thread;                   /* likewise */
    pthread_mutex_t lock;                     /* all below */
    pthread_cond_t news;                      /* a release is the first */
    struct entry *first, **end;               /* from the oldest */
    struct entry *shut[HASHES];               /* the gates, by hash */
} gates = {.lock = PTHREAD_MUTEX_INITIALIZER, .news = PTHREAD_COND_INITIALIZER, .end = &gates.first};
GS_RANKED(gates.lock, GS_RANK_GATES);

static __thread bool within; /* the caller is opening a gate, or is the thread that releases */

/* What leads to the gate among those with its hash; to null: it isn't shut. With the lock, as for the next ones. */
static struct entry **find(cl_event gate)
{
    struct entry **at = &gates.shut[((uintptr_t)gate >> 4) % HASHES];
    while (*at && (*at)->gate != gate)
        at = &(*at)->same;
    return at;
}

static void append(struct entry *e)
{
    e->at = gates.end;
    *gates.end = e;
    gates.end = &e->next;
    if (e->gate)
        *find(e->gate) = e;
    atomic_fetch_add(&gates.n, 1);
    if (!gates.first->gate)
        pthread_cond_signal(&gates.news);
}

static void take_out(struct entry *e)
{
    *e->at = e->next;
    *(e->next ? &e->next->at : &gates.end) = e->at;
    if (e->gate)
        *find(e->gate) = e->same;
    free(e);
    atomic_fetch_sub(&gates.n, 1);
    if (gates.first && !gates.first->gate)
        pthread_cond_signal(&gates.news);
}

/* Does anything stand behind a gate that nobody is opening? If not, waits a moment for the thread, since who releases
 * after a command's end may count on it: the memory is free, the driver looks at the host's no more. With the lock. */
static bool await_due(void)
{
    enum { TRIES = 100, PAUSE_US = 20 };
    GS_MAY_WAIT("gates that are being opened, and what stood behind them", 10 * GS_MS);
    for (int i = 0; i < TRIES && gates.first && !within; i++) {
        const struct entry *e = gates.first;
        while (e && (e->opening || !e->gate))
            e = e->next;
        if (e)
            break;
        pthread_mutex_unlock(&gates.lock);
        usleep(PAUSE_US);
        pthread_mutex_lock(&gates.lock);
    }
    return gates.first;
}

/* Else a destructor callback that the application has seen due would be lost. */
static void await_due_at_exit(void)
{
    if (gs_forked() || !gs_lock_soon(&gates.lock))
        return;
    await_due();
    pthread_mutex_unlock(&gates.lock);
}

/* A thread of its own, since who opens a gate may hold locks or be called back by the driver, and what is released may
 * call the application. */
static void *release_due(void *unused)
{
    (void)unused;
    within = true;
    atexit(await_due_at_exit);
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
        take_out(e);
    }
    return NULL;
}

bool gs_gates_start(void)
{
    if (!atomic_exchange(&gates.has_thread, true) && !gs_threads_start("gs-release", NULL, release_due, NULL))
        atomic_store(&gates.has_thread, false);
    return atomic_load(&gates.has_thread);
}

bool gs_gate_waits(void (*of)(void *), void *object, bool always)
{
    if (!always && (!atomic_load(&gates.n) || gs_forked()))
        return false;
    gs_gates_start(); /* if not, what waits does so until a later release has more luck */
    struct entry *e = malloc(sizeof *e);
    if (e)
        *e = (struct entry){.of = of, .object = object};
    GS_LOCKED(&gates.lock);
    const bool waits = always || await_due();
    if (waits && e) /* without memory the object stays for good */
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

cl_int gs_event_end(cl_event event, cl_int status)
{
    enum { TRIES = 3 };
    const bool was_within = within;
    cl_int err = CL_INVALID_EVENT;
    pthread_mutex_lock(&gates.lock);
    if (*find(event))
        (*find(event))->opening = true;
    pthread_mutex_unlock(&gates.lock);
    within = true;
    for (int i = 0; i < TRIES && err; i++)
        err = gs_real()->clSetUserEventStatus(event, status);
    within = was_within;
    if (err)
        gs_debug("the driver doesn't take the end of an event (error %d)", err);
    GS_LOCKED(&gates.lock);
    if (*find(event))
        take_out(*find(event));
    return err;
}

/* ---- the driver's function ---- */

void gs_release_now(void *mem)
{
    gates.release(mem);
}

static cl_int CL_API_CALL release(cl_mem mem)
{
    return mem && gs_gate_waits(gs_release_now, mem, false) ? CL_SUCCESS : gates.release(mem);
}

static void loaded(struct _cl_icd_dispatch *table)
{
    gates.release = table->clReleaseMemObject;
    table->clReleaseMemObject = gates.release ? release : NULL;
}

const struct gs_above_events gs_above_events = {.loaded = loaded};
