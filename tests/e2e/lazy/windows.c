/* SPDX-License-Identifier: MIT */
/* Mode gpu: PoCL's devices as GPUs of NVIDIA's, whose memory can be shared through files; libcuda.so.1 is cuda.c. */
#include "lazy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPAQUE_FD = 0x2060, PCI_BUS_ID_NV = 0x4008, PCI_SLOT_ID_NV = 0x4009, PCI_DOMAIN_ID_NV = 0x400A };
enum { MOST_WINDOWS = 64, MOST_DEVICES = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all below */
static struct {
    ino_t file;
    cl_context context;
    cl_mem mem; /* retained for ever */
} windows[MOST_WINDOWS];
static unsigned n_windows;
static cl_device_id devices[MOST_DEVICES];
static unsigned n_devices;

cl_int lazy_gpu_ids(cl_platform_id platform, cl_device_type type, cl_uint n, cl_device_id *out, cl_uint *n_ret)
{
    if (!(type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT)))
        return CL_DEVICE_NOT_FOUND;
    if (type & CL_DEVICE_TYPE_GPU)
        type = CL_DEVICE_TYPE_CPU;
    return lazy_below.clGetDeviceIDs(platform, type, n, out, n_ret);
}

static cl_uint number_of(cl_device_id device)
{
    pthread_mutex_lock(&lock);
    unsigned i = 0;
    while (i < n_devices && devices[i] != device)
        i++;
    if (i == n_devices && n_devices < MOST_DEVICES)
        devices[n_devices++] = device;
    pthread_mutex_unlock(&lock);
    return i;
}

cl_int lazy_gpu_info(cl_device_id device, cl_device_info what, size_t room, void *out, size_t *bytes_ret)
{
    const cl_device_type type = CL_DEVICE_TYPE_GPU;
    const cl_bool no = CL_FALSE;
    const cl_uint none = 0, bus = number_of(device);
    char text[8192] = "";
    switch (what) {
    case CL_DEVICE_TYPE:
        return answer(&type, sizeof type, room, out, bytes_ret);
    case CL_DEVICE_HOST_UNIFIED_MEMORY:
        return answer(&no, sizeof no, room, out, bytes_ret);
    case PCI_DOMAIN_ID_NV:
    case PCI_SLOT_ID_NV:
        return answer(&none, sizeof none, room, out, bytes_ret);
    case PCI_BUS_ID_NV:
        return answer(&bus, sizeof bus, room, out, bytes_ret);
    case CL_DEVICE_EXTENSIONS:
        lazy_below.clGetDeviceInfo(device, what, sizeof text - 32, text, NULL);
        strcat(text, " cl_khr_external_memory");
        return answer(text, strlen(text) + 1, room, out, bytes_ret);
    default:
        return lazy_below.clGetDeviceInfo(device, what, room, out, bytes_ret);
    }
}

/* Each import of a file's memory is the same buffer: PoCL's devices share the host's. */
cl_mem lazy_gpu_import(cl_context context, const cl_mem_properties *properties, cl_mem_flags flags, size_t bytes,
                       void *ptr, cl_int *err)
{
    struct stat st;
    if (!properties || *properties != OPAQUE_FD)
        return lazy_below.clCreateBufferWithProperties(context, properties, flags, bytes, ptr, err);
    if (fstat((int)properties[1], &st) != 0) {
        *err = CL_INVALID_VALUE;
        return NULL;
    }
    pthread_mutex_lock(&lock);
    unsigned i = 0;
    while (i < n_windows && (windows[i].file != st.st_ino || windows[i].context != context))
        i++;
    if (i == n_windows && n_windows < MOST_WINDOWS) {
        windows[i].mem = lazy_below.clCreateBuffer(context, flags, bytes, NULL, err);
        windows[i].file = st.st_ino;
        windows[i].context = context;
        n_windows += windows[i].mem != NULL;
    }
    cl_mem mem = i < n_windows ? windows[i].mem : NULL;
    if (i == MOST_WINDOWS)
        *err = CL_OUT_OF_RESOURCES;
    if (mem && (*err = lazy_below.clRetainMemObject(mem)) == CL_SUCCESS)
        close((int)properties[1]);
    pthread_mutex_unlock(&lock);
    return mem;
}

bool lazy_gpu_refuses(cl_mem buffer, const size_t *origin, const size_t *region, size_t row_pitch)
{
    size_t bytes = 0;
    lazy_below.clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof bytes, &bytes, NULL);
    return lazy.gpu && origin && region && (origin[1] + region[1]) * row_pitch > bytes;
}
