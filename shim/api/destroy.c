/* SPDX-License-Identifier: MIT */
/* The end of each kind of object, with all that rooms have hung off it, once nobody holds it; and what is done when
 * memory, contexts and queues come back to the application after their last release. */
#include "shim/api/api.h"
#include "shim/output/output.h"
#include "shim/plan/prepare.h"
#include "shim/record/upward.h"
#include "shim/memory/object.h"
#include "shim/transfer/transfer.h"
#include "shim/pooled/pooled.h"

static void destroy_program(struct gs_object *o)
{
    struct gs_program *p = (struct gs_program *)o;
    gs_program_free(p);
    free(p->source);
    free(p->options);
    free(p->link_options);
    pthread_mutex_destroy(&p->lock);
}

static void destroy_kernel(struct gs_object *o)
{
    struct gs_kernel *k = (struct gs_kernel *)o;
    for (unsigned i = 0; i < GS_MAX_DEVICES; i++)
        GS_RELEASE(Kernel, k->spare[i]);
    for (cl_uint i = 0; i < k->n_args; i++)
        free(k->args[i].large);
    free(k->args);
    atomic_fetch_sub(&k->program->kernels, 1);
    gs_drop(&k->program->o);
}

static void destroy_event(struct gs_object *o)
{
    struct gs_event *e = (struct gs_event *)o;
    GS_RELEASE(CommandQueue, e->pooled);
    for (unsigned i = 0; i < e->n; i++) {
        if (e->part[i].of)
            gs_drop(&e->part[i].of->o); /* before its handle can become another event's */
        gs_real()->clReleaseEvent(e->part[i].event);
    }
}

static void free_kept(struct gs_kept *k)
{
    for (size_t i = 0; i < sizeof k->sampler / sizeof *k->sampler; i++)
        GS_RELEASE(Sampler, k->sampler[i]);
    gs_events_free(&k->at_home);
    free(k);
}

static void destroy_context(struct gs_object *o)
{
    struct gs_context *c = (struct gs_context *)o;
    gs_own_free(c);
    gs_scratch_free(c);
    gs_paths_free(c);
    gs_staging_free(c->staging);
    gs_shared_free(c->shared);
    if (c->pool)
        gs_pool_queues_free(c->pool);
    gs_ends_free(c->ends);
    free_kept(c->kept);
    pthread_mutex_destroy(&c->lock);
}

static void destroy(struct gs_object *o)
{
    static void (*const others[])(struct gs_object *) = {[GS_CONTEXT] = destroy_context,
                                                         [GS_QUEUE] = gs_queue_free,
                                                         [GS_PROGRAM] = destroy_program,
                                                         [GS_KERNEL] = destroy_kernel,
                                                         [GS_EVENT] = destroy_event};
    struct gs_mem *m = o->type == GS_MEM ? (struct gs_mem *)o : NULL;
    if (m && m->pool)
        gs_pool_root_free(m->pool);
    if (m) {
        cl_mem pooled = m->o.ctx->pooled && !m->is_sub_buffer ? m->o.handle : NULL;
        gs_mem_free(m);
        GS_RELEASE(MemObject, pooled);
        return;
    }
    others[o->type](o);
    free(o);
}

cl_int gs_retained(cl_int err, enum gs_type type, const void *handle)
{
    struct gs_object *again = err ? NULL : gs_retain(type, handle);
    if (again && type == GS_MEM)
        gs_mem_retained((struct gs_mem *)again);
    else if (again && type == GS_CONTEXT)
        gs_context_list_update((struct gs_context *)again);
    else if (!err && type == GS_QUEUE)
        gs_queue_retained((cl_command_queue)(uintptr_t)handle, (struct gs_queue *)again);
    return err;
}

const struct gs_above_objects gs_above_objects = {.destroy = destroy};
