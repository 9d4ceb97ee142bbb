/* SPDX-License-Identifier: MIT */
#include "graph.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct node {
    unsigned n, *before;
    bool seen, refused;
    unsigned asked;
    uint64_t made_ns;
};

struct queue {
    struct queue *next;
    cl_command_queue handle;
    bool out_of_order;
    unsigned last, *open, n_open; /* last: in order; out of order: the newest barrier */
};

enum { BUCKETS = 1 << 14 };
struct entry {
    struct entry *next;
    cl_event event;
    unsigned id;
};

static pthread_mutex_t lock;
static struct node *nodes;
static unsigned n_nodes = 1; /* 0: none */
static struct queue *queues[GRAPH_LEVELS];
static struct entry *events[GRAPH_LEVELS][BUCKETS];
static FILE *file;
_Thread_local unsigned graph_call;
_Thread_local bool graph_call_writes;

void graph_start(void)
{
    const char *name = getenv("GRAPH");
    char path[4096];
    pthread_mutexattr_t again;
    pthread_mutexattr_init(&again);
    pthread_mutexattr_settype(&again, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &again);
    snprintf(path, sizeof path, "%s.%d", name ? name : "graph", (int)getpid());
    file = fopen(path, "we");
    if (!file)
        abort();
}

void graph_lock(void)
{
    pthread_mutex_lock(&lock);
}

void graph_unlock(void)
{
    fflush(file);
    pthread_mutex_unlock(&lock);
}

void graph_say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(file, format, args);
    va_end(args);
}

void graph_say_bytes(const struct graph_bytes *b)
{
    graph_say(" %c%u:%llu:%llu", b->access, b->object, (unsigned long long)b->begin, (unsigned long long)b->length);
    if (b->rows > 1 || b->slices > 1)
        graph_say(":%llu:%llu:%llu:%llu", (unsigned long long)b->pitch, (unsigned long long)b->rows,
                  (unsigned long long)b->slice_pitch, (unsigned long long)b->slices);
}

static void *grown(void *old, size_t n, size_t size)
{
    void *p = n & (n - 1) ? old : realloc(old, (n ? 2 * n : 1) * size);
    if (!p)
        abort();
    return p;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static unsigned add_node(void)
{
    nodes = grown(nodes, n_nodes, sizeof *nodes);
    nodes[n_nodes] = (struct node){.made_ns = now_ns()};
    return n_nodes++;
}

static void add_before(unsigned id, unsigned before)
{
    struct node *node = &nodes[id];
    if (!before)
        return;
    node->before = grown(node->before, node->n, sizeof *node->before);
    node->before[node->n++] = before;
}

static struct entry **find_event(enum graph_level level, cl_event event)
{
    struct entry **at = &events[level][((uintptr_t)event * 0x9e3779b97f4a7c15u) >> 50];
    while (*at && (*at)->event != event)
        at = &(*at)->next;
    return at;
}

void graph_event(enum graph_level level, cl_event event, unsigned id)
{
    struct entry **at = find_event(level, event);
    if (!*at && !(*at = calloc(1, sizeof **at)))
        abort();
    (*at)->event = event;
    (*at)->id = id;
}

unsigned graph_event_id(enum graph_level level, cl_event event)
{
    const struct entry *e = *find_event(level, event);
    return e ? e->id : 0;
}

static struct queue *find_queue(enum graph_level level, cl_command_queue handle)
{
    struct queue *q = queues[level];
    cl_command_queue_properties properties = 0;
    while (q && q->handle != handle)
        q = q->next;
    if (q)
        return q;
    if (!(q = calloc(1, sizeof *q)))
        abort();
    graph_below.clGetCommandQueueInfo(handle, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
    q->handle = handle;
    q->out_of_order = properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    q->next = queues[level];
    return queues[level] = q;
}

void graph_queue_made(cl_command_queue queue)
{
    for (int level = 0; level < GRAPH_LEVELS; level++)
        for (struct queue **at = &queues[level]; *at; at = &(*at)->next)
            if ((*at)->handle == queue) {
                struct queue *gone = *at;
                *at = gone->next;
                free(gone->open);
                free(gone);
                break;
            }
}

static void put_open(struct queue *q, unsigned id)
{
    q->open = grown(q->open, q->n_open, sizeof *q->open);
    q->open[q->n_open++] = id;
}

/* What stands for the queue's commands so far. */
static void add_queue(struct queue *q, unsigned id, const char *name, cl_uint n)
{
    const bool barrier = strstr(name, "Barrier") || strcmp(name, "clEnqueueWaitForEvents") == 0;
    const bool all = !n && (barrier || strstr(name, "Marker"));
    add_before(id, q->last);
    for (unsigned i = 0; all && i < q->n_open; i++)
        add_before(id, q->open[i]);
    if (all)
        q->n_open = 0;
    if (!q->out_of_order)
        q->last = id;
    else
        put_open(q, id);
    if (q->out_of_order && barrier)
        q->last = id;
}

unsigned graph_command(enum graph_level level, const char *name, cl_command_queue queue, cl_uint n,
                       const cl_event *wait)
{
    const unsigned id = add_node();
    for (cl_uint i = 0; i < n; i++)
        add_before(id, graph_event_id(level, wait[i]));
    const unsigned waits = nodes[id].n;
    add_queue(find_queue(level, queue), id, name, n);
    graph_say("%c %u %u %s", level == GRAPH_ABOVE ? 'C' : 'c', id, graph_call, name + strlen("clEnqueue"));
    for (unsigned i = 0; i < nodes[id].n; i++)
        graph_say(i < waits ? " %u" : " +%u", nodes[id].before[i]);
    return id;
}

void graph_user_event(enum graph_level level, cl_event event)
{
    const unsigned id = add_node();
    graph_event(level, event, id);
    graph_say("%c %u\n", level == GRAPH_ABOVE ? 'U' : 'u', id);
}

void graph_set(enum graph_level level, cl_event event, cl_int status)
{
    graph_say("%c %u%s\n", level == GRAPH_ABOVE ? 'S' : 's', graph_event_id(level, event), status < 0 ? " failed" : "");
}

static void see(unsigned id)
{
    if (!id || nodes[id].seen)
        return;
    nodes[id].seen = true;
    for (unsigned i = 0; i < nodes[id].n; i++)
        see(nodes[id].before[i]);
}

void graph_joined(enum graph_level level, cl_uint n, const unsigned *ids)
{
    bool any = false;
    for (cl_uint i = 0; i < n; i++)
        if (ids[i] && !nodes[ids[i]].seen) {
            if (!any)
                graph_say("%c", level == GRAPH_ABOVE ? 'J' : 'j');
            graph_say(" %u", ids[i]);
            see(ids[i]);
            any = true;
        }
    if (any)
        graph_say("\n");
}

unsigned graph_unless_failed(cl_event event, unsigned id)
{
    if (graph_status(event) >= CL_COMPLETE)
        return id;
    graph_lock();
    nodes[id].seen = true;
    graph_unlock();
    return 0;
}

bool graph_seen(unsigned id)
{
    return !id || nodes[id].seen;
}

void graph_refused(unsigned id)
{
    nodes[id].refused = true;
}

bool graph_is_refused(unsigned id)
{
    return nodes[id].refused;
}

unsigned graph_count(void)
{
    return n_nodes;
}

void graph_reach(unsigned id, bool *reached)
{
    for (unsigned i = 0; i < nodes[id].n; i++) {
        const unsigned before = nodes[id].before[i];
        if (reached[before] || nodes[before].seen)
            continue;
        reached[before] = true;
        graph_reach(before, reached);
    }
}

unsigned *graph_queue_ids(enum graph_level level, cl_command_queue queue, cl_uint *n)
{
    const struct queue *q = find_queue(level, queue);
    unsigned *ids = malloc((q->n_open + 1) * sizeof *ids);
    if (!ids)
        abort();
    ids[0] = q->last;
    for (unsigned i = 0; i < q->n_open; i++)
        ids[i + 1] = q->open[i];
    *n = q->n_open + 1;
    return ids;
}

unsigned graph_asked(unsigned id, uint64_t *age_ns)
{
    *age_ns = now_ns() - nodes[id].made_ns;
    return ++nodes[id].asked;
}
