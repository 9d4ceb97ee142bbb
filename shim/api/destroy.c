/* SPDX-License-Identifier: MIT */
/* The end of each kind of object, once nobody holds it any more: of all that the rooms have hung off it. */
#include <stdlib.h>

#include "shim/api/api.h"
#include "shim/order/command.h"
#include "shim/schedule/dispatch.h"
#include "shim/plan/kinds.h"
#include "shim/plan/plan_cache.h"
#include "shim/plan/prepare.h"
#include "shim/record/own_kernels.h"
#include "shim/record/upward.h"
#include "shim/memory/scratch.h"
#include "shim/memory/object.h"
#include "shim/memory/peer.h"
#include "shim/memory/pinned.h"
#include "shim/memory/staging.h"
#include "shim/memory/strided.h"
#include "shim/pooled/pooled.h"

static inline void destroy_mem(struct gs_mem *m)
{
    if (m->pool)
        gs_pool_root_free(m->pool);
    gs_mem_free(m);
}

static void destroy_program(struct gs_program *p)
{
    gs_program_forget_translation(p);
    gs_program_forget_units(p);
    free(p->source);
    free(p->options);
    free(p->link_options);
    gs_kinds_free(p);
    pthread_mutex_destroy(&p->lock);
}

static void destroy_kernel(struct gs_kernel *k)
{
    for (unsigned i = 0; i < GS_MAX_DEVICES; i++) {
        if (k->part[i])
            gs_real()->clReleaseKernel(k->part[i]);
        if (k->spare[i])
            gs_real()->clReleaseKernel(k->spare[i]);
    }
    gs_plan_cache_free(k->plans);
    for (cl_uint i = 0; i < k->n_args; i++)
        free(k->args[i].large);
    free(k->args);
    atomic_fetch_sub(&k->program->kernels, 1);
    gs_drop(&k->program->o);
}

static void destroy_event(struct gs_event *e)
{
    for (unsigned i = 0; i < e->n; i++) {
        if (e->part[i].of)
            gs_drop(&e->part[i].of->o); /* before its handle can become another event's */
        gs_real()->clReleaseEvent(e->part[i].event);
    }
}

static void destroy_context(struct gs_context *c)
{
    gs_own_free(c->own);
    gs_strided_free(c->strided);
    gs_scratch_free(c);
    gs_peer_free(c->peer);
    gs_pinned_free(c->pinned);
    gs_pinned_free(c->pinned_small);
    gs_pinned_free(c->deferred_ring);
    gs_staging_free(c->staging);
    gs_pool_queues_free(c);
    if (c->sharing_queue)
        gs_real()->clReleaseCommandQueue(c->sharing_queue);
    if (c->ended)
        gs_real()->clReleaseEvent(c->ended);
    for (unsigned i = 0; i < GS_SAMPLERS; i++)
        if (c->samplers[i])
            gs_real()->clReleaseSampler(c->samplers[i]);
    gs_events_free(&c->at_home);
    gs_events_free(&c->orphans);
    gs_events_free(&c->unended);
    gs_events_free(&c->failed);
    pthread_mutex_destroy(&c->lock);
}

static GS_COLD void destroy_other(struct gs_object *o)
{
    switch (o->type) {
    case GS_CONTEXT:
        destroy_context((struct gs_context *)o);
        break;
    case GS_QUEUE:
        gs_queue_free((struct gs_queue *)o);
        break;
    case GS_MEM:
        break;
    case GS_PROGRAM:
        destroy_program((struct gs_program *)o);
        break;
    case GS_KERNEL:
        destroy_kernel((struct gs_kernel *)o);
        break;
    case GS_EVENT:
        destroy_event((struct gs_event *)o);
        break;
    }
    free(o);
}

static __attribute__((hot)) void destroy(struct gs_object *o)
{
    if (o->type == GS_MEM)
        destroy_mem((struct gs_mem *)o);
    else
        destroy_other(o);
}

const struct gs_above_objects gs_above_objects = {.destroy = destroy};
