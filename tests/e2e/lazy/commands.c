/* SPDX-License-Identifier: MIT */
/* Each command gets a gate, a user event that it waits for beside what the application lists; a thread opens it once
 * the modes let the command begin. */
#include "lazy.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BUCKETS = 4096, TICK_NS = 200000 };

struct queue {
    struct queue *next;
    cl_command_queue handle;
    cl_context context;
    cl_device_id device;
    bool in_order;
    unsigned number;
    struct command *newest; /* held; in order */
    pthread_mutex_t order;  /* the driver has its commands in the order of their numbers; before the lock below */
};

/* A command, or a user event of the application's. */
struct command {
    struct command *next;            /* in its bucket */
    struct command *older, *younger; /* among those that haven't ended: the flushed ones first, in the order of that */
    const char *name;
    uint64_t number, walk; /* walk: the last that it was looked at in */
    cl_event event;        /* retained */
    cl_event gate;         /* null: it is open */
    struct queue *queue;
    struct command *before, **wait; /* held; until it has ended */
    cl_uint n_wait;
    unsigned refs, holds; /* the application's references; ours: one while it has any, one until the end */
    bool user, flushed, ended, aside;
    uint64_t due_ns;
    unsigned unseen; /* so many more looks don't see its end */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all below */
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static struct command *buckets[BUCKETS];
static struct command flushed = {.older = &flushed, .younger = &flushed};
static struct command unflushed = {.older = &unflushed, .younger = &unflushed};
static struct queue *queues;
static uint64_t numbers, walks;
static bool started;

static struct command **bucket_of(cl_event event)
{
    return &buckets[(uintptr_t)event * 0x9e3779b97f4a7c15u >> 52];
}

static struct command *find(cl_event event)
{
    struct command *c = *bucket_of(event);
    while (c && c->event != event)
        c = c->next;
    return c;
}

static struct queue *find_queue(cl_command_queue handle)
{
    struct queue *q = queues;
    while (q && q->handle != handle)
        q = q->next;
    return q;
}

static void append(struct command *list, struct command *c)
{
    c->older = list->older;
    c->younger = list;
    list->older->younger = c;
    list->older = c;
}

static void take_out(struct command *c)
{
    c->older->younger = c->younger;
    c->younger->older = c->older;
}

static void drop(struct command *c)
{
    if (!c || --c->holds)
        return;
    struct command **at = bucket_of(c->event);
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    lazy_below.clReleaseEvent(c->event);
    free(c);
}

/* The list's own hold goes with it. PoCL (3.1) uses an event that has failed once more: such ones are kept. */
static void mark_ended(struct command *c, cl_int status)
{
    c->ended = true;
    c->holds += status < 0;
    take_out(c);
    for (cl_uint i = 0; i < c->n_wait; i++)
        drop(c->wait[i]);
    drop(c->before);
    free(c->wait);
    c->wait = NULL;
    c->before = NULL;
    c->n_wait = 0;
    drop(c);
}

static cl_int status_below(cl_event event)
{
    cl_int status = CL_QUEUED;
    const cl_int err =
        lazy_below.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    return err ? err : status;
}

static void open_gate(struct command *c)
{
    cl_event gate = c->gate;
    c->gate = NULL;
    if (!gate)
        return;
    lazy_below.clSetUserEventStatus(gate, CL_COMPLETE);
    lazy_below.clReleaseEvent(gate);
}

/* Does it wait, by whatever way, for a user event that has no status? Each command is looked at once in a walk. */
static bool waits_for_user(struct command *c, uint64_t walk)
{
    if (!c || c->ended || c->walk == walk)
        return false;
    c->walk = walk;
    if (c->user || waits_for_user(c->before, walk))
        return true;
    for (cl_uint i = 0; i < c->n_wait; i++)
        if (waits_for_user(c->wait[i], walk))
            return true;
    return false;
}

/* Is the device's lane free for it? */
static bool is_first(struct command *c)
{
    if (!lazy.lanes || !c->queue->in_order || c->aside)
        return true;
    for (const struct command *o = flushed.younger; o != c; o = o->younger)
        if (!o->user && !o->aside && o->queue->in_order && o->queue->device == c->queue->device)
            return false;
    c->aside = !lazy.channels && waits_for_user(c, ++walks);
    return true;
}

static void look(void)
{
    const uint64_t now = lazy_now_ns();
    for (struct command *c = flushed.younger, *next; c != &flushed; c = next) {
        next = c->younger;
        const cl_int status = status_below(c->event);
        if (status <= CL_COMPLETE)
            mark_ended(c, status);
        else if (c->gate && now >= c->due_ns && is_first(c))
            open_gate(c);
    }
}

/* At the end of the process: who goes on calling the driver has been reported, and needs not wait for ever. */
static void open_all(void)
{
    pthread_mutex_lock(&lock);
    for (struct command *c = flushed.younger; c != &flushed; c = c->younger)
        open_gate(c);
    for (struct command *c = unflushed.younger; c != &unflushed; c = c->younger)
        open_gate(c);
    pthread_mutex_unlock(&lock);
}

/* It looks, as it may not be called back with its lock held. */
static void *serve(void *unused)
{
    lazy_own_thread = true;
    for (unsigned i = 0;; i++) {
        pthread_mutex_lock(&lock);
        look();
        const bool idle = flushed.younger == &flushed;
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        const uint64_t ns = (uint64_t)until.tv_nsec + (idle ? 100u : 1u) * TICK_NS;
        until.tv_sec += (time_t)(ns / 1000000000);
        until.tv_nsec = (long)(ns % 1000000000);
        pthread_cond_timedwait(&news, &lock, &until);
        pthread_mutex_unlock(&lock);
        if (lazy_is_over()) {
            open_all();
            return NULL;
        }
        if (i % 64 == 0)
            lazy_calls_look();
        if (lazy.poison)
            lazy_memory_look();
        if (lazy.poison && i % 64 == 0)
            lazy_contexts_look();
    }
}

void lazy_queue_made(cl_command_queue handle, cl_context context, cl_device_id device, bool in_order)
{
    static unsigned made;
    struct queue *q = calloc(1, sizeof *q);
    pthread_mutex_lock(&lock);
    started = started || lazy_thread(serve);
    if (q) {
        *q = (struct queue){queues, handle, context, device, in_order, ++made, NULL, PTHREAD_MUTEX_INITIALIZER};
        queues = q;
    }
    pthread_mutex_unlock(&lock);
}

void lazy_enqueue_begin(struct lazy_enqueue *e, const char *name, cl_command_queue queue, cl_bool blocking, cl_uint n,
                        const cl_event *wait, cl_event *event)
{
    *e = (struct lazy_enqueue){.name = name,
                               .queue = queue,
                               .blocking = blocking,
                               .n = n,
                               .wait = (cl_event *)(uintptr_t)wait,
                               .wanted = event,
                               .given = event,
                               .n_own = n,
                               .own = wait};
    if (blocking)
        lazy_forbidden(name);
    pthread_mutex_lock(&lock);
    struct queue *q = find_queue(queue);
    pthread_mutex_unlock(&lock);
    cl_int err;
    cl_event *list = q && !lazy_is_over() && !n == !wait ? malloc((n + 1) * sizeof *list) : NULL;
    if (!list)
        return;
    e->tracked = true;
    e->given = &e->event;
    /* Out of order, one without a list comes after all before it, which have gates; with a list it would not. */
    e->order = &q->order;
    pthread_mutex_lock(e->order);
    if (!n && !q->in_order &&
        (strcmp(name, "clEnqueueMarkerWithWaitList") == 0 || strcmp(name, "clEnqueueBarrierWithWaitList") == 0)) {
        free(list);
        return;
    }
    e->gate = lazy_below.clCreateUserEvent(q->context, &err);
    if (err) {
        pthread_mutex_unlock(e->order);
        e->gate = NULL;
        e->given = event;
        e->tracked = false;
        free(list);
        return;
    }
    if (n)
        memcpy(list, wait, n * sizeof *list);
    list[n] = e->gate;
    e->wait = list;
    e->n = n + 1;
}

void lazy_queue_released(cl_command_queue handle)
{
    pthread_mutex_lock(&lock);
    struct queue *q = find_queue(handle);
    if (q) {
        q->handle = NULL;
        drop(q->newest); /* its event would keep the context */
        q->newest = NULL;
    }
    pthread_mutex_unlock(&lock);
}

static struct command *hold(struct command *c)
{
    c->holds++;
    return c;
}

static void add(struct lazy_enqueue *e)
{
    struct command *c = calloc(1, sizeof *c);
    struct queue *q = find_queue(e->queue);
    struct command **at = bucket_of(e->event);
    c->name = e->name;
    c->number = ++numbers;
    c->event = e->event;
    c->gate = e->gate;
    c->queue = q;
    c->refs = e->wanted != NULL;
    c->holds = 1 + (c->refs > 0);
    c->unseen = lazy.slow ? lazy_random(4) * lazy_random(8) : 0;
    const bool for_all = !e->gate; /* out of order, without a list: see lazy_enqueue_begin */
    size_t most = e->n_own + 1;
    for (const struct command *o = flushed.younger; for_all && o != &flushed; o = o->younger)
        most += o->queue == q;
    for (const struct command *o = unflushed.younger; for_all && o != &unflushed; o = o->younger)
        most += o->queue == q;
    c->wait = calloc(most, sizeof(void *));
    for (struct command *o = flushed.younger; for_all && o != &flushed; o = o->younger)
        if (o->queue == q)
            c->wait[c->n_wait++] = hold(o);
    for (struct command *o = unflushed.younger; for_all && o != &unflushed; o = o->younger)
        if (o->queue == q)
            c->wait[c->n_wait++] = hold(o);
    for (cl_uint i = 0; i < e->n_own; i++) {
        struct command *w = find(e->own[i]);
        if (w && !w->ended)
            c->wait[c->n_wait++] = hold(w);
    }
    if (q->in_order) {
        if (q->newest && !q->newest->ended)
            c->before = hold(q->newest);
        drop(q->newest);
        q->newest = hold(c);
    }
    c->next = *at;
    *at = c;
    append(&unflushed, c);
    lazy_below.clRetainEvent(e->event);
}

cl_int lazy_enqueue_end(struct lazy_enqueue *e, cl_int err)
{
    if (!e->tracked)
        return err;
    if (!err) {
        pthread_mutex_lock(&lock);
        add(e);
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_unlock(e->order);
    if (e->wait != e->own)
        free(e->wait);
    if (err && !e->gate)
        return err;
    if (err) {
        lazy_below.clSetUserEventStatus(e->gate, CL_COMPLETE);
        lazy_below.clReleaseEvent(e->gate);
        return err;
    }
    if (!lazy.unflushed || e->blocking)
        lazy_flush(e->queue);
    if (e->blocking) {
        lazy_wait_begin(1, &e->event, NULL);
        err = lazy_below.clWaitForEvents(1, &e->event);
        lazy_wait_end();
        lazy_see_all();
    }
    if (e->wanted && !err)
        *e->wanted = e->event;
    else
        lazy_below.clReleaseEvent(e->event);
    return err;
}

void lazy_flush(cl_command_queue queue)
{
    const uint64_t now = lazy_now_ns();
    pthread_mutex_lock(&lock);
    for (struct command *c = unflushed.younger, *next; c != &unflushed; c = next) {
        next = c->younger;
        if (c->queue->handle != queue)
            continue;
        take_out(c);
        append(&flushed, c);
        c->flushed = true;
        c->due_ns = now + (lazy.slow && lazy_random(4) == 0 ? (uint64_t)lazy_random(3000) * 1000 : 0);
    }
    if (!lazy.slow && !lazy.lanes)
        look();
    pthread_cond_signal(&news);
    pthread_mutex_unlock(&lock);
}

void lazy_flush_of(cl_event event)
{
    pthread_mutex_lock(&lock);
    const struct command *c = find(event);
    cl_command_queue queue = c && !c->user && !c->ended && !c->flushed ? c->queue->handle : NULL;
    pthread_mutex_unlock(&lock);
    if (queue)
        lazy_flush(queue);
}

void lazy_user_event(cl_event event)
{
    struct command *c = calloc(1, sizeof *c);
    struct command **at = bucket_of(event);
    pthread_mutex_lock(&lock);
    *c = (struct command){.next = *at, .name = "a user event", .event = event, .user = true, .refs = 1, .holds = 2};
    *at = c;
    c->number = ++numbers;
    append(&flushed, c);
    lazy_below.clRetainEvent(event);
    pthread_mutex_unlock(&lock);
}

void lazy_user_event_set(cl_event event)
{
    pthread_mutex_lock(&lock);
    struct command *c = find(event);
    if (c && !c->ended && status_below(event) <= CL_COMPLETE)
        mark_ended(c, CL_COMPLETE);
    pthread_cond_signal(&news);
    pthread_mutex_unlock(&lock);
}

void lazy_event_refs(cl_event event, int change)
{
    pthread_mutex_lock(&lock);
    struct command *c = find(event);
    if (c && c->refs && (c->refs += (unsigned)change) == 0)
        drop(c);
    pthread_mutex_unlock(&lock);
}

cl_uint lazy_event_refs_now(cl_event event, cl_uint below)
{
    pthread_mutex_lock(&lock);
    const struct command *c = find(event);
    const cl_uint refs = c && c->refs ? c->refs : below;
    pthread_mutex_unlock(&lock);
    return refs;
}

/* With one seen, all are that have ended. */
static void see_all(void)
{
    for (unsigned b = 0; b < BUCKETS; b++)
        for (struct command *c = buckets[b]; c; c = c->next)
            if (c->unseen && (c->ended || status_below(c->event) <= CL_COMPLETE))
                c->unseen = 0;
}

void lazy_see_all(void)
{
    if (!lazy.slow)
        return;
    pthread_mutex_lock(&lock);
    see_all();
    pthread_mutex_unlock(&lock);
}

cl_int lazy_seen_status(cl_event event, cl_int status)
{
    if (!lazy.slow || status > CL_COMPLETE)
        return status;
    pthread_mutex_lock(&lock);
    struct command *c = find(event);
    if (c && c->unseen) {
        c->unseen--;
        status = CL_RUNNING;
    } else if (c) {
        see_all();
    }
    pthread_mutex_unlock(&lock);
    return status;
}

/* ---- what keeps a command from ending ---- */

struct text {
    char *v;
    size_t room, n;
};

__attribute__((format(printf, 2, 3))) static void say(struct text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(t->v + t->n, t->room - t->n, format, args);
    va_end(args);
    t->n = t->n + (size_t)n < t->room ? t->n + (size_t)n : t->room - 1;
}

/* What it comes after, and how; null: nothing but the driver keeps it. */
static const struct command *next_in_way(const struct command *c, const char **how)
{
    *how = "waits for";
    for (cl_uint i = 0; i < c->n_wait; i++)
        if (c->wait[i] && !c->wait[i]->ended)
            return c->wait[i];
    *how = "comes after";
    if (c->before && !c->before->ended)
        return c->before;
    *how = "is behind, in its device's lane,";
    for (const struct command *o = flushed.younger; c->gate && o != c && o != &flushed; o = o->younger)
        if (!o->user && !o->aside && o->queue->in_order && o->queue->device == c->queue->device)
            return o;
    return NULL;
}

/* The first steps, and the last one. */
static bool explain(struct text *t, const struct command *c)
{
    enum { FIRST = 5, MOST = 1000 };
    const char *how = NULL;
    unsigned steps = 0;
    if (!c || c->ended)
        return false;
    while (!c->user && c->flushed && steps < MOST) { /* all of them: most likely in a circle */
        const struct command *next = next_in_way(c, &how);
        if (!next)
            return false;
        if (++steps <= FIRST)
            say(t, "%s (no. %llu, queue %u) %s ", c->name, (unsigned long long)c->number, c->queue->number, how);
        c = next;
    }
    if (steps > FIRST)
        say(t, "... (%u steps) ", steps - FIRST);
    if (c->user)
        say(t, "a user event (no. %llu) has no status", (unsigned long long)c->number);
    else
        say(t, "%s (no. %llu, queue %u) %s", c->name, (unsigned long long)c->number, c->queue->number,
            c->flushed ? "waits for itself" : "has not been flushed");
    return true;
}

bool lazy_explain(char *out, size_t room, const cl_event *events, cl_uint n, cl_command_queue queue)
{
    struct text t = {out, room, 0};
    bool any = false;
    pthread_mutex_lock(&lock);
    for (cl_uint i = 0; i < n && !any; i++) {
        t.n = 0;
        any = explain(&t, find(events[i]));
    }
    const struct queue *q = queue ? find_queue(queue) : NULL;
    t.n = any ? t.n : 0;
    if (!any && q && q->newest)
        any = explain(&t, q->newest);
    pthread_mutex_unlock(&lock);
    return any;
}

uint64_t lazy_commands_now(void)
{
    pthread_mutex_lock(&lock);
    const uint64_t n = numbers;
    pthread_mutex_unlock(&lock);
    return n;
}

bool lazy_ended_up_to(uint64_t number)
{
    bool all = true;
    pthread_mutex_lock(&lock);
    for (const struct command *c = flushed.younger; c != &flushed && all; c = c->younger)
        all = c->user || c->number > number;
    for (const struct command *c = unflushed.younger; c != &unflushed && all; c = c->younger)
        all = c->number > number;
    pthread_mutex_unlock(&lock);
    return all;
}
