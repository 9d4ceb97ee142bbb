/* SPDX-License-Identifier: MIT */
#include "shim/order/completion.h"

#include <sys/prctl.h>

#include "common/lock/locked.h"
#include "common/lock/rank.h"
#include "shim/events/gates.h"
#include "shim/process/threads.h"
#include "shim/order/upward.h"

/* PoCL calls back as soon as a command has ended. NVIDIA's driver calls back only during another call (units of 10 ms
 * ended in pairs, bench/results/h200x2.md) and takes 8 us for each callback, so there our thread polls. */
enum { LOOK_AGAIN_NS = 20 * 1000 * 1000, LOOK_SOON_NS = 10 * 1000, LOOK_LATER_NS = 100 * 1000, SLACK_NS = 1000 };
/* Pauses while nobody needs the awaited ends: a thread that woke 20,000 times a second took up to a third of the
 * application's speed on H200 hosts, where a processor may be half a core. */
enum { LOOK_UNWANTED_NS = 1000 * 1000, LOOK_UNTOLD_NS = 50 * 1000 };
enum { STAY_AWAKE_NS = 1000 * 1000 };

struct gs_awaited {
    struct gs_awaited *next, **at; /* list; at is null once the entry is off the list. `lock` */
    cl_event event;                /* retained; null: not known yet, and `last` is asked. Then: `lock` */
    bool (*last)(void *data, cl_event *event);
    bool asked;                       /* `last` is just being called. `lock` */
    bool (*wanted)(const void *data); /* or null: always */
    void (*ended)(cl_event event, cl_int status, void *data);
    void *data;
    atomic_int refs;    /* of the list, of the driver, and of the thread that looks */
    unsigned looked_at; /* how often the event was found to have ended */
};

static struct {
    pthread_mutex_t lock; /* all below */
    pthread_cond_t news;  /* by the monotonic clock; initialized when the thread is started */
    struct gs_awaited *list;
    unsigned long added; /* entries added to the list, ever */
    unsigned unknown;    /* entries whose event isn't known yet */
    uint64_t awake_ns;   /* until then the thread polls, and needs no signal when an entry is added */
    bool sleeping;
    atomic_bool dozing; /* nobody needs an end: the thread sleeps until somebody does */
    atomic_bool roused; /* and somebody does by now */
    bool started;
} watcher = {.lock = PTHREAD_MUTEX_INITIALIZER};
GS_RANKED(watcher.lock, GS_RANK_COMPLETION);

static bool calls_late(void)
{
    return gs_group()->type & CL_DEVICE_TYPE_GPU;
}

/* With the lock held. Null: nobody awaits an event with this data, or the event has just ended. */
static struct gs_awaited *find(const void *data)
{
    struct gs_awaited *w = watcher.list;
    while (w && w->data != data)
        w = w->next;
    return w;
}

/* With the lock held. True: the entry was on the list, and the caller ends it. */
static bool take_off(struct gs_awaited *w)
{
    if (!w->at)
        return false;
    *w->at = w->next;
    if (w->next)
        w->next->at = w->at;
    w->at = NULL;
    return true;
}

static void drop_awaited(struct gs_awaited *w)
{
    if (atomic_fetch_sub(&w->refs, 1) != 1)
        return;
    GS_RELEASE(Event, w->event);
    free(w);
}

static void end(struct gs_awaited *w, cl_int status)
{
    w->ended(w->event, status, w->data);
    drop_awaited(w);
}

/* Asks for the status anew: PoCL calls back for an already failed event with the status that was asked for. */
static void CL_CALLBACK called(cl_event event, cl_int status, void *data)
{
    struct gs_awaited *w = data;
    (void)status;
    pthread_mutex_lock(&watcher.lock);
    const bool mine = take_off(w);
    pthread_mutex_unlock(&watcher.lock);
    if (mine)
        end(w, gs_event_status(event));
    drop_awaited(w);
}

/* An array of the *n list entries, with a reference to each; null: none, or no memory. */
static struct gs_awaited **snapshot(size_t *n)
{
    size_t count = 0;
    for (struct gs_awaited *w = watcher.list; w; w = w->next)
        count++;
    struct gs_awaited **all = count ? malloc(count * sizeof *all) : NULL;
    *n = all ? count : 0;
    count = 0;
    for (struct gs_awaited *w = watcher.list; all && w; w = w->next) {
        atomic_fetch_add(&w->refs, 1);
        all[count++] = w;
    }
    return all;
}

static void ask_driver(struct gs_awaited *w)
{
    atomic_fetch_add(&w->refs, 1);
    if (gs_real()->clSetEventCallback(w->event, CL_COMPLETE, called, w) != CL_SUCCESS)
        drop_awaited(w);
}

/* Is the entry's event known, or that it has ended without one? Asks `last` if not. */
static bool is_known(struct gs_awaited *w)
{
    pthread_mutex_lock(&watcher.lock);
    const bool known = w->event, ask = !known && !w->asked && w->at;
    w->asked |= ask;
    pthread_mutex_unlock(&watcher.lock);
    if (!ask)
        return known;
    cl_event event = NULL;
    const bool knows = w->last(w->data, &event);
    pthread_mutex_lock(&watcher.lock);
    w->event = event;
    w->asked = false;
    watcher.unknown -= event != NULL;
    pthread_mutex_unlock(&watcher.lock);
    if (event && !calls_late())
        ask_driver(w);
    return knows;
}

/* Why the event is looked at: our thread looks at new entries only, or at all; or a caller knows that it has ended. */
enum look { AT_NEW, AT_ALL, AT_ENDED };

/* An end that the driver hasn't called back for counts at the second look: PoCL sets a failed status a moment before it
 * is done with the event, and holds no reference. */
static bool is_over(struct gs_awaited *w, enum look why, cl_int status)
{
    if (calls_late())
        return status <= CL_COMPLETE;
    return why == AT_ALL ? status <= CL_COMPLETE && w->looked_at++ : status == CL_COMPLETE;
}

/* Does anybody need the end now? If not, the driver isn't asked: threads in NVIDIA's driver wait for each other, and a
 * thread that flushes what another is just enqueuing makes launches take 6.8 us for 0.1 to 0.3 s, else 4.8 (H200). */
static bool is_wanted(struct gs_awaited *w)
{
    GS_LOCKED(&watcher.lock);
    return w->at && (!w->wanted || w->wanted(w->data)); /* off the list `data` may be freed */
}

/* Ends the entry if its event has ended and the driver won't call back. Asks the driver without our lock, since the
 * driver may call back while holding its own. */
static bool look_at(struct gs_awaited *w, enum look why, bool *wanted)
{
    if (why != AT_ENDED && calls_late() && !is_wanted(w))
        return false;
    *wanted = true;
    const bool was_known = is_known(w);
    if (!was_known || (why == AT_NEW && !calls_late()))
        return false;
    const cl_int status = w->event ? gs_event_status(w->event) : CL_COMPLETE;
    pthread_mutex_lock(&watcher.lock);
    const bool mine = is_over(w, why, status) && take_off(w);
    watcher.unknown -= mine && !w->event;
    pthread_mutex_unlock(&watcher.lock);
    if (mine)
        end(w, status);
    return mine;
}

/* The pause until the next look: a sixteenth of the time since an end was seen; short while others wait. */
static long next_pause(long pause_ns, bool something, bool wanted)
{
    if (!wanted && !gs_above_completion.wanted())
        return LOOK_UNWANTED_NS;
    if (something || gs_above_completion.wanted())
        return LOOK_SOON_NS;
    return pause_ns * 17 / 16 < LOOK_LATER_NS ? pause_ns * 17 / 16 : LOOK_LATER_NS;
}

static bool is_roused(void)
{
    return atomic_load(&watcher.roused);
}

/* Sleeps until rouse(), or for LOOK_UNWANTED_NS. False: there is no daemon, so nobody would wake the thread. */
static bool doze(void)
{
    atomic_store(&watcher.roused, false);
    atomic_store(&watcher.dozing, true);
    const bool told = gs_above_completion.sleep(is_roused, LOOK_UNWANTED_NS);
    atomic_store(&watcher.dozing, false);
    return told;
}

/* Wakes the thread if somebody needs the entry's end at once. */
static void rouse(const struct gs_awaited *w)
{
    if (!atomic_load(&watcher.dozing) || (w->wanted && !w->wanted(w->data)))
        return;
    atomic_store(&watcher.roused, true);
    gs_above_completion.wake();
}

/* Waits for an entry on the list, and then for the pause. With the lock held. */
static void pause_for(long pause_ns)
{
    const bool stays = calls_late() && gs_now_ns() < watcher.awake_ns;
    watcher.sleeping = true;
    while (!watcher.list && !stays)
        pthread_cond_wait(&watcher.news, &watcher.lock);
    watcher.sleeping = false;
    if (calls_late() || watcher.unknown) {
        pthread_mutex_unlock(&watcher.lock);
        if (pause_ns != LOOK_UNWANTED_NS || !doze())
            nanosleep(&(struct timespec){0, pause_ns < LOOK_UNWANTED_NS ? pause_ns : LOOK_UNTOLD_NS}, NULL);
        pthread_mutex_lock(&watcher.lock);
        return;
    }
    const struct timespec until = gs_timespec(gs_now_ns() + LOOK_AGAIN_NS);
    watcher.sleeping = true;
    while (!watcher.unknown && pthread_cond_timedwait(&watcher.news, &watcher.lock, &until) == 0)
        ;
    watcher.sleeping = false;
}

static void *look_for_ends(void *unused)
{
    unsigned long seen = 0;
    uint64_t all_at_ns = 0;
    long pause_ns = LOOK_SOON_NS;
    (void)unused;
    prctl(PR_SET_TIMERSLACK, (unsigned long)SLACK_NS);
    for (;;) {
        size_t n;
        pthread_mutex_lock(&watcher.lock);
        pause_for(pause_ns);
        pthread_mutex_unlock(&watcher.lock);
        gs_threads_serve_wait();
        const uint64_t now = gs_now_ns();
        const bool at_all = now >= all_at_ns;
        if (at_all)
            all_at_ns = now + LOOK_AGAIN_NS;
        pthread_mutex_lock(&watcher.lock);
        struct gs_awaited **all = snapshot(&n);
        bool found = seen != watcher.added;
        if (found)
            watcher.awake_ns = now + STAY_AWAKE_NS;
        seen = watcher.added;
        pthread_mutex_unlock(&watcher.lock);
        bool wanted = false; /* does somebody need the end of an entry? */
        for (size_t i = 0; i < n; i++) {
            found |= look_at(all[i], at_all ? AT_ALL : AT_NEW, &wanted);
            drop_awaited(all[i]);
        }
        free(all);
        gs_threads_served();
        /* Nothing awaited: beside other applications polls on for the next end. A sole one mostly sees ends itself. */
        pause_ns = next_pause(pause_ns, found, wanted || (!n && !gs_above_completion.sole()));
    }
    return NULL;
}

void gs_completion_now(const void *data)
{
    bool wanted;
    pthread_mutex_lock(&watcher.lock);
    struct gs_awaited *w = find(data);
    if (w)
        atomic_fetch_add(&w->refs, 1);
    pthread_mutex_unlock(&watcher.lock);
    if (!w)
        return;
    look_at(w, AT_ENDED, &wanted);
    drop_awaited(w);
}

struct gs_awaited *gs_completion_claim(const void *data)
{
    GS_LOCKED(&watcher.lock);
    struct gs_awaited *w = find(data);
    if (!w || w->asked || !take_off(w))
        return NULL;
    watcher.unknown -= !w->event;
    return w;
}

void gs_completion_over(struct gs_awaited *a)
{
    end(a, CL_COMPLETE);
}

static bool start(void)
{
    pthread_condattr_t monotonic;
    if (watcher.started)
        return true;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&watcher.news, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return watcher.started = gs_threads_start("gs-ends", NULL, look_for_ends, NULL);
}

bool gs_units_start_threads(void)
{
    pthread_mutex_lock(&watcher.lock);
    const bool started = start();
    pthread_mutex_unlock(&watcher.lock);
    return started && gs_gates_start() && gs_above_order.start_threads();
}

/* With the lock held. */
static void add(struct gs_awaited *w)
{
    if (watcher.sleeping && (!watcher.list || !w->event))
        pthread_cond_signal(&watcher.news);
    w->next = watcher.list;
    w->at = &watcher.list;
    if (watcher.list)
        watcher.list->at = &w->next;
    watcher.list = w;
    watcher.added++;
    watcher.unknown += !w->event;
    rouse(w);
}

bool gs_await_end(cl_event event, bool (*last)(void *data, cl_event *event), bool (*wanted)(const void *data),
                  void (*ended)(cl_event event, cl_int status, void *data), void *data)
{
    struct gs_awaited *w = malloc(sizeof *w);
    if (!w || (event && gs_real()->clRetainEvent(event) != CL_SUCCESS)) {
        free(w);
        return false;
    }
    *w = (struct gs_awaited){.event = event, .last = last, .wanted = wanted, .ended = ended, .data = data, .refs = 1};
    pthread_mutex_lock(&watcher.lock);
    const bool started = start(), is_called = event && !(started && calls_late());
    if (event || started) {
        w->refs += is_called;
        add(w);
    }
    pthread_mutex_unlock(&watcher.lock);
    if (is_called) {
        ask_driver(w);
        drop_awaited(w);
    } else if (!event && !started) {
        free(w);
        return false;
    }
    return true;
}
