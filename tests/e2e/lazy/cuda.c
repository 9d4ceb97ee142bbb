/* SPDX-License-Identifier: MIT */
/* What gpusparc wants of libcuda.so.1, beside the layer's mode gpu: memory is a file's number, and takes no room. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { DEVICES = 16, PCI_BUS = 33, OUT_OF_MEMORY = 2 };

int cuInit(unsigned flags)
{
    return (int)flags;
}

int cuDeviceGetCount(int *n)
{
    *n = DEVICES;
    return 0;
}

int cuDeviceGetAttribute(int *value, int what, int device)
{
    *value = what == PCI_BUS ? device : 0;
    return 0;
}

int cuMemGetAllocationGranularity(size_t *bytes, const void *properties, int how)
{
    *bytes = 2 << 20;
    return 0;
}

int cuMemCreate(unsigned long long *memory, size_t bytes, const void *properties, unsigned long long flags)
{
    const int fd = memfd_create("window", MFD_CLOEXEC);
    *memory = (unsigned long long)fd;
    return fd < 0 ? OUT_OF_MEMORY : 0;
}

int cuMemExportToShareableHandle(void *fd, unsigned long long memory, int type, unsigned long long flags)
{
    const int copy = dup((int)memory);
    memcpy(fd, &copy, sizeof copy);
    return copy < 0 ? OUT_OF_MEMORY : 0;
}

int cuMemRelease(unsigned long long memory)
{
    return close((int)memory);
}
