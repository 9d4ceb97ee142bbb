/* SPDX-License-Identifier: MIT */
/* Specification, sections 5.9 and 5.10: kernels, their arguments and launches. */
#include "shim/api/api.h"

#include "shim/order/completion.h"
#include "shim/launch/launch.h"

/* Auto mode may leave a kernel on one device unasked whether it could be split: who reads --stats wants to know. */
static void ask_translator(struct gs_kernel *k)
{
    const char *reason;
    if (!gs_settings()->stats || gs_settings()->mode != GS_MODE_AUTO || k->o.ctx->n == 1 || gs_in_callback())
        return;
    const struct gs_kernel_summary *s = gs_prepare(k, false, &reason);
    for (int null_local = 0; null_local < 2; null_local++)
        k->kind->never[null_local] = s ? gs_plan_never(s, gs_settings()->allow_reorder, null_local) : reason;
}

/* `name` may be null. */
static struct gs_kernel *track(cl_kernel handle, struct gs_program *p, const char *name)
{
    bool first; /* of its name */
    struct gs_kernel_kind *kind = handle && p ? gs_kind_find_or_make(p, handle, name, &first) : NULL;
    struct gs_kernel *k = kind ? calloc(1, sizeof *k) : NULL;
    if (!k)
        return NULL;
    k->n_args = kind->n_args;
    k->args = calloc(k->n_args + 1, sizeof *k->args);
    if (!k->args) {
        free(k);
        return NULL;
    }
    k->kind = kind;
    atomic_init(&k->id, atomic_load(&kind->id));
    atomic_init(&k->unsplittable, p->o.ctx->n == 1 || atomic_load(&kind->unsplittable));
    k->program = p;
    gs_hold(&p->o);
    atomic_fetch_add(&p->kernels, 1);
    gs_insert(&k->o, GS_KERNEL, handle, p->o.ctx);
    if (first) {
        ask_translator(k);
        gs_timing_prepare_known(p, kind->name);
    }
    return k;
}

static struct gs_program *program_of(cl_program program)
{
    struct gs_program *p = gs_find(GS_PROGRAM, program);
    return p || gs_forked() ? p : gs_program_of_unknown(program);
}

CL_API_ENTRY cl_kernel CL_API_CALL clCreateKernel(cl_program program, const char *kernel_name, cl_int *errcode_ret)
{
    cl_kernel handle = gs_real()->clCreateKernel(program, kernel_name, errcode_ret);
    const int before = errno;
    if (handle)
        track(handle, program_of(program), kernel_name);
    errno = before;
    return handle;
}

CL_API_ENTRY cl_int CL_API_CALL clCreateKernelsInProgram(cl_program program, cl_uint num_kernels, cl_kernel *kernels,
                                                         cl_uint *num_kernels_ret)
{
    cl_uint n = 0;
    cl_int err = gs_real()->clCreateKernelsInProgram(program, num_kernels, kernels, &n);
    if (num_kernels_ret && !err)
        *num_kernels_ret = n;
    const int before = errno;
    for (cl_uint i = 0; !err && kernels && i < n && i < num_kernels; i++)
        track(kernels[i], program_of(program), NULL);
    errno = before;
    return err;
}

/* Notes that an integer argument has grown to twice its maximum: as a loop's bound it may make short launches long. */
static inline void note_rise(struct gs_kernel *k, struct gs_arg *a, const void *value)
{
    uint64_t now = 0;
    if (a->size == sizeof(uint32_t))
        now = *(const uint32_t *)memcpy(&(uint32_t){0}, value, sizeof(uint32_t));
    else if (a->size == sizeof now)
        memcpy(&now, value, sizeof now);
    if (a->set && (now <= a->most || now / 2 < a->most))
        return;
    if (a->set)
        atomic_store_explicit(&k->risen, true, memory_order_relaxed);
    a->most = now;
}

/* Where an argument's value goes. NULL: no memory. */
static void *space_for(struct gs_arg *a, size_t size)
{
    if (size <= sizeof a->word)
        return &a->word;
    if (size > a->cap) {
        void *bytes = realloc(a->large, size);
        if (!bytes)
            return NULL;
        a->large = bytes;
        a->cap = size;
    }
    return a->large;
}

/* Keeps the value for the parts' kernels. Sets k->fresh (the next launch may define bytes, so it is looked at) and
 * k->risen (auto mode looks at the kernel's launches again). False: no memory. */
static bool keep_arg(struct gs_kernel *k, cl_uint i, size_t size, const void *value)
{
    struct gs_arg *a = &k->args[i];
    void *bytes = value ? space_for(a, size) : NULL;
    if (value && !bytes)
        return false;
    a->bytes = bytes;
    a->size = size;
    a->is_svm = false;
    struct gs_mem *m = value && size == sizeof(cl_mem) ? gs_find(GS_MEM, *(void *const *)value) : NULL;
    a->is_mem = m;
    if (m && !gs_is_defined(m))
        atomic_store_explicit(&k->fresh, true, memory_order_relaxed);
    if (value)
        memcpy(bytes, value, size);
    if (value && !m)
        note_rise(k, a, value);
    a->set = true;
    return true;
}

CL_API_ENTRY cl_kernel CL_API_CALL clCloneKernel(cl_kernel source_kernel, cl_int *errcode_ret)
{
    if (!gs_real()->clCloneKernel)
        return gs_refuse(errcode_ret, CL_INVALID_OPERATION);
    cl_kernel handle = gs_real()->clCloneKernel(source_kernel, errcode_ret);
    const struct gs_kernel *from = gs_find(GS_KERNEL, source_kernel);
    struct gs_kernel *k = handle && from ? track(handle, from->program, from->kind->name) : NULL;
    for (cl_uint i = 0; k && i < k->n_args; i++) {
        const struct gs_arg *a = &from->args[i];
        if (a->set)
            keep_arg(k, i, a->size, a->bytes);
        k->args[i].is_svm = a->is_svm;
    }
    if (k)
        k->svm_info = from->svm_info;
    return handle;
}

CL_API_ENTRY cl_int CL_API_CALL clSetKernelArg(cl_kernel kernel, cl_uint arg_index, size_t arg_size,
                                               const void *arg_value)
{
    const cl_int err = gs_real()->clSetKernelArg(kernel, arg_index, arg_size, arg_value);
    struct gs_kernel *k = err ? NULL : gs_find(GS_KERNEL, kernel);
    if (k && arg_index < k->n_args && !keep_arg(k, arg_index, arg_size, arg_value))
        k->args[arg_index].set = false; /* no split, then */
    return err;
}

CL_API_ENTRY cl_int CL_API_CALL clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint arg_index, const void *arg_value)
{
    if (!gs_real()->clSetKernelArgSVMPointer)
        return CL_INVALID_OPERATION;
    cl_int err = gs_real()->clSetKernelArgSVMPointer(kernel, arg_index, arg_value);
    struct gs_kernel *k = err ? NULL : gs_find(GS_KERNEL, kernel);
    if (k && arg_index < k->n_args && keep_arg(k, arg_index, sizeof arg_value, &arg_value))
        k->args[arg_index].is_svm = true;
    return err;
}

/* The value that every kernel has from its making. */
static bool is_default_info(cl_kernel_exec_info name, const void *value)
{
    cl_bool fine = CL_FALSE;
    if (name == CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM)
        memcpy(&fine, value, sizeof fine);
    return name == CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM && !fine;
}

CL_API_ENTRY cl_int CL_API_CALL clSetKernelExecInfo(cl_kernel kernel, cl_kernel_exec_info param_name,
                                                    size_t param_value_size, const void *param_value)
{
    if (!gs_real()->clSetKernelExecInfo)
        return CL_INVALID_OPERATION;
    const cl_int err = gs_real()->clSetKernelExecInfo(kernel, param_name, param_value_size, param_value);
    struct gs_kernel *k = gs_find(GS_KERNEL, kernel);
    if (k && !err && !is_default_info(param_name, param_value))
        k->svm_info = true;
    return err;
}

/* A null device means the context's only device; the driver sees several. */
static cl_device_id only_device(cl_kernel kernel, cl_device_id device)
{
    const struct gs_kernel *k = device ? NULL : gs_find(GS_KERNEL, kernel);
    return k ? k->o.ctx->dev[0] : device;
}

CL_API_ENTRY cl_int CL_API_CALL clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                                         cl_kernel_work_group_info param_name, size_t param_value_size,
                                                         void *param_value, size_t *param_value_size_ret)
{
    return gs_real()->clGetKernelWorkGroupInfo(kernel, only_device(kernel, device), param_name, param_value_size,
                                               param_value, param_value_size_ret);
}

CL_API_ENTRY cl_int CL_API_CALL clGetKernelSubGroupInfo(cl_kernel kernel, cl_device_id device,
                                                        cl_kernel_sub_group_info param_name, size_t input_value_size,
                                                        const void *input_value, size_t param_value_size,
                                                        void *param_value, size_t *param_value_size_ret)
{
    if (!gs_real()->clGetKernelSubGroupInfo)
        return CL_INVALID_OPERATION;
    return gs_real()->clGetKernelSubGroupInfo(kernel, only_device(kernel, device), param_name, input_value_size,
                                              input_value, param_value_size, param_value, param_value_size_ret);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue command_queue, cl_kernel kernel,
                                                       cl_uint work_dim, const size_t *global_work_offset,
                                                       const size_t *global_work_size, const size_t *local_work_size,
                                                       cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
                                                       cl_event *event)
{
    struct gs_command cmd =
        GS_COMMAND(.kind = GS_OP_LAUNCH, .kernel = kernel, .dims = work_dim, .offset = global_work_offset,
                   .global = global_work_size, .local = local_work_size);
    GS_CALL("clEnqueueNDRangeKernel");
    struct gs_queue *q = gs_find(GS_QUEUE, command_queue);
    if (!q)
        return gs_command_pass(&cmd);
    gs_timeline_enqueue(q->timeline);
    struct gs_kernel *k = gs_find(GS_KERNEL, kernel);
    if (!k || k->o.ctx != q->o.ctx || gs_wait_has_failed(q->o.ctx, &cmd)) {
        gs_queue_close(command_queue);
        return gs_command_pass(&cmd);
    }
    if (q->o.ctx->pooled)
        return gs_command_pass(&cmd);
    cmd.q = q;
    cmd.ctx = q->o.ctx;
    return gs_launch(&cmd, k);
}

/* clEnqueueTask is a launch of one work-item (specification). */
CL_API_ENTRY cl_int CL_API_CALL clEnqueueTask(cl_command_queue command_queue, cl_kernel kernel,
                                              cl_uint num_events_in_wait_list, const cl_event *event_wait_list,
                                              cl_event *event)
{
    static const size_t one = 1;
    return clEnqueueNDRangeKernel(command_queue, kernel, 1, NULL, &one, &one, num_events_in_wait_list, event_wait_list,
                                  event);
}
