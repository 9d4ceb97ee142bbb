/* SPDX-License-Identifier: MIT */
/* What gpusparc wants of libcuda.so.1, beside the layer's mode gpu: memory is a file's number, and takes no room. With
 * CUDA_MODE=3 one process at a time may use a device; CUDA_LOG=FILE gets a line for each process that begins. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { DEVICES = 16, COMPUTE_MODE = 20, PCI_BUS = 33, OUT_OF_MEMORY = 2 };

int cuInit(unsigned flags)
{
    const char *path = getenv("CUDA_LOG");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (file) {
        fputs("begins\n", file);
        fclose(file);
    }
    return (int)flags;
}

int cuDeviceGet(int *device, int i)
{
    *device = i;
    return 0;
}

int cuDeviceGetCount(int *n)
{
    *n = DEVICES;
    return 0;
}

int cuDeviceGetAttribute(int *value, int what, int device)
{
    *value = what == PCI_BUS ? device : what == COMPUTE_MODE && getenv("CUDA_MODE") ? 3 : 0;
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
