/* SPDX-License-Identifier: MIT */
#include "shim/choice.h"

#include <stdlib.h>
#include <string.h>

#include "shim/report.h"

enum {
    TINY_LAUNCH = 1024,               /* work-items: so few never repay a second device's launch */
    SURE_LAUNCH = 32 * 1024,          /* work-items: so many are tried on all devices first */
    ENOUGH = 8,                       /* measurements of a kind; then the choice stands */
    TRANSLATION_NS = 20 * 1000 * 1000 /* what the first split costs beyond itself: translating and compiling */
};

struct gs_timing {
    struct gs_timing *next;
    char *name;
    uint64_t size[3];
    bool prepared;      /* its program has been translated */
    unsigned n[2];      /* measurements: on one device, split */
    uint64_t ns[2];     /* the shortest of them: the others had to wait for something */
    uint64_t spent_ns;  /* on one device so far */
    unsigned wanted[2]; /* launches chosen so */
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

static uint64_t split_guess_ns(const struct gs_timing *t)
{
    return t->ns[0] / gs_group()->n + overhead_ns() + (t->prepared ? 0 : TRANSLATION_NS);
}

const char *gs_choice_early(const struct gs_timing *t, cl_uint dims, const size_t *global)
{
    static const char too_small[] = "it is too small to gain", too_short[] = "it is too short to gain";
    uint64_t items = 1;
    if (!t)
        return NULL;
    for (cl_uint d = 0; d < dims; d++)
        items *= global[d];
    if (items < TINY_LAUNCH)
        return too_small;
    pthread_mutex_lock(&lock);
    const char *reason = NULL;
    if (!t->n[0] && !t->n[1] && items < SURE_LAUNCH)
        reason = too_small;
    /* Not worth translating for, or not yet. */
    else if (!t->n[1] && t->n[0] && split_guess_ns(t) > t->ns[0] && (t->prepared || t->spent_ns < 2 * TRANSLATION_NS))
        reason = too_short;
    else if (!t->n[1] && t->n[0] && t->ns[0] < 2 * overhead_ns())
        reason = too_short;
    pthread_mutex_unlock(&lock);
    return reason;
}

const char *gs_choice(struct gs_timing *t, const struct gs_plan *plan)
{
    (void)plan;
    if (!t)
        return NULL;
    pthread_mutex_lock(&lock);
    t->prepared = true;
    bool split = true;
    if (t->n[0] && t->n[1])
        split = t->ns[1] < t->ns[0];
    else if (t->n[1] >= 2 && t->wanted[0] == 0)
        split = t->ns[1] > 4 * overhead_ns(); /* short even when split: see what one device takes */
    else if (t->n[1] >= 3 && t->wanted[0] < 2)
        split = false;
    t->wanted[split]++;
    pthread_mutex_unlock(&lock);
    return split ? NULL : "one device was faster, or is being tried";
}

bool gs_timing_wants(const struct gs_timing *t, bool split)
{
    return t && t->n[split] < ENOUGH;
}

struct measurement {
    struct gs_timing *t;
    bool split;
    cl_event begin;
};

static cl_int profile(cl_event event, cl_profiling_info what, cl_ulong *value)
{
    return gs_real()->clGetEventProfilingInfo(event, what, sizeof *value, value, NULL);
}

static void CL_CALLBACK learn(cl_event end, cl_int status, void *data)
{
    struct measurement *m = data;
    cl_ulong from = 0, to = 0;
    cl_int err =
        m->begin ? profile(m->begin, CL_PROFILING_COMMAND_END, &from) : profile(end, CL_PROFILING_COMMAND_START, &from);
    if (!err)
        err = profile(end, CL_PROFILING_COMMAND_END, &to);
    if (!err && status == CL_COMPLETE && to > from) {
        pthread_mutex_lock(&lock);
        if (!m->t->n[m->split] || to - from < m->t->ns[m->split])
            m->t->ns[m->split] = to - from;
        m->t->n[m->split]++;
        if (!m->split)
            m->t->spent_ns += to - from;
        pthread_mutex_unlock(&lock);
    }
    if (m->begin)
        gs_real()->clReleaseEvent(m->begin);
    gs_real()->clReleaseEvent(end);
    free(m);
}

void gs_timing_learn(struct gs_timing *t, bool split, cl_event begin, cl_event end)
{
    struct measurement *m = malloc(sizeof *m);
    if (!m)
        return;
    *m = (struct measurement){t, split, begin};
    gs_real()->clRetainEvent(end);
    if (begin)
        gs_real()->clRetainEvent(begin);
    if (gs_real()->clSetEventCallback(end, CL_COMPLETE, learn, m) == CL_SUCCESS)
        return;
    gs_real()->clReleaseEvent(end);
    if (begin)
        gs_real()->clReleaseEvent(begin);
    free(m);
}
