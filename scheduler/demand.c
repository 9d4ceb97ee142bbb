/* SPDX-License-Identifier: MIT */
#include "scheduler/demand.h"

#include <errno.h>
#include <stdlib.h>

int64_t gs_demand_said(const struct gs_config_task *task, unsigned gpus, enum gs_resource resource)
{
    const struct gs_config_chain *c = &task->chains[gpus];
    int64_t sum = 0;
    for (size_t i = 0; i < c->n_segments; i++)
        if (c->segments[i].resource == resource)
            sum += c->segments[i].worst_ns;
    return sum;
}

bool gs_demand_add(struct gs_demand *d, const struct gs_config_task *task, unsigned gpus, enum gs_resource resource,
                   int64_t ns)
{
    int64_t *seen = &d->seen_ns[gpus][resource], *counted = &d->counted_ns[gpus][resource];
    int64_t enough = gs_demand_said(task, gpus, resource);
    if (ns > *seen)
        *seen = ns;
    if (*counted > enough)
        enough = *counted;
    if (!task->chains[gpus].n_segments || ns <= enough || ns - enough <= task->deadline_ns / 1000)
        return false;
    *counted = ns + ns / 32;
    return true;
}

void gs_demand_join(struct gs_demand *d, const struct gs_demand *other)
{
    for (unsigned g = 0; g <= GS_MAX_GPUS; g++)
        for (int r = 0; r < GS_RESOURCES; r++) {
            if (other->seen_ns[g][r] > d->seen_ns[g][r])
                d->seen_ns[g][r] = other->seen_ns[g][r];
            if (other->counted_ns[g][r] > d->counted_ns[g][r])
                d->counted_ns[g][r] = other->counted_ns[g][r];
        }
}

/* A resource that the segments don't name. */
static int append_segment(struct gs_chain *c, enum gs_resource resource, int64_t ns)
{
    struct gs_segment *v = realloc(c->segments, (c->n + 1) * sizeof *v);
    if (!v)
        return -ENOMEM;
    c->segments = v;
    v[c->n++] = (struct gs_segment){.resource = resource, .worst_ns = ns};
    return 0;
}

static int stretch(struct gs_chain *c, enum gs_resource resource, int64_t ns)
{
    int64_t sum = 0, more;
    size_t longest = c->n;
    const size_t before = c->n;
    for (size_t i = 0; i < c->n; i++) {
        if (c->segments[i].resource != resource)
            continue;
        sum += c->segments[i].worst_ns;
        if (longest == c->n || c->segments[i].worst_ns > c->segments[longest].worst_ns)
            longest = i;
    }
    if (ns <= sum)
        return 0;
    if (longest == c->n)
        return append_segment(c, resource, ns);
    /* Each by its share, and what rounding leaves by the longest. */
    const double factor = (double)(ns - sum) / (double)sum;
    const int64_t missing = ns - sum;
    int64_t added = 0;
    for (size_t i = 0; i < c->n; i++) {
        if (c->segments[i].resource != resource || i == longest)
            continue;
        more = (int64_t)((double)c->segments[i].worst_ns * factor);
        more = more < missing - added ? more : missing - added;
        c->segments[i].worst_ns += more;
        added += more;
    }
    c->segments[longest].worst_ns += missing - added;
    for (size_t i = 0; i < before; i++) /* in chunks of the same length, so many more of them */
        if (c->segments[i].resource == resource) {
            const double chunks = (double)c->segments[i].chunks * (1 + factor) + 0.999;
            c->segments[i].chunks = chunks < (double)GS_CONFIG_MAX_CHUNKS ? (int)chunks : GS_CONFIG_MAX_CHUNKS;
        }
    return 0;
}

int gs_demand_apply(const struct gs_demand *d, struct gs_task *task, unsigned gpus)
{
    static const enum gs_resource resources[] = {GS_PCI, GS_GPU};
    int err = 0;
    for (unsigned g = 1; g <= gpus && g <= GS_MAX_GPUS; g++)
        for (size_t k = 0; k < 2 && task->chains[g].n && !err; k++)
            err = stretch(&task->chains[g], resources[k], d->counted_ns[g][resources[k]]);
    return err;
}
