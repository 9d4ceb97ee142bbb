/* SPDX-License-Identifier: MIT */
/* Specification, section 5.8: programs. The application's program is the driver's, built for the first device; of its
 * source and options a copy is kept for the translator. */
#include "shim/api/api.h"
#include "shim/choose/timing.h"
#include "shim/process/threads.h"

#include "common/cache.h"
#include "common/lock/rank.h"

/* NULL: there is no program, it is none of ours, or no memory. */
static struct gs_program *track(cl_context context, cl_program handle, const char *refusal)
{
    struct gs_context *c = handle ? gs_find(GS_CONTEXT, context) : NULL;
    struct gs_program *p = c ? calloc(1, sizeof *p) : NULL;
    if (!p)
        return NULL;
    p->refusal = refusal;
    pthread_mutex_init(&p->lock, NULL);
    gs_rank_lock(&p->lock, GS_RANK_PROGRAM);
    gs_insert(&p->o, GS_PROGRAM, handle, c);
    return p;
}

struct gs_program *gs_program_of_unknown(cl_program handle)
{
    cl_context context = NULL;
    gs_real()->clGetProgramInfo(handle, CL_PROGRAM_CONTEXT, sizeof context, &context, NULL);
    struct gs_program *p = track(context, handle, GS_R_BY_EXTENSION);
    if (p)
        gs_program_made_of(p, NULL, 0);
    return p;
}

/* The strings of clCreateProgramWithSource as one; NULL if there is no memory. */
static char *join(cl_uint count, const char **strings, const size_t *lengths)
{
    size_t total = 0;
    for (cl_uint i = 0; i < count; i++)
        total += lengths && lengths[i] ? lengths[i] : strlen(strings[i]);
    char *text = malloc(total + 1), *at = text;
    for (cl_uint i = 0; text && i < count; i++) {
        size_t n = lengths && lengths[i] ? lengths[i] : strlen(strings[i]);
        memcpy(at, strings[i], n);
        at += n;
    }
    if (text)
        *at = '\0';
    return text;
}

CL_API_ENTRY cl_program CL_API_CALL clCreateProgramWithSource(cl_context context, cl_uint count, const char **strings,
                                                              const size_t *lengths, cl_int *errcode_ret)
{
    cl_program handle = gs_real()->clCreateProgramWithSource(context, count, strings, lengths, errcode_ret);
    struct gs_program *p = track(context, handle, GS_R_NOT_BUILT);
    if (p) {
        p->source = join(count, strings, lengths);
        if (!p->source)
            p->refusal = GS_R_NO_MEMORY;
    }
    return handle;
}

CL_API_ENTRY cl_program CL_API_CALL clCreateProgramWithBinary(cl_context context, cl_uint num_devices,
                                                              const cl_device_id *device_list, const size_t *lengths,
                                                              const unsigned char **binaries, cl_int *binary_status,
                                                              cl_int *errcode_ret)
{
    cl_program handle = gs_real()->clCreateProgramWithBinary(context, num_devices, device_list, lengths, binaries,
                                                             binary_status, errcode_ret);
    struct gs_program *p = track(context, handle, GS_R_FOREIGN_BINARY);
    const bool one = num_devices == 1 && lengths && binaries && binaries[0];
    if (p && !(one && gs_binary_find(p, binaries[0], lengths[0])))
        gs_program_made_of(p, one ? binaries[0] : NULL, one ? lengths[0] : 0);
    return handle;
}

CL_API_ENTRY cl_program CL_API_CALL clCreateProgramWithBuiltInKernels(cl_context context, cl_uint num_devices,
                                                                      const cl_device_id *device_list,
                                                                      const char *kernel_names, cl_int *errcode_ret)
{
    if (!gs_real()->clCreateProgramWithBuiltInKernels)
        return gs_refuse(errcode_ret, CL_INVALID_OPERATION);
    cl_program handle =
        gs_real()->clCreateProgramWithBuiltInKernels(context, num_devices, device_list, kernel_names, errcode_ret);
    struct gs_program *p = track(context, handle, GS_R_BUILT_IN);
    if (p)
        gs_program_made_of(p, kernel_names, strlen(kernel_names));
    return handle;
}

CL_API_ENTRY cl_program CL_API_CALL clCreateProgramWithIL(cl_context context, const void *il, size_t length,
                                                          cl_int *errcode_ret)
{
    if (!gs_real()->clCreateProgramWithIL)
        return gs_refuse(errcode_ret, CL_INVALID_OPERATION);
    cl_program handle = gs_real()->clCreateProgramWithIL(context, il, length, errcode_ret);
    struct gs_program *p = track(context, handle, GS_R_INTERMEDIATE);
    if (p)
        gs_program_made_of(p, il, length);
    return handle;
}

/* A driver refuses to build a program that has kernels, so what was known of the build stays. A driver that doesn't
 * refuse leaves kernels of two builds. */
static bool has_kernels(const struct gs_program *p)
{
    return atomic_load(&p->kernels) > 0;
}

CL_API_ENTRY cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint num_devices, const cl_device_id *device_list,
                                               const char *options,
                                               void(CL_CALLBACK *pfn_notify)(cl_program program, void *user_data),
                                               void *user_data)
{
    GS_CALL("clBuildProgram");
    struct gs_program *p = gs_find(GS_PROGRAM, program);
    if (!p)
        return gs_real()->clBuildProgram(program, num_devices, device_list, options, pfn_notify, user_data);
    const bool busy = has_kernels(p);
    if (p->source && !busy) {
        gs_program_clear(p);
        if (!p->from_binary)
            p->options = strdup(options ? options : "");
        p->refusal = p->options ? NULL : GS_R_NO_MEMORY;
    }
    /* no list means all devices of the context; the application knows of one */
    const bool all = !num_devices && !device_list;
    if (!busy && (gs_group()->remote || gs_later_compiles())) /* meanwhile the other servers have nothing to do */
        gs_timing_prepare_known(p, NULL);
    bool counted;
    if (!gs_threads_build(&counted))
        return CL_OUT_OF_HOST_MEMORY;
    const uint64_t begin = gs_now_ns();
    cl_int err = gs_real()->clBuildProgram(program, all ? 1 : num_devices, all ? p->o.ctx->dev : device_list, options,
                                           pfn_notify, user_data);
    gs_threads_built(counted);
    if (!err && !pfn_notify)
        atomic_store(&p->build_ns, gs_now_ns() - begin);
    if (busy && !err)
        p->refusal = GS_R_BUILT_AGAIN;
    gs_dump_built(p, err);
    if (!err && !busy && !pfn_notify && gs_settings()->mode == GS_MODE_AUTO) /* what earlier processes know of it */
        gs_timing_prepare_known(p, NULL);
    return err;
}

/* -1: no memory, or of some header there is no text. */
static int copy_unit(struct gs_translate_unit *to, const struct gs_translate_unit *from)
{
    struct gs_translate_header *headers = calloc(from->n_headers + 1, sizeof *headers);
    *to = (struct gs_translate_unit){strdup(from->source), strdup(from->options), headers, 0, NULL};
    bool whole = to->source && to->options && headers;
    for (size_t i = 0; i < from->n_headers && whole; i++) {
        const struct gs_translate_header *h = &from->headers[i];
        headers[i] = (struct gs_translate_header){strdup(h->name), h->text ? strdup(h->text) : NULL};
        to->n_headers = i + 1;
        whole = headers[i].name && headers[i].text;
    }
    return whole ? 0 : -1;
}

/* What a later link needs of this compilation. -1: as above. */
static int keep_unit(struct gs_program *p, const char *options, cl_uint n_headers, const cl_program *headers,
                     const char **names)
{
    struct gs_translate_header *given = calloc(n_headers + 1, sizeof *given);
    const struct gs_translate_unit unit = {p->source, options ? options : "", given, n_headers, NULL};
    p->units = calloc(1, sizeof *p->units);
    p->n_units = p->units != NULL;
    for (cl_uint i = 0; given && i < n_headers; i++) {
        const struct gs_program *h = gs_find(GS_PROGRAM, headers[i]);
        given[i] = (struct gs_translate_header){names[i], h ? h->source : NULL};
    }
    const int err = p->units && given ? copy_unit(p->units, &unit) : -1;
    free(given);
    return err;
}

CL_API_ENTRY cl_int CL_API_CALL clCompileProgram(cl_program program, cl_uint num_devices,
                                                 const cl_device_id *device_list, const char *options,
                                                 cl_uint num_input_headers, const cl_program *input_headers,
                                                 const char **header_include_names,
                                                 void(CL_CALLBACK *pfn_notify)(cl_program program, void *user_data),
                                                 void *user_data)
{
    GS_CALL("clCompileProgram");
    struct gs_program *p = gs_find(GS_PROGRAM, program);
    if (!gs_real()->clCompileProgram)
        return CL_INVALID_OPERATION;
    if (!p)
        return gs_real()->clCompileProgram(program, num_devices, device_list, options, num_input_headers, input_headers,
                                           header_include_names, pfn_notify, user_data);
    const bool busy = has_kernels(p);
    if (p->source && !p->from_binary && !busy && (!num_input_headers || (input_headers && header_include_names))) {
        gs_program_clear(p);
        p->compiled = true;
        p->refusal = GS_R_NOT_LINKED;
        if (keep_unit(p, options, num_input_headers, input_headers, header_include_names) < 0)
            gs_program_drop_units(p);
    }
    const bool all = !num_devices && !device_list;
    bool counted;
    if (!gs_threads_build(&counted))
        return CL_OUT_OF_HOST_MEMORY;
    cl_int err =
        gs_real()->clCompileProgram(program, all ? 1 : num_devices, all ? p->o.ctx->dev : device_list, options,
                                    num_input_headers, input_headers, header_include_names, pfn_notify, user_data);
    gs_threads_built(counted);
    if (busy && !err)
        p->refusal = GS_R_BUILT_AGAIN;
    return err;
}

static void keep_inputs(struct gs_program *p, cl_uint n, const cl_program *inputs)
{
    size_t units = 0;
    for (cl_uint i = 0; i < n; i++) {
        const struct gs_program *in = gs_find(GS_PROGRAM, inputs[i]);
        if (!in || !in->n_units) {
            p->refusal = GS_R_LINKED_FROM_BINARY;
            return;
        }
        units += in->n_units;
    }
    p->units = calloc(units + 1, sizeof *p->units);
    for (cl_uint i = 0; i < n && p->units; i++) {
        const struct gs_program *in = gs_find(GS_PROGRAM, inputs[i]);
        for (size_t k = 0; k < in->n_units; k++)
            if (copy_unit(&p->units[p->n_units++], &in->units[k]) < 0) {
                p->refusal = GS_R_NO_MEMORY;
                return;
            }
    }
    if (!p->units)
        p->refusal = GS_R_NO_MEMORY;
}

CL_API_ENTRY cl_program CL_API_CALL clLinkProgram(cl_context context, cl_uint num_devices,
                                                  const cl_device_id *device_list, const char *options,
                                                  cl_uint num_input_programs, const cl_program *input_programs,
                                                  void(CL_CALLBACK *pfn_notify)(cl_program program, void *user_data),
                                                  void *user_data, cl_int *errcode_ret)
{
    GS_CALL("clLinkProgram");
    struct gs_context *c = gs_find(GS_CONTEXT, context);
    if (!gs_real()->clLinkProgram)
        return gs_refuse(errcode_ret, CL_INVALID_OPERATION);
    const bool all = c && !num_devices && !device_list;
    bool counted = false;
    if (c && !gs_threads_build(&counted))
        return gs_refuse(errcode_ret, CL_OUT_OF_HOST_MEMORY);
    cl_program handle =
        gs_real()->clLinkProgram(context, all ? 1 : num_devices, all ? c->dev : device_list, options,
                                 num_input_programs, input_programs, pfn_notify, user_data, errcode_ret);
    gs_threads_built(counted);
    struct gs_program *p = track(context, handle, NULL);
    if (p) {
        p->linked = true;
        p->link_options = strdup(options ? options : "");
        if (options && strstr(options, "-create-library"))
            p->compiled = true;
        keep_inputs(p, num_input_programs, input_programs);
        if (!p->link_options)
            p->refusal = GS_R_NO_MEMORY;
        if (p->refusal)
            gs_program_made_of(p, NULL, 0);
        gs_dump_built(p, CL_SUCCESS);
    }
    return handle;
}

/* The binary of the first device alone, to where the application's only pointer says; null: nowhere. */
static cl_int first_binary(const struct gs_program *p, cl_program program, size_t space, void *value, size_t *size_ret)
{
    unsigned char *to = NULL, *binary = NULL;
    size_t bytes;
    if (value && space < sizeof to)
        return CL_INVALID_VALUE;
    if (size_ret)
        *size_ret = sizeof to;
    if (value)
        memcpy(&to, value, sizeof to);
    const cl_int err = to ? gs_binary_read(p->o.ctx, program, &binary, &bytes) : CL_SUCCESS;
    if (binary)
        memcpy(to, binary, bytes);
    free(binary);
    return err;
}

/* Of the driver's answers those for the first device. */
static cl_int program_info(const struct gs_program *p, cl_program program, cl_program_info param_name,
                           size_t param_value_size, void *param_value, size_t *param_value_size_ret)
{
    const cl_uint one = 1;
    cl_uint count = 0;
    /* PoCL names the parent of a device that a program was built for. */
    if (p && param_name == CL_PROGRAM_NUM_DEVICES)
        return gs_query_value(&one, sizeof one, param_value_size, param_value, param_value_size_ret);
    if (p && param_name == CL_PROGRAM_DEVICES)
        return gs_query_value(p->o.ctx->dev, sizeof *p->o.ctx->dev, param_value_size, param_value,
                              param_value_size_ret);
    if (!p || gs_real()->clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof count, &count, NULL) != CL_SUCCESS ||
        count == 1)
        return gs_real()->clGetProgramInfo(program, param_name, param_value_size, param_value, param_value_size_ret);
    if (param_name == CL_PROGRAM_BINARIES)
        return first_binary(p, program, param_value_size, param_value, param_value_size_ret);
    if (param_name == CL_PROGRAM_BINARY_SIZES) {
        size_t bytes;
        const cl_int err = gs_binary_read(p->o.ctx, program, NULL, &bytes);
        return err ? err : gs_query_value(&bytes, sizeof bytes, param_value_size, param_value, param_value_size_ret);
    }
    return gs_real()->clGetProgramInfo(program, param_name, param_value_size, param_value, param_value_size_ret);
}

static void remember_binary(struct gs_program *p, cl_program program, unsigned char *const *binaries)
{
    size_t bytes = 0;
    if (*binaries && program_info(p, program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL) == CL_SUCCESS &&
        bytes)
        gs_binary_keep(p, *binaries, bytes);
}

CL_API_ENTRY cl_int CL_API_CALL clGetProgramInfo(cl_program program, cl_program_info param_name,
                                                 size_t param_value_size, void *param_value,
                                                 size_t *param_value_size_ret)
{
    struct gs_program *p = gs_find(GS_PROGRAM, program);
    cl_int err = program_info(p, program, param_name, param_value_size, param_value, param_value_size_ret);
    if (!err && p && p->o.ctx->n > 1 && param_name == CL_PROGRAM_BINARIES && param_value)
        remember_binary(p, program, param_value);
    return err;
}
