/* SPDX-License-Identifier: MIT */
/* A layer below gpusparc whose devices have little memory: they say so, and buffers beyond that can't be made. What a
 * program has in all is what counts: ROOM_DEVICES times as much as a device has.
 *   ROOM_BYTES=N    a device's memory; one buffer may have half of it
 *   ROOM_OFFSETS=0  launches begin at 0, whatever their offset: NVIDIA's driver holds 32 bits of it
 *   ROOM_FAIL=N     the N-th buffer of a page or more can't be made, whatever there is
 *   ROOM_GROUP=N    each kernel says that a work-group has N work-items at most, though it runs larger ones */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "layer.h"

enum { SMALL_BYTES = 4096 };

static struct _cl_icd_dispatch below;
static cl_ulong room, devices, used, made, fails, offsets, group;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static cl_ulong number(const char *variable, cl_ulong otherwise)
{
    const char *text = getenv(variable);
    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

static cl_int answer(const void *is, size_t bytes, size_t size, void *value, size_t *ret)
{
    if (value && size < bytes)
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, is, bytes);
    if (ret)
        *ret = bytes;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL device_info(cl_device_id dev, cl_device_info what, size_t size, void *value, size_t *ret)
{
    const cl_ulong bytes = what == CL_DEVICE_GLOBAL_MEM_SIZE ? room : room / 2;
    if (what != CL_DEVICE_GLOBAL_MEM_SIZE && what != CL_DEVICE_MAX_MEM_ALLOC_SIZE)
        return below.clGetDeviceInfo(dev, what, size, value, ret);
    return answer(&bytes, sizeof bytes, size, value, ret);
}

static cl_int CL_API_CALL kernel_info(cl_kernel kernel, cl_device_id dev, cl_kernel_work_group_info what, size_t size,
                                      void *value, size_t *ret)
{
    const size_t most = (size_t)group;
    if (what != CL_KERNEL_WORK_GROUP_SIZE || !group)
        return below.clGetKernelWorkGroupInfo(kernel, dev, what, size, value, ret);
    return answer(&most, sizeof most, size, value, ret);
}

static void CL_CALLBACK gone(cl_mem mem, void *bytes)
{
    (void)mem;
    pthread_mutex_lock(&lock);
    used -= (cl_ulong)(uintptr_t)bytes;
    pthread_mutex_unlock(&lock);
}

static cl_mem CL_API_CALL create(cl_context context, cl_mem_flags flags, size_t size, void *ptr, cl_int *err)
{
    cl_int own = CL_SUCCESS;
    if (size < SMALL_BYTES)
        return below.clCreateBuffer(context, flags, size, ptr, err);
    pthread_mutex_lock(&lock);
    if (size > room / 2)
        own = CL_INVALID_BUFFER_SIZE;
    else if (++made == fails || used + size > room * devices)
        own = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    else
        used += size;
    pthread_mutex_unlock(&lock);
    cl_mem mem = own ? NULL : below.clCreateBuffer(context, flags, size, ptr, &own);
    if (mem)
        below.clSetMemObjectDestructorCallback(mem, gone, (void *)(uintptr_t)size);
    if (err)
        *err = own;
    return mem;
}

static cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *offset,
                                 const size_t *global, const size_t *local, cl_uint n_wait, const cl_event *wait,
                                 cl_event *event)
{
    return below.clEnqueueNDRangeKernel(queue, kernel, dims, offsets ? offset : NULL, global, local, n_wait, wait,
                                        event);
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint num_entries, const cl_icd_dispatch *target_dispatch,
                                            cl_uint *num_entries_ret, const cl_icd_dispatch **layer_dispatch_ret)
{
    static struct _cl_icd_dispatch own;
    const cl_int err = layer_begin(num_entries, target_dispatch, num_entries_ret, layer_dispatch_ret, &below, &own);
    room = number("ROOM_BYTES", (cl_ulong)1 << 40);
    devices = number("ROOM_DEVICES", 2);
    fails = number("ROOM_FAIL", 0);
    group = number("ROOM_GROUP", 0);
    own.clGetDeviceInfo = device_info;
    own.clGetKernelWorkGroupInfo = kernel_info;
    offsets = number("ROOM_OFFSETS", 1);
    own.clCreateBuffer = create;
    own.clEnqueueNDRangeKernel = launch;
    return err;
}
