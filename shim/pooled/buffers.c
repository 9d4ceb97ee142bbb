/* SPDX-License-Identifier: MIT */
#include "shim/memory/object.h"
#include "shim/pooled/commands.h"
#include "shim/pooled/store.h"

/* The driver's object for a stand-in, which only the driver's own checks of arguments ever see. Large enough for these:
 * for sub-buffers drivers compare the offset with multiples of CL_DEVICE_MEM_BASE_ADDR_ALIGN (in bits). */
struct stand_in {
    size_t align, bytes;
};

static struct stand_in stand_in_of(size_t size)
{
    enum { LEAST = 64 };
    cl_uint bits = 0;
    gs_real()->clGetDeviceInfo(gs_group()->dev[0], CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, NULL);
    const size_t align = bits / 8 > LEAST ? bits / 8 : LEAST;
    return (struct stand_in){align, size < align ? size : align};
}

cl_int gs_pool_begin_with(struct gs_pool_root *r, const char *from, const size_t region[3], const size_t pitch[2])
{
    struct gs_range all = {0, r->size};
    char *to = r->host.base;
    gs_pool_lock();
    for (size_t z = 0; z < region[2] && from != r->host.base; z++)
        for (size_t y = 0; y < region[1]; y++, to += region[0])
            memcpy(to, from + z * pitch[1] + y * pitch[0], region[0]);
    const cl_int err = gs_pool_wrote_host(r, &GS_ONE_RANGE(all));
    gs_pool_unlock();
    return err;
}

cl_mem gs_pool_publish(cl_mem handle, struct gs_pool_root *root, struct gs_mem *m, cl_int err, cl_int *errcode_ret)
{
    err = !err && !m ? CL_OUT_OF_HOST_MEMORY : err;
    gs_set_error(errcode_ret, err);
    if (!err) {
        m->pool = root;
        gs_mem_publish(m, handle);
        return handle;
    }
    if (root)
        gs_pool_root_free(root);
    GS_RELEASE(MemObject, handle);
    return NULL;
}

cl_mem gs_pool_create(struct gs_context *ctx, cl_mem_flags flags, size_t size, void *host_ptr, cl_int *errcode_ret)
{
    const bool uses = flags & CL_MEM_USE_HOST_PTR, copies = flags & CL_MEM_COPY_HOST_PTR;
    const size_t region[3] = {size, 1, 1}, pitch[2] = {0};
    struct gs_pool_root *root = NULL;
    cl_int err;
    cl_mem handle = gs_real()->clCreateBuffer(ctx->o.handle, flags, stand_in_of(size).bytes, host_ptr, &err);
    if (!err && size > gs_pool_bytes())
        err = CL_INVALID_BUFFER_SIZE;
    if (!err)
        root = gs_pool_root_new(ctx, size, uses ? host_ptr : NULL, &err);
    if (!err && (uses || copies))
        err = gs_pool_begin_with(root, host_ptr, region, pitch);
    struct gs_mem *m = err ? NULL : gs_mem_root(ctx, handle, size, gs_mem_flags(handle), 0);
    return gs_pool_publish(handle, root, m, err, errcode_ret);
}

cl_mem gs_pool_create_sub(struct gs_mem *parent, cl_mem_flags flags, const cl_buffer_region *r, cl_int *errcode_ret)
{
    const struct stand_in of = stand_in_of(parent->size);
    const size_t origin = r->origin % of.align, most = of.bytes - origin;
    const cl_buffer_region region = {origin, r->size < most ? r->size : most};
    cl_int err = CL_INVALID_VALUE;
    cl_mem handle = NULL;
    if (!r->size || (r->origin <= parent->size && r->size <= parent->size - r->origin))
        handle = gs_real()->clCreateSubBuffer(parent->o.handle, flags, CL_BUFFER_CREATE_TYPE_REGION, &region, &err);
    struct gs_mem *m = err ? NULL : gs_mem_window(parent, handle, r->origin, r->size);
    return gs_pool_publish(handle, NULL, m, err, errcode_ret);
}

cl_int gs_pool_mem_info(const struct gs_mem *m, cl_mem_info what, size_t space, void *value, size_t *size_ret)
{
    const size_t size = m->size, origin = m->origin;
    const cl_mem of = m->root == m ? NULL : m->root->o.handle;
    const bool given = m->root->flags & CL_MEM_USE_HOST_PTR;
    const void *host = given ? m->root->pool->host.base + origin : NULL;
    switch (what) {
    case CL_MEM_SIZE:
        return gs_query_value(&size, sizeof size, space, value, size_ret);
    case CL_MEM_OFFSET:
        return gs_query_value(&origin, sizeof origin, space, value, size_ret);
    case CL_MEM_ASSOCIATED_MEMOBJECT:
        return gs_query_value(&of, sizeof of, space, value, size_ret);
    case CL_MEM_HOST_PTR:
        return gs_query_value(&host, sizeof host, space, value, size_ret);
    default:
        return GS_POOL_ASK;
    }
}

cl_int gs_pool_device_info(cl_device_info what, size_t space, void *value, size_t *size_ret)
{
    const cl_ulong bytes = gs_pool_bytes(), nothing = 0;
    const cl_device_exec_capabilities kernels = CL_EXEC_KERNEL;
    switch (what) {
    case CL_DEVICE_GLOBAL_MEM_SIZE:
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
        return gs_query_value(&bytes, sizeof bytes, space, value, size_ret);
    case CL_DEVICE_PIPE_SUPPORT: /* cl_bool */
        return gs_query_value(&nothing, sizeof(cl_bool), space, value, size_ret);
    case CL_DEVICE_SVM_CAPABILITIES:
        return gs_query_value(&nothing, sizeof(cl_device_svm_capabilities), space, value, size_ret);
    case CL_DEVICE_EXECUTION_CAPABILITIES:
        return gs_query_value(&kernels, sizeof kernels, space, value, size_ret);
    default:
        return GS_POOL_ASK;
    }
}
