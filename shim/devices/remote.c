/* SPDX-License-Identifier: MIT */

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shim/devices/group.h"

static struct {
    pthread_once_t once;
    char *state; /* a string in a file of its; or null */
} launcher = {.once = PTHREAD_ONCE_INIT};

static void open_state(void)
{
    const char *path = secure_getenv("GPUSPARC_REMOTE_STATE");
    const int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *at = mmap(NULL, GS_REMOTE_STATE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    launcher.state = at == MAP_FAILED ? NULL : at;
}

/* The driver's number of a device: the group may be some of them. */
static unsigned number_of(cl_device_id dev)
{
    cl_device_id all[GS_MAX_DEVICES];
    cl_platform_id platform = NULL;
    cl_uint n = 0, i = 0;
    gs_real()->clGetDeviceInfo(dev, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
    gs_real()->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, GS_MAX_DEVICES, all, &n);
    while (i < n && i < GS_MAX_DEVICES && all[i] != dev)
        i++;
    return i;
}

bool gs_remote_is_direct(cl_device_id from, cl_device_id to, uint64_t bytes)
{
    const char *rows = bytes > GS_REMOTE_FEW_BYTES ? secure_getenv("GPUSPARC_REMOTE_DIRECT") : NULL;
    for (unsigned i = rows ? number_of(from) : 0; rows && i; i--)
        rows = strchr(rows, ',') ? strchr(rows, ',') + 1 : NULL;
    const unsigned column = rows ? number_of(to) : 0;
    return rows && column < strcspn(rows, ",") && rows[column] == '1';
}

void gs_remote_note(const char *kernel)
{
    if (!gs_group()->remote)
        return;
    pthread_once(&launcher.once, open_state);
    if (launcher.state)
        strncpy(launcher.state, kernel,
                GS_REMOTE_STATE_BYTES - 1); /* two threads' names may mix: it is for a sentence alone */
}
