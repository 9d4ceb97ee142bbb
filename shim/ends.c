/* SPDX-License-Identifier: MIT */
#include "shim/ends.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "shim/beside.h"
#include "shim/group.h"

/* PoCL calls back as soon as a command has ended. NVIDIA's driver does when it is called for something else: with
 * nobody in it, it told of units of 10 ms in pairs, when our thread next looked (two H200, bench/results/h200x2.md). So
 * there the driver isn't asked for callbacks, each of which costs it 8 us besides, and the thread looks often while
 * there is something to be seen. */
enum { LOOK_AGAIN_NS = 20 * 1000 * 1000, LOOK_SOON_NS = 10 * 1000, LOOK_LATER_NS = 100 * 1000, SLACK_NS = 1000 };

struct watched {
    struct watched *next, **at; /* in the list; null: it has been taken off. `lock` */
    cl_event event;             /* retained */
    void (*ended)(cl_event event, cl_int status, void *data);
    void *data;
    atomic_int refs;      /* the list's, the driver's, and the thread's that looks at it */
    unsigned looked_at;   /* how often it was found to have ended */
    atomic_bool uncalled; /* the driver has taken no callback */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all below */
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static struct watched *list;
static unsigned long added; /* to the list, ever */
static bool started;

static bool calls_late(void)
{
    return gs_group()->type & CL_DEVICE_TYPE_GPU;
}

/* With the lock held. True: it was in the list, and is the caller's to end. */
static bool take_off(struct watched *w)
{
    if (!w->at)
        return false;
    *w->at = w->next;
    if (w->next)
        w->next->at = w->at;
    w->at = NULL;
    return true;
}

static void let_go(struct watched *w)
{
    if (atomic_fetch_sub(&w->refs, 1) != 1)
        return;
    gs_real()->clReleaseEvent(w->event);
    free(w);
}

static void end(struct watched *w, cl_int status)
{
    w->ended(w->event, status, w->data);
    let_go(w);
}

static void CL_CALLBACK called(cl_event event, cl_int status, void *data)
{
    struct watched *w = data;
    (void)event;
    pthread_mutex_lock(&lock);
    const bool mine = take_off(w);
    pthread_mutex_unlock(&lock);
    if (mine)
        end(w, status);
    let_go(w);
}

static cl_int status_of(cl_event event)
{
    cl_int status = CL_QUEUED;
    const cl_int err =
        gs_real()->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    return err ? err : status;
}

/* Those that are awaited, each with a reference, in an array of *n; null: none, or no memory. */
static struct watched **snapshot(size_t *n)
{
    size_t count = 0;
    for (struct watched *w = list; w; w = w->next)
        count++;
    struct watched **all = count ? malloc(count * sizeof *all) : NULL;
    *n = all ? count : 0;
    count = 0;
    for (struct watched *w = list; all && w; w = w->next) {
        atomic_fetch_add(&w->refs, 1);
        all[count++] = w;
    }
    return all;
}

/* It has failed; or it has ended, and the driver has taken no callback. Believed at the second look: PoCL still works
 * on an event for a moment whose status tells of a failure, and keeps no reference of its own. */
static bool is_missed(struct watched *w, cl_int status)
{
    if (status > CL_COMPLETE || (status == CL_COMPLETE && !atomic_load(&w->uncalled)))
        return false;
    return w->looked_at++;
}

/* Ends those that the driver won't tell of. The driver is asked without the lock: it may call back with one of its own
 * held. True: there were some. */
static bool look_at(struct watched **all, size_t n, bool at_once)
{
    bool found = false;
    for (size_t i = 0; i < n; i++) {
        const cl_int status = status_of(all[i]->event);
        pthread_mutex_lock(&lock);
        const bool over = calls_late() ? status <= CL_COMPLETE : at_once ? status < 0 : is_missed(all[i], status);
        const bool mine = over && take_off(all[i]);
        pthread_mutex_unlock(&lock);
        if (mine)
            end(all[i], status);
        let_go(all[i]);
        found = found || mine;
    }
    free(all);
    return found;
}

/* How long until the next look: some sixteenth of the time since something was seen last. */
static long next_pause(long pause_ns, bool something)
{
    if (!calls_late())
        return LOOK_AGAIN_NS;
    if (something)
        return LOOK_SOON_NS;
    return pause_ns * 17 / 16 < LOOK_LATER_NS ? pause_ns * 17 / 16 : LOOK_LATER_NS;
}

static void *look(void *unused)
{
    unsigned long seen = 0;
    bool found = true;
    long pause_ns = next_pause(0, true);
    (void)unused;
    if (calls_late())
        prctl(PR_SET_TIMERSLACK, (unsigned long)SLACK_NS);
    for (;;) {
        const struct timespec pause = {0, pause_ns};
        size_t n;
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&lock);
        while (!list)
            pthread_cond_wait(&news, &lock);
        pthread_mutex_unlock(&lock);
        if (!gs_beside_serve())
            return NULL;
        pthread_mutex_lock(&lock);
        struct watched **all = snapshot(&n);
        found = seen != added;
        seen = added;
        pthread_mutex_unlock(&lock);
        found |= look_at(all, n, false);
        gs_beside_served();
        pause_ns = next_pause(pause_ns, found);
    }
    return NULL;
}

void gs_ends_failures(void)
{
    struct watched **all;
    size_t n;
    do {
        pthread_mutex_lock(&lock);
        all = snapshot(&n);
        pthread_mutex_unlock(&lock);
    } while (look_at(all, n, true));
}

bool gs_await_end(cl_event event, void (*ended)(cl_event event, cl_int status, void *data), void *data)
{
    struct watched *w = calloc(1, sizeof *w);
    if (!w || gs_real()->clRetainEvent(event) != CL_SUCCESS) {
        free(w);
        return false;
    }
    w->event = event;
    w->ended = ended;
    w->data = data;
    pthread_mutex_lock(&lock);
    started = started || gs_beside_start(NULL, look, NULL);
    const bool looks_only = started && calls_late();
    atomic_init(&w->refs, looks_only ? 1 : 2);
    if (!list)
        pthread_cond_signal(&news);
    w->next = list;
    w->at = &list;
    if (list)
        list->at = &w->next;
    list = w;
    added++;
    pthread_mutex_unlock(&lock);
    if (looks_only || gs_real()->clSetEventCallback(event, CL_COMPLETE, called, w) == CL_SUCCESS)
        return true;
    atomic_store(&w->uncalled, true);
    let_go(w);
    return true;
}
