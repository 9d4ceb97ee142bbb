/* SPDX-License-Identifier: MIT */
#include "shim/devices/group.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/log.h"
#include "common/reasons.h"

enum { MAX_PLATFORMS = 32, MAX_LISTED = 256 };

static struct {
    struct gs_group group;
    pthread_once_t once;
} machine = {.once = PTHREAD_ONCE_INIT};

static unsigned list_devices(cl_platform_id platform, cl_device_type type, cl_device_id *out)
{
    cl_uint n = 0;
    if (gs_real()->clGetDeviceIDs(platform, type, MAX_LISTED, out, &n) != CL_SUCCESS)
        return 0;
    return n < MAX_LISTED ? n : MAX_LISTED;
}

static cl_device_type type_of(cl_device_id dev)
{
    cl_device_type type = 0;
    gs_real()->clGetDeviceInfo(dev, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    return type;
}

/* Makes n sub-devices of equal size, or none. A device of fewer compute units than that is divided several times over,
 * so that some units serve two sub-devices: slow, and right. */
static bool divide(cl_device_id dev, unsigned n, cl_device_id *out)
{
    cl_uint units = 1, got = 0;
    gs_real()->clGetDeviceInfo(dev, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
    cl_uint each = units / n ? units / n : 1;
    const cl_device_partition_property equally[] = {CL_DEVICE_PARTITION_EQUALLY, (cl_device_partition_property)each, 0};
    unsigned count = 0;
    while (count < n) {
        cl_device_id sub[MAX_LISTED];
        if (each >= units || gs_real()->clCreateSubDevices(dev, equally, MAX_LISTED, sub, &got) != CL_SUCCESS || !got)
            break;
        for (cl_uint i = 0; i < got; i++) {
            if (count < n)
                out[count++] = sub[i];
            else
                gs_real()->clReleaseDevice(sub[i]);
        }
    }
    const bool made = count == n;
    while (!made && count)
        gs_real()->clReleaseDevice(out[--count]);
    return made;
}

/* A server's CPU claims unified memory like a CPU here, but its memory is the server's. */
static bool same_memory(const struct gs_group *g)
{
    if (g->remote)
        return false;
    for (unsigned i = 0; i < g->n; i++) {
        cl_bool unified = CL_FALSE;
        gs_real()->clGetDeviceInfo(g->dev[i], CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof unified, &unified, NULL);
        if (!(type_of(g->dev[i]) & CL_DEVICE_TYPE_CPU) || !unified)
            return false;
    }
    return true;
}

/* Each device's timer against the host's, so that profiles of several devices can stand side by side. */
static void compare_clocks(struct gs_group *g)
{
    cl_ulong first_device = 0, first_host = 0;
    if (!gs_driver_has(g->dev[0], "clGetDeviceAndHostTimer") ||
        gs_real()->clGetDeviceAndHostTimer(g->dev[0], &first_device, &first_host) != CL_SUCCESS)
        return;
    for (unsigned i = 1; i < g->n; i++) {
        cl_ulong device, host;
        if (gs_driver_has(g->dev[i], "clGetDeviceAndHostTimer") &&
            gs_real()->clGetDeviceAndHostTimer(g->dev[i], &device, &host) == CL_SUCCESS)
            g->clock_ns[i] = (first_device - first_host) - (device - host);
    }
}

/* Can the device be divided into equal parts? */
static bool may_be_divided(cl_device_id dev)
{
    cl_device_partition_property ways[16] = {0};
    cl_uint most = 0;
    size_t bytes = 0;
    if (!gs_driver_has(dev, "clCreateSubDevices") || !gs_driver_has(dev, "clReleaseDevice") ||
        gs_real()->clGetDeviceInfo(dev, CL_DEVICE_PARTITION_MAX_SUB_DEVICES, sizeof most, &most, NULL) != CL_SUCCESS ||
        gs_real()->clGetDeviceInfo(dev, CL_DEVICE_PARTITION_PROPERTIES, sizeof ways, ways, &bytes) != CL_SUCCESS)
        return false;
    for (size_t i = 0; i < bytes / sizeof *ways; i++)
        if (ways[i] == CL_DEVICE_PARTITION_EQUALLY)
            return most > 1;
    return false;
}

/* The first platform whose CPU device can be divided; else the first that has one. */
static int choose_cpu(struct gs_group *g, unsigned n, cl_platform_id *platforms, unsigned n_platforms)
{
    cl_device_id list[MAX_LISTED];
    cl_device_id whole = NULL;
    for (unsigned p = 0; p < n_platforms && !g->parent; p++) {
        if (!list_devices(platforms[p], CL_DEVICE_TYPE_CPU, list))
            continue;
        if (n > 1 && may_be_divided(list[0]) && divide(list[0], n, g->dev))
            g->parent = list[0];
        if (g->parent || !whole)
            g->platform = platforms[p];
        whole = whole ? whole : list[0];
    }
    g->sub_devices = whole != NULL;
    g->n = g->parent ? n : 1;
    g->dev[0] = g->parent ? g->dev[0] : whole;
    g->reason = n > 1 && !g->parent ? "the CPU device can't be divided" : NULL;
    return whole ? 0 : -ENODEV;
}

/* The GPUs of the first platform with most of them. A device that says it is a CPU, too, is none: Oclgrind's. */
static int choose_gpus(struct gs_group *g, cl_platform_id *platforms, unsigned n_platforms)
{
    cl_device_id list[MAX_LISTED];
    for (unsigned p = 0; p < n_platforms; p++) {
        const unsigned n = list_devices(platforms[p], CL_DEVICE_TYPE_GPU, list);
        unsigned gpus = 0;
        for (unsigned i = 0; i < n; i++)
            if (!(type_of(list[i]) & CL_DEVICE_TYPE_CPU) && gpus < GS_MAX_DEVICES)
                list[gpus++] = list[i];
        if (gpus <= g->n)
            continue;
        g->platform = platforms[p];
        g->n = gpus;
        memcpy(g->dev, list, gpus * sizeof *list);
    }
    return g->n ? 0 : -ENODEV;
}

/* The devices with the numbers given, or all, of the first platform that has any. */
static int choose_listed(struct gs_group *g, const struct gs_settings *s, cl_platform_id *platforms,
                         unsigned n_platforms)
{
    cl_device_id list[MAX_LISTED];
    for (unsigned p = 0; p < n_platforms; p++) {
        const unsigned n = list_devices(platforms[p], CL_DEVICE_TYPE_ALL, list);
        if (!n)
            continue;
        g->platform = platforms[p];
        for (unsigned i = 0; i < (s->spec == GS_SPEC_INDICES ? s->spec_n : n) && i < GS_MAX_DEVICES; i++) {
            const unsigned number = s->spec == GS_SPEC_INDICES ? s->spec_index[i] : i;
            if (number >= n)
                return -ENODEV;
            g->dev[g->n++] = list[number];
        }
        return 0;
    }
    return -ENODEV;
}

/* The platforms that gpusparc can work with; `why` says what the last of the others lacks. */
static unsigned list_platforms(cl_platform_id *out, char *why, size_t why_bytes)
{
    cl_platform_id all[MAX_PLATFORMS];
    cl_uint n = 0;
    unsigned usable = 0;
    snprintf(why, why_bytes, "there is no OpenCL platform; install a driver (pocl-opencl-icd serves the CPU)");
    if (!gs_real()->clGetPlatformIDs || gs_real()->clGetPlatformIDs(MAX_PLATFORMS, all, &n) != CL_SUCCESS)
        return 0;
    for (cl_uint i = 0; i < n && i < MAX_PLATFORMS; i++)
        if (gs_driver_usable(all[i], why, why_bytes))
            out[usable++] = all[i];
    return usable;
}

static bool is_called(cl_platform_id platform, const char *what)
{
    char name[64] = "";
    gs_real()->clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, NULL);
    return strcmp(name, what) == 0;
}

/* Are parts of the CPU device wanted? The CPU device uses the whole CPU: its halves can't be faster together, and a
 * launch that isn't split would take twice as long on one. So only on request. */
static bool wants_parts(const struct gs_settings *s)
{
    return s->spec == GS_SPEC_CPU || s->gpus || s->mode == GS_MODE_MULTI || s->verify || s->task;
}

/* Do names, numbers of compute units, or clocks differ? */
static bool differ(const struct gs_group *g)
{
    char name[2][256]; /* of the first, and of another one */
    cl_uint mhz[2];
    for (unsigned i = 0; i < g->n; i++) {
        const unsigned at = i > 0;
        name[at][0] = 0;
        mhz[at] = 0;
        gs_real()->clGetDeviceInfo(g->dev[i], CL_DEVICE_NAME, sizeof *name, name[at], NULL);
        gs_real()->clGetDeviceInfo(g->dev[i], CL_DEVICE_MAX_CLOCK_FREQUENCY, sizeof *mhz, &mhz[at], NULL);
        if (i && (strcmp(name[0], name[1]) != 0 || mhz[0] != mhz[1] || g->units[i] != g->units[0]))
            return true;
    }
    return false;
}

int gs_group_make(struct gs_group *g, const struct gs_settings *s, char *why, size_t why_bytes)
{
    *g = (struct gs_group){0};
    cl_platform_id platforms[MAX_PLATFORMS];
    const unsigned n_platforms = list_platforms(platforms, why, why_bytes);
    if (!n_platforms)
        return -ENODEV;
    int err = -ENODEV;
    const unsigned cpus = s->spec == GS_SPEC_CPU ? s->spec_n : s->gpus ? s->gpus : wants_parts(s) ? 2 : 1;
    if (s->remote && s->spec == GS_SPEC_CPU) {
        snprintf(why, why_bytes,
                 "cpu:N divides a CPU of this machine; with --hosts the servers' devices are the group");
        return err;
    }
    g->remote = s->remote;
    if (!g->remote && (s->spec == GS_SPEC_DEFAULT || s->spec == GS_SPEC_GPU))
        err = choose_gpus(g, platforms, n_platforms);
    else if (s->spec != GS_SPEC_CPU) /* --hosts has chosen what each server shows */
        err = choose_listed(g, s, platforms, n_platforms);
    if (err && !g->remote && (s->spec == GS_SPEC_DEFAULT || s->spec == GS_SPEC_CPU))
        err = choose_cpu(g, cpus, platforms, n_platforms);
    g->unasked = g->sub_devices && s->spec != GS_SPEC_CPU;
    if (!err && g->unasked && !wants_parts(s)) {
        g->sub_devices = false;
        if (s->mode == GS_MODE_AUTO)
            g->reason = GS_R_NO_GPU;
    }
    if (err) {
        snprintf(why, why_bytes, "%s",
                 s->remote ? "the servers of --hosts show no such device"
                 : s->spec == GS_SPEC_DEFAULT
                     ? "no OpenCL platform shows a GPU or a CPU device"
                     : "no device fits --devices or GPUSPARC_DEVICES; `gpusparc devices` lists what there is");
        *g = (struct gs_group){0};
        return err;
    }
    if (s->gpus && g->n > s->gpus)
        g->n = s->gpus;
    for (unsigned i = 0; i < g->n; i++) {
        g->units[i] = 1;
        gs_real()->clGetDeviceInfo(g->dev[i], CL_DEVICE_MAX_COMPUTE_UNITS, sizeof *g->units, &g->units[i], NULL);
        gs_real()->clGetDeviceInfo(g->dev[i], CL_DEVICE_GLOBAL_MEM_SIZE, sizeof *g->memory, &g->memory[i], NULL);
        g->type |= type_of(g->dev[i]);
    }
    g->shared_memory = same_memory(g);
    g->unlike = !g->sub_devices && (g->remote ? g->n > 1 : differ(g));
    g->pocl = is_called(g->platform, "Portable Computing Language");
    g->nvidia = is_called(g->platform, "NVIDIA CUDA");
    /* NVIDIA's driver (580.159.04) holds an offset in a signed number of 32 bits. A server's driver may be NVIDIA's. */
    g->most_offset = g->remote || g->nvidia ? INT32_MAX : 0;
    compare_clocks(g);
    return 0;
}

static void make_group(void)
{
    char why[256];
    if (gs_group_make(&machine.group, gs_settings(), why, sizeof why) < 0) {
        gs_error("%s", why);
        return;
    }
    gs_driver_is_at(gs_driver_address(machine.group.platform));
    if (machine.group.reason)
        gs_warn("%s; the application has the devices that it has without gpusparc", machine.group.reason);
    if (gs_settings()->mode == GS_MODE_SINGLE)
        machine.group.n = 1;
}

const struct gs_group *gs_group(void)
{
    pthread_once(&machine.once, make_group);
    return &machine.group;
}

bool gs_learns(void)
{
    const enum gs_mode mode = gs_settings()->mode;
    return mode == GS_MODE_AUTO || (mode == GS_MODE_MULTI && gs_group()->unlike);
}

void gs_devices_hash(const cl_device_id *dev, unsigned n, struct gs_hash *h)
{
    static const cl_device_info texts[] = {CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DEVICE_VERSION, CL_DRIVER_VERSION,
                                           CL_DEVICE_OPENCL_C_VERSION};
    for (unsigned i = 0; i < n; i++) {
        cl_uint units = 0;
        gs_real()->clGetDeviceInfo(dev[i], CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
        gs_hash_add(h, &units, sizeof units);
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
            char *s = gs_device_text(dev[i], texts[t]);
            gs_hash_add_text(h, s);
            free(s);
        }
    }
}

void gs_links_name(const cl_device_id *dev, unsigned n, bool shared_memory, enum gs_transfer_path path,
                   char name[GS_LINKS_NAME_BYTES])
{
    struct gs_hash h;
    const unsigned char way[2] = {(unsigned char)path, shared_memory};
    gs_hash_begin(&h);
    gs_hash_add(&h, way, sizeof way);
    gs_devices_hash(dev, n, &h);
    const char *hosts = gs_settings()->remote;
    const char *direct = secure_getenv("GPUSPARC_REMOTE_DIRECT");
    if (hosts)
        gs_hash_add(&h, hosts, strlen(hosts));
    if (hosts && direct)
        gs_hash_add(&h, direct, strlen(direct));
    memcpy(name, "links-", sizeof "links-");
    gs_hash_end_hex(&h, name + sizeof "links-" - 1);
}

/* ---- several hosts ---- */

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
