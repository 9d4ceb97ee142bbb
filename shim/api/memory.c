/* SPDX-License-Identifier: MIT */
/* Specification, sections 5.2, 5.3 and 5.5: memory objects, their making and their queries. The application's handle is
 * the driver's object on the first device; replicas come when they are needed. */
#include "shim/api/home.h"
#include "shim/api/initial.h"
#include "shim/events/gates.h"
#include "shim/pooled/pooled.h"

/* Flags that we don't tell the driver: bytes that the host may not touch go through its memory all the same, from
 * device to device. The host's calls are refused here instead. Combinations that the driver refuses are not hidden. */
static cl_mem_flags flags_to_hide(const struct gs_context *c, cl_mem_flags flags)
{
    const cl_mem_flags host = flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS);
    return c && c->followed && !(host & (host - 1)) ? host : 0;
}

static cl_mem track_buffer(struct gs_context *c, cl_mem handle, size_t size, cl_mem_flags flags, cl_mem_flags kept)
{
    struct gs_mem *m = c && handle ? gs_mem_root(c, handle, size, flags, kept) : NULL;
    if (m)
        gs_mem_publish(m, handle);
    return handle;
}

/* An object made without properties. Specification, CL_MEM_PROPERTIES: an empty list is one, too. */
static cl_mem with_properties(cl_mem handle, const cl_mem_properties *properties)
{
    struct gs_mem *m = handle && properties ? gs_find(GS_MEM, handle) : NULL;
    if (m)
        m->empty_properties = true;
    return handle;
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host_ptr,
                                               cl_int *errcode_ret)
{
    struct gs_context *c = gs_find(GS_CONTEXT, context);
    if (c && c->pooled)
        return gs_pool_create(c, flags, size, host_ptr, errcode_ret);
    cl_mem_flags kept = flags_to_hide(c, flags);
    flags &= ~kept;
    cl_mem handle = c && host_ptr && flags & CL_MEM_COPY_HOST_PTR
                        ? gs_initial_buffer(c, flags, size, host_ptr, &kept, errcode_ret)
                        : gs_real()->clCreateBuffer(context, flags, size, host_ptr, errcode_ret);
    return track_buffer(c, handle, size, flags, kept);
}

/* NVIDIA's driver (580.159) refuses an empty list in a context of several devices; nor is it told of none. */
CL_API_ENTRY cl_mem CL_API_CALL clCreateBufferWithProperties(cl_context context, const cl_mem_properties *properties,
                                                             cl_mem_flags flags, size_t size, void *host_ptr,
                                                             cl_int *errcode_ret)
{
    if (!gs_real()->clCreateBufferWithProperties)
        return gs_refuse(errcode_ret, CL_INVALID_OPERATION);
    const struct gs_context *c = gs_find(GS_CONTEXT, context);
    if (c && (!properties || !*properties))
        return with_properties(clCreateBuffer(context, flags, size, host_ptr, errcode_ret), properties);
    if (c && c->pooled)
        return gs_refuse(errcode_ret, CL_INVALID_PROPERTY);
    /* Properties that we don't know may tie the object to memory of somebody else. */
    return gs_real()->clCreateBufferWithProperties(context, properties, flags, size, host_ptr, errcode_ret);
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateSubBuffer(cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type,
                                                  const void *info, cl_int *errcode_ret)
{
    struct gs_mem *parent = gs_find(GS_MEM, buffer);
    const cl_buffer_region *r = info;
    if (parent && parent->root->pool && (parent->root != parent || parent->image))
        return gs_refuse(errcode_ret, CL_INVALID_MEM_OBJECT);
    if (!parent || parent->root != parent || type != CL_BUFFER_CREATE_TYPE_REGION || !r)
        return gs_real()->clCreateSubBuffer(buffer, flags, type, info, errcode_ret);
    if (parent->pool)
        return gs_pool_create_sub(parent, flags, r, errcode_ret);
    if (!gs_mem_has(parent, r->origin, r->size))
        return gs_real()->clCreateSubBuffer(buffer, flags, type, info, errcode_ret);
    if ((flags & CL_MEM_HOST_READ_ONLY && !gs_host_may(parent, CL_MAP_READ)) ||
        (flags & CL_MEM_HOST_WRITE_ONLY && !gs_host_may(parent, CL_MAP_WRITE)))
        return gs_refuse(errcode_ret, CL_INVALID_VALUE);
    cl_int err;
    struct gs_mem *m = gs_mem_sub_buffer(parent, flags, r, &err);
    gs_set_error(errcode_ret, err);
    return m ? m->o.handle : NULL;
}

static cl_mem track_image(struct gs_context *c, cl_mem handle, const cl_image_format *format, const cl_image_desc *desc,
                          cl_mem_flags flags)
{
    struct gs_mem *parent = c && handle && desc->mem_object ? gs_find(GS_MEM, desc->mem_object) : NULL;
    const bool known = c && handle && (parent || !desc->mem_object);
    struct gs_mem *m = known ? gs_mem_image(c, handle, parent, format, desc, flags) : NULL;
    if (m) /* now: another thread may have to do with all objects of the context */
        gs_mem_publish(m, handle);
    return handle;
}

/* Holds a unit of the link until the block ends, if memory with these flags goes by units. */
#define GS_INITIAL(c, flags, ptr)                                                                                      \
    struct gs_unit unit_ __attribute__((cleanup(gs_initial_end)));                                                     \
    gs_initial_begin(gs_initial_wanted(c, flags, ptr), &unit_)

CL_API_ENTRY cl_mem CL_API_CALL clCreateImage(cl_context context, cl_mem_flags flags,
                                              const cl_image_format *image_format, const cl_image_desc *image_desc,
                                              void *host_ptr, cl_int *errcode_ret)
{
    if (!gs_real()->clCreateImage)
        return gs_refuse(errcode_ret, CL_INVALID_OPERATION);
    struct gs_context *c = gs_find(GS_CONTEXT, context);
    if (c && c->pooled)
        return gs_pool_create_image(c, flags, image_format, image_desc, host_ptr, errcode_ret);
    GS_INITIAL(c, flags, host_ptr);
    const cl_mem_flags kept = image_desc && !image_desc->mem_object ? flags_to_hide(c, flags) : 0;
    cl_mem handle = gs_real()->clCreateImage(context, flags & ~kept, image_format, image_desc, host_ptr, errcode_ret);
    return track_image(c, handle, image_format, image_desc, flags);
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateImageWithProperties(cl_context context, const cl_mem_properties *properties,
                                                            cl_mem_flags flags, const cl_image_format *image_format,
                                                            const cl_image_desc *image_desc, void *host_ptr,
                                                            cl_int *errcode_ret)
{
    if (!gs_real()->clCreateImageWithProperties)
        return gs_refuse(errcode_ret, CL_INVALID_OPERATION);
    struct gs_context *c = gs_find(GS_CONTEXT, context);
    if (c && (!properties || !*properties))
        return with_properties(clCreateImage(context, flags, image_format, image_desc, host_ptr, errcode_ret),
                               properties);
    if (c && c->pooled)
        return gs_refuse(errcode_ret, CL_INVALID_PROPERTY);
    GS_INITIAL(c, flags, host_ptr);
    return gs_real()->clCreateImageWithProperties(context, properties, flags, image_format, image_desc, host_ptr,
                                                  errcode_ret);
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateImage2D(cl_context context, cl_mem_flags flags,
                                                const cl_image_format *image_format, size_t image_width,
                                                size_t image_height, size_t image_row_pitch, void *host_ptr,
                                                cl_int *errcode_ret)
{
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = image_width};
    desc.image_height = image_height;
    desc.image_row_pitch = image_row_pitch;
    return gs_find(GS_CONTEXT, context)
               ? clCreateImage(context, flags, image_format, &desc, host_ptr, errcode_ret)
               : gs_real()->clCreateImage2D(context, flags, image_format, image_width, image_height, image_row_pitch,
                                            host_ptr, errcode_ret);
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateImage3D(cl_context context, cl_mem_flags flags,
                                                const cl_image_format *image_format, size_t image_width,
                                                size_t image_height, size_t image_depth, size_t image_row_pitch,
                                                size_t image_slice_pitch, void *host_ptr, cl_int *errcode_ret)
{
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = image_width};
    desc.image_height = image_height;
    desc.image_depth = image_depth;
    desc.image_row_pitch = image_row_pitch;
    desc.image_slice_pitch = image_slice_pitch;
    return gs_find(GS_CONTEXT, context)
               ? clCreateImage(context, flags, image_format, &desc, host_ptr, errcode_ret)
               : gs_real()->clCreateImage3D(context, flags, image_format, image_width, image_height, image_depth,
                                            image_row_pitch, image_slice_pitch, host_ptr, errcode_ret);
}

enum { TWIN_BYTES = 1 << 20 }; /* of a buffer, or at most of an image's row */

/* A small object of the same kind, made with the flags that the application asked for; so is its parent. */
static cl_mem small_twin(cl_context context, cl_mem handle, void *host)
{
    const struct gs_mem *m = gs_find(GS_MEM, handle); /* null: a sub-buffer under an image, let go */
    const cl_mem_flags flags = m ? m->asked_flags : gs_mem_flags(handle);
    const cl_image_desc *d = m && m->image ? &m->image->desc : NULL;
    cl_mem parent = NULL, twin = NULL;
    gs_real()->clGetMemObjectInfo(handle, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, NULL);
    cl_mem of = parent ? small_twin(context, parent, host) : NULL;
    host = !parent && flags & (CL_MEM_COPY_HOST_PTR | CL_MEM_USE_HOST_PTR) ? host : NULL;
    if (d && !parent == !of) {
        const bool line = d->image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER;
        const cl_image_desc small = {.image_type = d->image_type,
                                     .image_width = line ? 1 : d->image_width,
                                     .image_height = d->image_height > 0,
                                     .image_depth = d->image_depth > 0,
                                     .image_array_size = d->image_array_size > 0,
                                     .image_row_pitch = of ? d->image_row_pitch : 0,
                                     .mem_object = of};
        twin = gs_real()->clCreateImage(context, flags, &m->image->format, &small, host, NULL);
    } else if (of) {
        const cl_buffer_region all = {0, TWIN_BYTES};
        twin = gs_real()->clCreateSubBuffer(of, flags, CL_BUFFER_CREATE_TYPE_REGION, &all, NULL);
    } else if (!parent) {
        twin = gs_real()->clCreateBuffer(context, flags, TWIN_BYTES, host, NULL);
    }
    GS_RELEASE(MemObject, of);
    return twin;
}

/* Drivers add flags, and pass a parent's on, each in its way: the driver is asked of an object made with all flags. */
static cl_mem_flags all_flags(const struct gs_mem *m)
{
    void *host = aligned_alloc(4096, TWIN_BYTES);
    struct gs_unit u;
    gs_initial_begin(gs_scheduled(), &u);
    cl_mem twin = host ? small_twin(m->root->o.ctx->o.handle, m->o.handle, host) : NULL;
    gs_initial_end(&u);
    const cl_mem_flags flags = twin ? gs_mem_flags(twin) : m->flags;
    if (twin)
        gs_release_now(twin);
    free(host);
    return flags;
}

CL_API_ENTRY cl_int CL_API_CALL clGetMemObjectInfo(cl_mem memobj, cl_mem_info param_name, size_t param_value_size,
                                                   void *param_value, size_t *param_value_size_ret)
{
    static const cl_mem_properties none;
    const struct gs_mem *made = param_name == CL_MEM_PROPERTIES ? gs_find(GS_MEM, memobj) : NULL;
    if (made && made->empty_properties)
        return gs_query_value(&none, sizeof none, param_value_size, param_value, param_value_size_ret);
    const struct gs_mem *pooled = gs_settings()->pooled ? gs_find(GS_MEM, memobj) : NULL;
    cl_int err = pooled ? gs_pool_mem_info(pooled, param_name, param_value_size, param_value, param_value_size_ret)
                        : GS_POOL_ASK;
    if (err != GS_POOL_ASK)
        return err;
    err = gs_real()->clGetMemObjectInfo(memobj, param_name, param_value_size, param_value, param_value_size_ret);
    const bool ours =
        param_name == CL_MEM_REFERENCE_COUNT || param_name == CL_MEM_MAP_COUNT || param_name == CL_MEM_FLAGS;
    struct gs_mem *m = err || !ours || !param_value ? NULL : gs_find(GS_MEM, memobj);
    if (m && param_name == CL_MEM_REFERENCE_COUNT)
        *(cl_uint *)param_value -= gs_mem_own_references(m);
    else if (m && param_name == CL_MEM_MAP_COUNT)
        *(cl_uint *)param_value += gs_mapped_count(m);
    else if (m && m->root->kept_flags)
        *(cl_mem_flags *)param_value = all_flags(m);
    return err;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseMemObject(cl_mem memobj)
{
    struct gs_mem *last = (struct gs_mem *)gs_release(GS_MEM, memobj);
    return last ? gs_mem_released(last) : gs_real()->clReleaseMemObject(memobj);
}

CL_API_ENTRY cl_int CL_API_CALL clSetMemObjectDestructorCallback(cl_mem memobj,
                                                                 void(CL_CALLBACK *pfn_notify)(cl_mem, void *),
                                                                 void *user_data)
{
    if (!gs_real()->clSetMemObjectDestructorCallback)
        return CL_INVALID_OPERATION;
    struct gs_mem *m = gs_find(GS_MEM, memobj);
    if (m && m->is_sub_buffer)
        gs_sub_buffer_callback(m);
    return gs_real()->clSetMemObjectDestructorCallback(memobj, pfn_notify, user_data);
}

/* With several devices behind the context the driver's object at home never moves, so the command is a marker.
 * (PoCL 3.1's own, under a command that ends meanwhile, releases its event once too often.) */
CL_API_ENTRY cl_int CL_API_CALL clEnqueueMigrateMemObjects(cl_command_queue command_queue, cl_uint num_mem_objects,
                                                           const cl_mem *mem_objects, cl_mem_migration_flags flags,
                                                           cl_uint num_events_in_wait_list,
                                                           const cl_event *event_wait_list, cl_event *event)
{
    const cl_mem_migration_flags known = CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
    struct gs_command cmd =
        GS_COMMAND(.kind = GS_OP_MIGRATE, .n_mems = num_mem_objects, .mems = mem_objects, .migration_flags = flags);
    const struct gs_queue *q = gs_command_begin(&cmd);
    bool ours = q && q->o.ctx->n > 1 && !q->o.ctx->pooled && num_mem_objects && mem_objects && !(flags & ~known) &&
                gs_list_is_valid(num_events_in_wait_list, event_wait_list);
    for (cl_uint i = 0; ours && i < num_mem_objects; i++)
        ours = gs_command_mem(&cmd, mem_objects[i]);
    if (!ours)
        return gs_command_pass(&cmd);
    struct gs_home h;
    cl_event own = NULL;
    gs_home_begin(&h, &cmd, true);
    const cl_int err = gs_home_mark(&h, &own);
    return gs_home_wait(&cmd, gs_home_end(&h, err), own);
}
