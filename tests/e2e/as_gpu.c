/* SPDX-License-Identifier: MIT */
/* A layer between gpusparc and the driver whose devices are GPUs, by what they say: there ends are looked for instead
 * of called back, and who is connected alone has larger units. With AS_GPU=unlike each has another name, so that they
 * are taken for devices that differ; with AS_GPU=late a read that blocks comes to the driver late. With
 * AS_GPU=nvidia it is NVIDIA's driver by name, and in a context of several devices as bad as that (docs/drivers.md): it
 * refuses an empty list of properties, and shared virtual memory ends the process. With AS_GPU_CODE=same, too, the
 * binary of each program is the same text in PTX, of a kernel for each word of AS_GPU_KERNELS; with other, each one's
 * own; with none, empty, as before it is built. AS_GPU_FLAGS says which of its buffer's flags for the host an image
 * made of a buffer has, by CL_MEM_FLAGS: none, or all, also beside flags of its own. */
#include "layer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool unlike;

enum { MOST = 16 };
static _Atomic(cl_device_id) seen[MOST];

/* In the order in which they are asked for. */
static unsigned number_of(cl_device_id device)
{
    unsigned i = 0;
    for (cl_device_id nobody = NULL; i + 1 < MOST; i++, nobody = NULL)
        if (atomic_compare_exchange_strong(&seen[i], &nobody, device) || nobody == device)
            break;
    return i;
}

static cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info param, size_t size, void *value,
                                      size_t *size_ret)
{
    const cl_int err = below.clGetDeviceInfo(device, param, size, value, size_ret);
    if (!err && param == CL_DEVICE_TYPE && value)
        *(cl_device_type *)value = CL_DEVICE_TYPE_GPU;
    if (!err && param == CL_DEVICE_NAME && value && size && unlike)
        *(char *)value = (char)('a' + number_of(device));
    return err;
}

static cl_int CL_API_CALL read_late(cl_command_queue queue, cl_mem mem, cl_bool blocking, size_t offset, size_t size,
                                    void *ptr, cl_uint n_wait, const cl_event *wait, cl_event *event)
{
    if (blocking)
        usleep(3000);
    return below.clEnqueueReadBuffer(queue, mem, blocking, offset, size, ptr, n_wait, wait, event);
}

/* ---- NVIDIA's ---- */

static cl_int CL_API_CALL platform_info(cl_platform_id platform, cl_platform_info param, size_t size, void *value,
                                        size_t *size_ret)
{
    static const char name[] = "NVIDIA CUDA";
    if (param != CL_PLATFORM_NAME)
        return below.clGetPlatformInfo(platform, param, size, value, size_ret);
    return answer(name, sizeof name, size, value, size_ret);
}

static bool has_several(cl_context context)
{
    cl_uint n = 0;
    return below.clGetContextInfo(context, CL_CONTEXT_NUM_DEVICES, sizeof n, &n, NULL) == CL_SUCCESS && n > 1;
}

static void *CL_API_CALL alloc(cl_context context, cl_svm_mem_flags flags, size_t size, cl_uint alignment)
{
    if (has_several(context))
        abort();
    return below.clSVMAlloc(context, flags, size, alignment);
}

static cl_mem CL_API_CALL buffer_of(cl_context context, const cl_mem_properties *properties, cl_mem_flags flags,
                                    size_t size, void *ptr, cl_int *err)
{
    if (!properties || !has_several(context))
        return below.clCreateBufferWithProperties(context, properties, flags, size, ptr, err);
    if (err)
        *err = CL_INVALID_VALUE;
    return NULL;
}

static cl_mem CL_API_CALL image_of(cl_context context, const cl_mem_properties *properties, cl_mem_flags flags,
                                   const cl_image_format *format, const cl_image_desc *desc, void *ptr, cl_int *err)
{
    if (!properties || !has_several(context))
        return below.clCreateImageWithProperties(context, properties, flags, format, desc, ptr, err);
    if (err)
        *err = CL_INVALID_VALUE;
    return NULL;
}

static size_t write_code(cl_program program, char *to, size_t room)
{
    const char *how = getenv("AS_GPU_CODE"), *kernels = getenv("AS_GPU_KERNELS");
    const unsigned number = strcmp(how, "same") == 0 ? 0 : (unsigned)((uintptr_t)program >> 4);
    size_t n = 0;
    for (const char *at = kernels ? kernels : ""; *at; at += strspn(at, " ")) {
        const int length = (int)strcspn(at, " ");
        n += (size_t)snprintf(to + n, room - n, ".entry %.*s(\n)\n{\n\tadd.f32 \t%%f1, %%f1, 0f%08X;\n\tret;\n}\n",
                              length, at, number);
        at += length;
    }
    return strcmp(how, "none") == 0 ? 0 : n + 1;
}

static cl_int CL_API_CALL program_info(cl_program program, cl_program_info what, size_t room, void *value, size_t *size)
{
    static char code[4096];
    size_t bytes[MOST];
    unsigned char *binaries[MOST];
    const cl_int err = below.clGetProgramInfo(program, what, what == CL_PROGRAM_BINARIES ? 0 : room,
                                              what == CL_PROGRAM_BINARIES ? NULL : value, size);
    if (err || !value)
        return err;
    const size_t n = write_code(program, code, sizeof code);
    for (size_t i = 0; i < MOST && what == CL_PROGRAM_BINARY_SIZES; i++)
        bytes[i] = n;
    if (what == CL_PROGRAM_BINARY_SIZES)
        memcpy(value, bytes, room < sizeof bytes ? room : sizeof bytes);
    if (what == CL_PROGRAM_BINARIES)
        memcpy(binaries, value, room < sizeof binaries ? room : sizeof binaries);
    for (size_t i = 0; i < room / sizeof *binaries && i < MOST && what == CL_PROGRAM_BINARIES; i++)
        if (binaries[i])
            memcpy(binaries[i], code, n);
    return CL_SUCCESS;
}

/* Images made of buffers, and what flags these were made with. */
static struct {
    cl_mem image;
    cl_mem_flags flags;
} images[MOST];
static unsigned n_images;
static pthread_mutex_t images_lock = PTHREAD_MUTEX_INITIALIZER;

static cl_mem CL_API_CALL image(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                                const cl_image_desc *desc, void *ptr, cl_int *err)
{
    cl_mem made = below.clCreateImage(context, flags, format, desc, ptr, err);
    if (made && desc->mem_object) {
        pthread_mutex_lock(&images_lock);
        images[n_images % MOST].image = made;
        images[n_images++ % MOST].flags = flags;
        pthread_mutex_unlock(&images_lock);
    }
    return made;
}

/* The newest of this handle. */
static cl_mem_flags asked_flags(cl_mem made)
{
    cl_mem_flags flags = 0;
    pthread_mutex_lock(&images_lock);
    for (unsigned i = n_images; i > 0 && i + MOST > n_images; i--)
        if (images[(i - 1) % MOST].image == made) {
            flags = images[(i - 1) % MOST].flags;
            break;
        }
    pthread_mutex_unlock(&images_lock);
    return flags;
}

static cl_int CL_API_CALL mem_info(cl_mem mem, cl_mem_info what, size_t room, void *value, size_t *size)
{
    const cl_mem_flags access = CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY,
                       host = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
    const cl_int err = below.clGetMemObjectInfo(mem, what, room, value, size);
    if (err || !value || what != CL_MEM_FLAGS)
        return err;
    const char *inherits = getenv("AS_GPU_FLAGS");
    cl_mem_flags *flags = value, of_buffer = 0;
    cl_mem_object_type type = 0;
    cl_mem buffer = NULL;
    below.clGetMemObjectInfo(mem, CL_MEM_TYPE, sizeof type, &type, NULL);
    below.clGetMemObjectInfo(mem, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof buffer, &buffer, NULL);
    if (inherits && buffer && type != CL_MEM_OBJECT_BUFFER) {
        below.clGetMemObjectInfo(buffer, CL_MEM_FLAGS, sizeof of_buffer, &of_buffer, NULL);
        *flags = asked_flags(mem) | (strcmp(inherits, "all") == 0 ? of_buffer & host : 0);
    }
    if (!(*flags & access))
        *flags |= CL_MEM_READ_WRITE;
    return err;
}

static void layer_start(void)
{
    const char *how = getenv("AS_GPU");
    unlike = how && strcmp(how, "unlike") == 0;
    layer.clGetDeviceInfo = device_info;
    if (how && strcmp(how, "late") == 0)
        layer.clEnqueueReadBuffer = read_late;
    if (how && strcmp(how, "nvidia") == 0) {
        layer.clGetPlatformInfo = platform_info;
        layer.clSVMAlloc = alloc;
        layer.clGetMemObjectInfo = mem_info;
        layer.clCreateImage = image;
        if (getenv("AS_GPU_CODE"))
            layer.clGetProgramInfo = program_info;
        layer.clCreateBufferWithProperties = buffer_of;
        layer.clCreateImageWithProperties = image_of;
    }
}
