/* SPDX-License-Identifier: MIT */
/* The devices of one platform that share the application's work; the application sees the first. */
#ifndef GS_SHIM_DEVICES_GROUP_H
#define GS_SHIM_DEVICES_GROUP_H

#include "common/links.h"
#include "shim/driver/real.h"
#include "shim/process/process.h"

struct gs_group {
    cl_platform_id platform; /* null: there is no group, and everything passes through */
    unsigned n;              /* 1 … GS_MAX_DEVICES */
    cl_device_id dev[GS_MAX_DEVICES];
    cl_uint units[GS_MAX_DEVICES];   /* compute units of each */
    cl_ulong memory[GS_MAX_DEVICES]; /* bytes of each one's global memory */
    cl_device_id parent;             /* of sub-devices; also in the context, since PoCL's image calls abort otherwise */
    cl_device_type type;             /* of the devices, as the driver says */
    bool sub_devices;   /* the devices are parts of one CPU device, and answer a request for GPUs as well */
    bool unasked;       /* the CPU was chosen because there is no GPU */
    bool unlike;        /* devices may differ in speed: they have different names, or are of several hosts */
    bool shared_memory; /* the devices work in the host's memory */
    bool remote;        /* devices of servers, on this host or others, by PoCL's remote driver */
    /* The platform is PoCL. PoCL (3.1, lib/CL/devices/common.c) keeps several forms of a kernel for one local size (for
     * any offset or 0, for any grid width or narrow ones), but counts the uses of all as uses of the form used last:
     * two launches of one kernel at once end the application by an assertion. */
    bool pocl;
    bool nvidia; /* the platform is NVIDIA's, with the habits of docs/drivers.md */
    /* the largest global_work_offset that work-items can be numbered by; 0: no limit */
    uint64_t most_offset;
    const char *reason;                /* why there are fewer devices than asked for, or NULL */
    cl_ulong clock_ns[GS_MAX_DEVICES]; /* add to a device's timer to get the first device's */
};

/* The process's group, made on the first call. */
const struct gs_group *gs_group(void);

/* Does the process learn launches' times by profiles? To choose, or to cut between devices that differ. */
bool gs_learns(void);

/* Makes a group for these settings; for `gpusparc devices`. 0, or -ENODEV with a sentence in `why`. */
int gs_group_make(struct gs_group *g, const struct gs_settings *s, char *why, size_t why_bytes);

/* Adds all that names the devices, their driver and its compiler, for names in the cache. */
void gs_devices_hash(const cl_device_id *dev, unsigned n, struct gs_hash *h);

/* The cache's name for the measured costs of links between these devices. */
void gs_links_name(const cl_device_id *dev, unsigned n, bool shared_memory, enum gs_transfer_path path,
                   char name[GS_LINKS_NAME_BYTES]);

/* ---- svm.c: shared virtual memory, where drivers have it for one device only (docs/drivers.md). Any thread ---- */

/* Must contexts have one device, since the program imports clSVMAlloc, or called it in an earlier process? */
bool gs_svm_alone(const struct gs_group *g);

/* clSVMAlloc is called in a context of n devices: must it fail? Says why, and keeps that for the next process. */
bool gs_svm_refuse(const struct gs_group *g, unsigned n);

/* ---- an application on devices of several hosts ---- */

enum { GS_REMOTE_FEW_BYTES = 32 * 1024 };

/* Do so many bytes go from device to device without this machine: between devices of one server, or of two servers that
 * reach each other (GPUSPARC_REMOTE_DIRECT)? Few don't, since the servers' way is one more to wait for. */
bool gs_remote_is_direct(cl_device_id from, cl_device_id to, uint64_t bytes);

/* An address that stands for memory in a server: a read to the address keeps the bytes there, and a write from it sends
 * them on (the engine's edit "direct"). Not memory of this process. */
static inline char *gs_remote_kept(const char *memory)
{
    return (char *)((uintptr_t)memory | (uintptr_t)1 << (8 * sizeof(uintptr_t) - 1));
}

#endif
