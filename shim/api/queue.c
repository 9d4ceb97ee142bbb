/* SPDX-License-Identifier: MIT */
/* Specification, section 5.1: command queues, and 5.13: flush and finish. */
#include "shim/api/api.h"
#include "shim/report/report.h"
#include "shim/choose/timing.h"

/* A longer list of properties is handed to the driver as it is. */
enum { MOST_PROPERTIES = 32 };

void gs_queue_free(struct gs_object *queue)
{
    struct gs_queue *q = (struct gs_queue *)queue;
    gs_timeline_drop(q->timeline);
    if (q->behind)
        gs_queue_set_free(q->behind);
    free(q->times);
    free(q->list);
}

/* With --stats every launch's device time is wanted, so the driver's queue has profiles in any case. */
static cl_command_queue_properties with_profiles(cl_command_queue_properties p)
{
    return gs_report_wants_times() ? p | CL_QUEUE_PROFILING_ENABLE : p;
}

/* Puts the queue into its context's list, or takes it out: listed while the application has the queue. */
static void list_queue(struct gs_queue *q)
{
    struct gs_context *c = q->o.ctx;
    struct gs_queue **at = &c->queues;
    pthread_mutex_lock(&c->lock);
    const bool used = atomic_load(&q->o.refs) > 0;
    while (*at && *at != q)
        at = &(*at)->next;
    if (!*at && used) {
        q->next = c->queues;
        c->queues = q;
        atomic_fetch_add(&c->n_queues, 1);
    } else if (*at && !used) {
        *at = q->next;
        atomic_fetch_sub(&c->n_queues, 1);
    }
    pthread_mutex_unlock(&c->lock);
    if (!atomic_load(&c->o.refs)) /* the application has let the context go before */
        gs_context_list_update(c);
}

/* Null: none of ours. */
static struct gs_queue *track(cl_context context, cl_device_id device, cl_command_queue handle,
                              cl_command_queue_properties properties)
{
    struct gs_context *c = gs_find(GS_CONTEXT, context);
    struct gs_queue *q = c && handle && device == c->dev[0] ? gs_new_lines(sizeof *q) : NULL;
    if (!q)
        return NULL;
    q->timeline = gs_timeline_new();
    q->behind = gs_queue_set_new(handle);
    q->times = calloc(1, sizeof *q->times);
    if (!q->timeline || !q->behind || !q->times) {
        gs_queue_free(&q->o);
        free(q);
        return NULL;
    }
    q->properties = properties;
    q->out_of_order = properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    q->profiling = properties & CL_QUEUE_PROFILING_ENABLE;
    gs_insert(&q->o, GS_QUEUE, handle, c);
    list_queue(q);
    return q;
}

void gs_queue_retained(cl_command_queue handle, struct gs_queue *again)
{
    cl_context context;
    cl_device_id device;
    cl_command_queue_properties properties;
    if (again)
        list_queue(again);
    else if (!gs_find(GS_QUEUE, handle) &&
             !gs_real()->clGetCommandQueueInfo(handle, CL_QUEUE_CONTEXT, sizeof context, &context, NULL) &&
             !gs_real()->clGetCommandQueueInfo(handle, CL_QUEUE_DEVICE, sizeof device, &device, NULL) &&
             !gs_real()->clGetCommandQueueInfo(handle, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL) &&
             !(properties & CL_QUEUE_ON_DEVICE) && (again = track(context, device, handle, properties)))
        gs_timeline_enqueue_untracked(again->timeline); /* its commands of before */
}

CL_API_ENTRY cl_command_queue CL_API_CALL clCreateCommandQueue(cl_context context, cl_device_id device,
                                                               cl_command_queue_properties properties,
                                                               cl_int *errcode_ret)
{
    cl_command_queue q = gs_real()->clCreateCommandQueue(
        context, device, gs_find(GS_CONTEXT, context) ? with_profiles(properties) : properties, errcode_ret);
    track(context, device, q, properties);
    return q;
}

/* The list with other bits for CL_QUEUE_PROPERTIES, in `out`; false where it has none to change or is too long. */
static bool replace_properties(const cl_queue_properties *list, cl_command_queue_properties bits,
                               cl_queue_properties *out, size_t space)
{
    size_t n = 0;
    bool found = false;
    for (; list && list[n]; n += 2) {
        if (n + 5 > space)
            return false;
        out[n] = list[n];
        out[n + 1] = list[n] == CL_QUEUE_PROPERTIES ? bits : list[n + 1];
        found = found || list[n] == CL_QUEUE_PROPERTIES;
    }
    if (!found) {
        out[n++] = CL_QUEUE_PROPERTIES;
        out[n++] = bits;
    }
    out[n] = 0;
    return true;
}

/* What the application asked for, where the driver was asked for more. The list fits: see replace_properties(). */
static void keep_properties(struct gs_queue *q, const cl_queue_properties *list)
{
    size_t n = 0;
    while (list && list[n])
        n += 2;
    if (!q || !(q->list = malloc((n + 1) * sizeof *list)))
        return;
    q->list_bytes = list ? (n + 1) * sizeof *list : 0;
    if (list)
        memcpy(q->list, list, q->list_bytes);
}

CL_API_ENTRY cl_command_queue CL_API_CALL clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                                             const cl_queue_properties *properties,
                                                                             cl_int *errcode_ret)
{
    cl_command_queue_properties bits = 0;
    cl_queue_properties list[MOST_PROPERTIES];
    const cl_queue_properties *use = properties;
    for (const cl_queue_properties *p = properties; p && *p; p += 2)
        if (*p == CL_QUEUE_PROPERTIES)
            bits = p[1];
    if (!gs_real()->clCreateCommandQueueWithProperties)
        return gs_refuse(errcode_ret, CL_INVALID_OPERATION);
    if (bits & CL_QUEUE_ON_DEVICE)
        return gs_real()->clCreateCommandQueueWithProperties(context, device, properties, errcode_ret);
    if (gs_find(GS_CONTEXT, context) && with_profiles(bits) != bits &&
        replace_properties(properties, with_profiles(bits), list, sizeof list / sizeof *list))
        use = list;
    cl_command_queue handle = gs_real()->clCreateCommandQueueWithProperties(context, device, use, errcode_ret);
    struct gs_queue *q = track(context, device, handle, bits);
    if (use == list)
        keep_properties(q, properties);
    return handle;
}

static void outlive_queue(struct gs_queue *q)
{
    gs_queue_leave(q->o.handle);
    pthread_mutex_lock(&q->o.ctx->lock);
    gs_compound_leave(q);
    pthread_mutex_unlock(&q->o.ctx->lock);
    list_queue(q);
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseCommandQueue(cl_command_queue command_queue)
{
    struct gs_object *last = gs_release(GS_QUEUE, command_queue);
    if (last)
        outlive_queue((struct gs_queue *)last);
    return gs_released(last, gs_real()->clReleaseCommandQueue(command_queue));
}

CL_API_ENTRY cl_int CL_API_CALL clGetCommandQueueInfo(cl_command_queue command_queue, cl_command_queue_info param_name,
                                                      size_t param_value_size, void *param_value,
                                                      size_t *param_value_size_ret)
{
    const struct gs_queue *q = gs_find(GS_QUEUE, command_queue);
    if (q && param_name == CL_QUEUE_PROPERTIES)
        return gs_query_value(&q->properties, sizeof q->properties, param_value_size, param_value,
                              param_value_size_ret);
    if (q && q->list && param_name == CL_QUEUE_PROPERTIES_ARRAY)
        return gs_query_value(q->list, q->list_bytes, param_value_size, param_value, param_value_size_ret);
    return gs_real()->clGetCommandQueueInfo(command_queue, param_name, param_value_size, param_value,
                                            param_value_size_ret);
}

CL_API_ENTRY cl_int CL_API_CALL clFinish(cl_command_queue command_queue)
{
    GS_CALL("clFinish");
    struct gs_stretch before;
    gs_timing_before_wait(gs_find(GS_QUEUE, command_queue), &before);
    struct gs_queue *q = gs_scheduled() ? gs_find(GS_QUEUE, command_queue) : NULL;
    const unsigned upto = q ? gs_timeline_newest(q->timeline) : 0;
    if (q && !q->out_of_order)
        gs_queue_await(q, true);
    gs_queue_close(command_queue); /* also where the daemon has gone after the last launch */
    if (q)
        gs_queue_waits(1);
    const cl_int err = gs_real()->clFinish(command_queue);
    if (q)
        gs_queue_waits(-1);
    if (q && !err)
        gs_queue_drained(q, upto, true);
    gs_timing_after_wait(&before, err);
    gs_wait_ended();
    return err;
}
