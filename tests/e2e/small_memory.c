/* SPDX-License-Identifier: MIT */
/* A layer below gpusparc whose devices have little memory: they say so, and buffers beyond that can't be made. What a
 * program has in all is what counts: SMALL_MEMORY_DEVICES times as much as a device has; but for buffers in the host's
 * memory.
 *   SMALL_MEMORY_BYTES=N    a device's memory; one buffer may have half of it
 *   SMALL_MEMORY_FIRST=N    that of the first device that is asked for, instead; buffers may be as large as without it
 *   SMALL_MEMORY_MOVED=FILE a line for each device at the end, by the order in which they were asked for: how many
 *                           bytes were written to it, and read from it, by transfers of a page and more
 *   SMALL_MEMORY_OFFSETS=0  launches begin at 0, whatever their offset: NVIDIA's driver holds 32 bits of it
 *   SMALL_MEMORY_FAIL=N     the N-th buffer of a page or more can't be made, whatever there is
 *   SMALL_MEMORY_GROUP=N    each kernel says that a work-group has N work-items at most, though it runs larger ones */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "layer.h"

enum { SMALL_BYTES = 4096, MOST = 16 };

static cl_ulong room, first, devices, used, made, fails, offsets, group;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct device {
    cl_device_id id;
    cl_ulong written, read;
} seen[MOST];

static cl_ulong number(const char *variable, cl_ulong otherwise)
{
    const char *text = getenv(variable);
    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

static unsigned number_of(cl_device_id id)
{
    unsigned i = 0;
    pthread_mutex_lock(&lock);
    while (i + 1 < MOST && seen[i].id && seen[i].id != id)
        i++;
    seen[i].id = id;
    pthread_mutex_unlock(&lock);
    return i;
}

static void count(cl_command_queue queue, bool is_read, cl_ulong bytes)
{
    cl_device_id id = NULL;
    below.clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof(cl_device_id), &id, NULL);
    struct device *d = &seen[number_of(id)];
    pthread_mutex_lock(&lock);
    *(is_read ? &d->read : &d->written) += bytes < SMALL_BYTES ? 0 : bytes;
    pthread_mutex_unlock(&lock);
}

static cl_ulong bytes_of(cl_mem image, const size_t region[3])
{
    size_t texel = 0;
    below.clGetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof texel, &texel, NULL);
    return (cl_ulong)texel * region[0] * region[1] * region[2];
}

static cl_int CL_API_CALL read_buffer(cl_command_queue queue, cl_mem m, cl_bool blocking, size_t at, size_t bytes,
                                      void *to, cl_uint n, const cl_event *wait, cl_event *event)
{
    count(queue, true, bytes);
    return below.clEnqueueReadBuffer(queue, m, blocking, at, bytes, to, n, wait, event);
}

static cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem m, cl_bool blocking, size_t at, size_t bytes,
                                       const void *from, cl_uint n, const cl_event *wait, cl_event *event)
{
    count(queue, false, bytes);
    return below.clEnqueueWriteBuffer(queue, m, blocking, at, bytes, from, n, wait, event);
}

static cl_int CL_API_CALL read_image(cl_command_queue queue, cl_mem m, cl_bool blocking, const size_t *at,
                                     const size_t *region, size_t row, size_t slice, void *to, cl_uint n,
                                     const cl_event *wait, cl_event *event)
{
    count(queue, true, bytes_of(m, region));
    return below.clEnqueueReadImage(queue, m, blocking, at, region, row, slice, to, n, wait, event);
}

static cl_int CL_API_CALL write_image(cl_command_queue queue, cl_mem m, cl_bool blocking, const size_t *at,
                                      const size_t *region, size_t row, size_t slice, const void *from, cl_uint n,
                                      const cl_event *wait, cl_event *event)
{
    count(queue, false, bytes_of(m, region));
    return below.clEnqueueWriteImage(queue, m, blocking, at, region, row, slice, from, n, wait, event);
}

__attribute__((destructor)) static void report(void)
{
    const char *path = getenv("SMALL_MEMORY_MOVED");
    FILE *f = path && seen[0].id ? fopen(path, "w") : NULL;
    for (unsigned i = 0; f && i < MOST && seen[i].id; i++)
        fprintf(f, "%llu %llu\n", (unsigned long long)seen[i].written, (unsigned long long)seen[i].read);
    if (f)
        fclose(f);
}

static cl_int CL_API_CALL device_info(cl_device_id dev, cl_device_info what, size_t size, void *value, size_t *ret)
{
    const cl_ulong all = number_of(dev) == 0 ? first : room;
    const cl_ulong bytes = what == CL_DEVICE_GLOBAL_MEM_SIZE ? all : room / 2;
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
    pthread_mutex_lock(&lock);
    used -= (cl_ulong)(uintptr_t)bytes;
    pthread_mutex_unlock(&lock);
}

static cl_mem CL_API_CALL create(cl_context context, cl_mem_flags flags, size_t size, void *ptr, cl_int *err)
{
    cl_int own = CL_SUCCESS;
    if (size < SMALL_BYTES || flags & CL_MEM_USE_HOST_PTR)
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

static void layer_start(void)
{
    room = number("SMALL_MEMORY_BYTES", (cl_ulong)1 << 40);
    first = number("SMALL_MEMORY_FIRST", room);
    devices = number("SMALL_MEMORY_DEVICES", 2);
    fails = number("SMALL_MEMORY_FAIL", 0);
    group = number("SMALL_MEMORY_GROUP", 0);
    layer.clGetDeviceInfo = device_info;
    layer.clGetKernelWorkGroupInfo = kernel_info;
    offsets = number("SMALL_MEMORY_OFFSETS", 1);
    layer.clCreateBuffer = create;
    layer.clEnqueueReadBuffer = read_buffer;
    layer.clEnqueueWriteBuffer = write_buffer;
    layer.clEnqueueReadImage = read_image;
    layer.clEnqueueWriteImage = write_image;
    layer.clEnqueueNDRangeKernel = launch;
}
