/* SPDX-License-Identifier: MIT */
#include "shim/choice.h"

#include <stdlib.h>
#include <string.h>

#include "shim/report.h"

enum {
    SURE_LAUNCH = 32 * 1024,          /* work-items: so many are tried on all devices first */
    TRIES = 3,                        /* split launches before their time counts: the first ones compile and fetch */
    ENOUGH = 8,                       /* measurements of a kind; then the choice stands */
    TRANSLATION_NS = 20 * 1000 * 1000 /* what the first split costs beyond itself: translating and compiling */
};

struct gs_timing {
    struct gs_timing *next;
    char *name;
    uint64_t size[3];
    bool prepared;        /* its program has been translated */
    unsigned n[2];        /* measurements: on one device, split */
    uint64_t ns[2];       /* the shortest of them: the others had to wait for something */
    uint64_t busy_ns;     /* what the parts of a split took, all together: about what one device would */
    uint64_t launches[2]; /* launches that went so */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all timings */
static struct gs_timing *timings;

static bool same(const struct gs_timing *t, const char *name, const uint64_t size[3])
{
    return memcmp(t->size, size, sizeof t->size) == 0 && strcmp(t->name, name) == 0;
}

struct gs_timing *gs_timing_of(const struct gs_kernel *k, cl_uint dims, const size_t *global)
{
    uint64_t size[3] = {1, 1, 1};
    if (gs_settings()->mode != GS_MODE_AUTO || k->o.ctx->n == 1 || dims < 1 || dims > 3 || !global)
        return NULL;
    for (cl_uint d = 0; d < dims; d++)
        size[d] = global[d];
    pthread_mutex_lock(&lock);
    struct gs_timing *t = timings;
    while (t && !same(t, k->name, size))
        t = t->next;
    if (!t && (t = calloc(1, sizeof *t)) != NULL) {
        memcpy(t->size, size, sizeof size);
        t->name = strdup(k->name);
        if (t->name) {
            t->next = timings;
            timings = t;
        } else {
            free(t);
            t = NULL;
        }
    }
    pthread_mutex_unlock(&lock);
    return t;
}

/* What a split launch costs beyond its parts: markers, events and the other devices' queues. */
static uint64_t overhead_ns(void)
{
    return gs_group()->shared_memory ? 20 * 1000 : 60 * 1000;
}

/* One device's time is known, that of a split isn't: is it worth a try? */
static bool worth_trying(const struct gs_timing *t)
{
    const uint64_t guess = t->ns[0] / gs_group()->n + overhead_ns();
    if (guess >= t->ns[0] - t->ns[0] / 10)
        return false;
    /* Once it has cost as much as a translation does, it will go on. */
    return t->prepared || (t->launches[0] + 1) * (t->ns[0] - guess) > TRANSLATION_NS;
}

/* A reason for one device from what split launches took, or NULL. */
static const char *verdict(const struct gs_timing *t)
{
    if (t->n[1] < TRIES)
        return NULL;
    if (t->n[0])
        return t->ns[1] >= t->ns[0] - t->ns[0] / 32 ? "one device is faster" : NULL;
    return t->ns[1] >= t->busy_ns - t->busy_ns / 8 ? "one device is being tried" : NULL;
}

const char *gs_choice(struct gs_timing *t, cl_uint dims, const size_t *global)
{
    uint64_t items = 1;
    if (!t)
        return NULL;
    for (cl_uint d = 0; d < dims; d++)
        items *= global[d];
    pthread_mutex_lock(&lock);
    const char *reason = verdict(t);
    if (!t->n[0] && !t->n[1] && items < SURE_LAUNCH)
        reason = "it is small, and how long it takes isn't known yet";
    else if (t->n[0] && !t->n[1] && !worth_trying(t))
        reason = "it is too short to gain";
    if (reason)
        t->launches[0]++;
    pthread_mutex_unlock(&lock);
    return reason;
}

void gs_choice_split(struct gs_timing *t)
{
    if (!t)
        return;
    pthread_mutex_lock(&lock);
    t->prepared = true;
    t->launches[1]++;
    pthread_mutex_unlock(&lock);
}

bool gs_timing_wants(const struct gs_timing *t, bool split)
{
    return t && t->n[split] < ENOUGH;
}

struct measurement {
    struct gs_timing *t;
    unsigned n_parts; /* 0: on one device */
    cl_event begin;   /* of the device's wait, or null; owned as all events here */
    cl_event part[GS_MAX_DEVICES];
};

static cl_int profile(cl_event event, cl_profiling_info what, cl_ulong *value)
{
    return gs_real()->clGetEventProfilingInfo(event, what, sizeof *value, value, NULL);
}

/* From the end of `begin`, or else from the event's own start, to its end; 0 where there is no profile. */
static uint64_t duration(cl_event begin, cl_event end)
{
    cl_ulong from = 0, to = 0;
    cl_int err =
        begin ? profile(begin, CL_PROFILING_COMMAND_END, &from) : profile(end, CL_PROFILING_COMMAND_START, &from);
    if (!err)
        err = profile(end, CL_PROFILING_COMMAND_END, &to);
    return !err && to > from ? to - from : 0;
}

static void forget_measurement(struct measurement *m)
{
    for (unsigned p = 0; p < m->n_parts; p++)
        gs_real()->clReleaseEvent(m->part[p]);
    if (m->begin)
        gs_real()->clReleaseEvent(m->begin);
    free(m);
}

static void CL_CALLBACK learn(cl_event end, cl_int status, void *data)
{
    struct measurement *m = data;
    const bool split = m->n_parts;
    const uint64_t took = status == CL_COMPLETE ? duration(m->begin, end) : 0;
    uint64_t busy = 0;
    for (unsigned p = 0; p < m->n_parts && took; p++)
        busy += duration(NULL, m->part[p]);
    if (took) {
        pthread_mutex_lock(&lock);
        if (!m->t->n[split] || took < m->t->ns[split])
            m->t->ns[split] = took;
        if (split && (!m->t->n[split] || busy < m->t->busy_ns))
            m->t->busy_ns = busy;
        m->t->n[split]++;
        pthread_mutex_unlock(&lock);
    }
    gs_real()->clReleaseEvent(end);
    forget_measurement(m);
}

void gs_timing_learn(struct gs_timing *t, cl_event begin, cl_event end, const cl_event *parts, unsigned n_parts)
{
    struct measurement *m = calloc(1, sizeof *m);
    if (!m)
        return;
    m->t = t;
    if (begin && gs_real()->clRetainEvent(begin) == CL_SUCCESS)
        m->begin = begin;
    for (unsigned p = 0; p < n_parts; p++)
        if (gs_real()->clRetainEvent(parts[p]) == CL_SUCCESS)
            m->part[m->n_parts++] = parts[p];
    if (gs_real()->clRetainEvent(end) != CL_SUCCESS) {
        forget_measurement(m);
    } else if (gs_real()->clSetEventCallback(end, CL_COMPLETE, learn, m) != CL_SUCCESS) {
        gs_real()->clReleaseEvent(end);
        forget_measurement(m);
    }
}
