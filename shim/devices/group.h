/* SPDX-License-Identifier: MIT */
/* Which devices form the group: those of one platform that share the work. The application sees the first of them. */
#ifndef GS_SHIM_DEVICES_GROUP_H
#define GS_SHIM_DEVICES_GROUP_H

#include "common/links.h"
#include "shim/driver/real.h"
#include "shim/process/process.h"

struct gs_group {
    cl_platform_id platform; /* null: there is no group, and everything passes through */
    unsigned n;              /* 1 … GS_MAX_DEVICES */
    cl_device_id dev[GS_MAX_DEVICES];
    cl_uint units[GS_MAX_DEVICES]; /* compute units of each */
    cl_device_id parent;           /* of sub-devices; PoCL wants it in the context too, or its image calls abort */
    cl_device_type type;           /* of the devices, as the driver says */
    bool sub_devices;              /* they are parts of one CPU device: they answer to who asks for a GPU as well */
    bool unasked;                  /* nobody has named the CPU: there is no GPU */
    bool unlike;                   /* they may differ in speed: by what they are called, or they are of several hosts */
    bool shared_memory;            /* the devices work in the host's memory */
    bool remote; /* the devices are those of servers, on this host or others: by PoCL's remote driver */
    /* The platform is PoCL, which (3.1, lib/CL/devices/common.c) keeps several forms of a kernel for one local size,
     * for launches that begin at 0 and for any, for grids up to a width and for any, but counts the uses of each as
     * those of the form used last: two launches of one kernel at once end the application by an assertion. */
    bool pocl;
    bool nvidia; /* the platform is NVIDIA's, with the habits of docs/drivers.md */
    /* The largest global_work_offset that its work-items are numbered by; 0: any. */
    uint64_t most_offset;
    const char *reason;                /* why it has fewer devices than asked for, or NULL */
    cl_ulong clock_ns[GS_MAX_DEVICES]; /* what to add to a device's timer to get the first device's */
};

/* The process's group, made on the first call. */
const struct gs_group *gs_group(void);

/* Does the process learn what launches take, by profiles? To choose, or to cut between devices that differ. */
bool gs_learns(void);

/* Makes a group for the settings given; for `gpusparc devices`. 0, or -ENODEV with a sentence. */
int gs_group_make(struct gs_group *g, const struct gs_settings *s, char *why, size_t why_bytes);

/* The name of what is kept of what the links between these devices cost. */
void gs_links_name(const cl_device_id *dev, unsigned n, bool shared_memory, enum gs_transfer_path path,
                   char name[GS_LINKS_NAME_BYTES]);

/* ---- svm.c: shared virtual memory where contexts of one device alone have it (docs/drivers.md). Any thread ---- */

/* Are contexts of one device, as the program imports clSVMAlloc, or a process of the same program has called it? */
bool gs_svm_alone(const struct gs_group *g);

/* clSVMAlloc in a context of n devices: must it fail? Says so, and keeps that for the program's next process. */
bool gs_svm_refuse(const struct gs_group *g, unsigned n);

/* ---- What an application on the devices of several hosts tells `gpusparc run --hosts`, which watches over
 * the servers and names the kernel where one is lost ---- */

enum { GS_REMOTE_STATE_BYTES = 128, GS_REMOTE_FEW_BYTES = 32 * 1024 };

/* The kernel that is launched now. Does nothing for a group of this machine's own devices. */
void gs_remote_note(const char *kernel);

/* Do so many bytes go from the one device to the other without this machine: between two of one server's, or of two
 * servers that reach each other (GPUSPARC_REMOTE_DIRECT)? Few don't: the two servers' way is one more to wait for. */
bool gs_remote_is_direct(cl_device_id from, cl_device_id to, uint64_t bytes);

/* Where to read what goes so, instead of memory of ours, and then to write it from, on the other device: the engine's
 * edit "direct". It is no memory, but stands for some in the one server. */
static inline char *gs_remote_kept(const char *memory)
{
    return (char *)((uintptr_t)memory | (uintptr_t)1 << (8 * sizeof(uintptr_t) - 1));
}

#endif
