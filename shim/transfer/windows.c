/* SPDX-License-Identifier: MIT */
#include "shim/transfer/windows.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* From cl_khr_external_memory, cl_khr_external_memory_opaque_fd and cl_nv_device_attribute_query. */
enum {
    EXTERNAL_MEMORY_HANDLE_OPAQUE_FD = 0x2060,
    DEVICE_HANDLE_LIST = 0x2051,
    DEVICE_HANDLE_LIST_END = 0,
    DEVICE_PCI_BUS_ID_NV = 0x4008,
    DEVICE_PCI_SLOT_ID_NV = 0x4009,
    DEVICE_PCI_DOMAIN_ID_NV = 0x400A
};

/* CUDA's driver interface, as far as it is needed here (CUDA Driver API, "Virtual Memory Management"). */
enum {
    CU_PCI_BUS = 33,
    CU_PCI_DEVICE = 34,
    CU_PCI_DOMAIN = 50,
    CU_PINNED = 1,
    CU_FD = 1,
    CU_ON_DEVICE = 1,
    CU_MINIMUM = 0
};

struct cu_allocation {
    int type, handle_types;
    struct {
        int type, id;
    } location;
    void *win32;
    unsigned char flags[8];
};

struct cuda {
    int (*init)(unsigned);
    int (*count)(int *);
    int (*attribute)(int *, int, int);
    int (*granularity)(size_t *, const struct cu_allocation *, int);
    int (*create)(unsigned long long *, size_t, const struct cu_allocation *, unsigned long long);
    int (*export_fd)(void *, unsigned long long, int, unsigned long long);
    int (*release)(unsigned long long);
};

static bool load(struct cuda *cu)
{
    static const char *const names[] = {"cuInit",
                                        "cuDeviceGetCount",
                                        "cuDeviceGetAttribute",
                                        "cuMemGetAllocationGranularity",
                                        "cuMemCreate",
                                        "cuMemExportToShareableHandle",
                                        "cuMemRelease"};
    void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    void *found[sizeof names / sizeof *names] = {NULL};
    for (size_t i = 0; lib && i < sizeof names / sizeof *names; i++)
        if (!(found[i] = dlsym(lib, names[i])))
            return false;
    memcpy(cu, found, sizeof *cu);
    return lib;
}

static int pci_address(cl_device_id dev, cl_uint address[3])
{
    static const cl_device_info what[3] = {DEVICE_PCI_DOMAIN_ID_NV, DEVICE_PCI_BUS_ID_NV, DEVICE_PCI_SLOT_ID_NV};
    for (int i = 0; i < 3; i++)
        if (gs_real()->clGetDeviceInfo(dev, what[i], sizeof *address, &address[i], NULL) != CL_SUCCESS)
            return -ENOTSUP;
    return 0;
}

int gs_windows_identity(const cl_device_id *dev, unsigned n, char *text, size_t bytes)
{
    char driver[128] = "";
    size_t at;
    if (gs_real()->clGetDeviceInfo(dev[0], CL_DRIVER_VERSION, sizeof driver, driver, NULL) != CL_SUCCESS)
        return -ENOTSUP;
    at = (size_t)snprintf(text, bytes, "%s", driver);
    for (unsigned i = 0; i < n; i++) {
        cl_uint a[3];
        if (pci_address(dev[i], a) < 0 || at + 32 > bytes || !gs_driver_extends(dev[i], "cl_khr_external_memory"))
            return -ENOTSUP;
        at += (size_t)snprintf(text + at, bytes - at, " %x:%x:%x", a[0], a[1], a[2]);
    }
    return 0;
}

/* CUDA's number of an OpenCL device; -1: CUDA doesn't show the device. */
static int cuda_device(const struct cuda *cu, cl_device_id dev)
{
    cl_uint a[3];
    int n = 0;
    if (pci_address(dev, a) < 0 || cu->count(&n) != 0)
        return -1;
    for (int i = 0; i < n; i++) {
        int domain, bus, slot;
        if (cu->attribute(&domain, CU_PCI_DOMAIN, i) == 0 && cu->attribute(&bus, CU_PCI_BUS, i) == 0 &&
            cu->attribute(&slot, CU_PCI_DEVICE, i) == 0 && (cl_uint)domain == a[0] && (cl_uint)bus == a[1] &&
            ((cl_uint)slot == a[2] || (cl_uint)slot == a[2] >> 3)) /* with the function's number, or without */
            return i;
    }
    return -1;
}

static cl_mem import(const struct cuda *cu, unsigned long long memory, uint64_t bytes, cl_context ctx, cl_device_id dev,
                     cl_int *err)
{
    int fd = -1;
    if (cu->export_fd(&fd, memory, CU_FD, 0) != 0) {
        *err = CL_OUT_OF_RESOURCES;
        return NULL;
    }
    const cl_mem_properties properties[] = {
        EXTERNAL_MEMORY_HANDLE_OPAQUE_FD,  (cl_mem_properties)fd,  DEVICE_HANDLE_LIST,
        (cl_mem_properties)(uintptr_t)dev, DEVICE_HANDLE_LIST_END, 0};
    cl_mem mem = gs_real()->clCreateBufferWithProperties(ctx, properties, CL_MEM_READ_WRITE, (size_t)bytes, NULL, err);
    if (*err)
        close(fd); /* the driver owns it after success */
    return mem;
}

int gs_windows_open(struct gs_windows *w, cl_context ctx, const cl_device_id *dev, char *why, size_t why_bytes)
{
    const unsigned n = w->n;
    const uint64_t bytes = w->bytes;
    struct cuda cu;
    *w = (struct gs_windows){.n = n, .bytes = bytes};
    snprintf(why, why_bytes, "the driver hasn't got cl_khr_external_memory");
    for (unsigned i = 0; i < n; i++)
        if (!gs_driver_has(dev[i], "clCreateBufferWithProperties") ||
            !gs_driver_extends(dev[i], "cl_khr_external_memory"))
            return -ENOTSUP;
    snprintf(why, why_bytes, "libcuda.so.1 is not there or too old");
    if (bytes > GS_WINDOW_MAX_BYTES || !load(&cu) || cu.init(0) != 0)
        return -ENOTSUP;
    for (unsigned i = 0; i < n; i++) {
        unsigned long long memory = 0;
        const struct cu_allocation a = {
            .type = CU_PINNED, .handle_types = CU_FD, .location = {CU_ON_DEVICE, cuda_device(&cu, dev[i])}};
        size_t grain = 0;
        int err = a.location.id < 0 ? -1 : cu.granularity(&grain, &a, CU_MINIMUM);
        if (!err && (!grain || bytes % grain))
            err = -1;
        if (!err)
            err = cu.create(&memory, (size_t)bytes, &a, 0);
        cl_int cl_err = CL_SUCCESS;
        for (unsigned j = 0; j < n && !err && !cl_err; j++)
            w->seen[i][j] = import(&cu, memory, bytes, ctx, dev[j], &cl_err);
        if (memory)
            cu.release(memory); /* the imports keep it */
        if (err || cl_err) {
            snprintf(why, why_bytes, "memory of device %u can't be shared (CUDA %d, OpenCL %d)", i, err, cl_err);
            gs_windows_close(w);
            return -ENOTSUP;
        }
    }
    return 0;
}

void gs_windows_close(struct gs_windows *w)
{
    for (unsigned i = 0; i < w->n; i++)
        for (unsigned j = 0; j < w->n; j++)
            GS_RELEASE(MemObject, w->seen[i][j]);
    *w = (struct gs_windows){0};
}
