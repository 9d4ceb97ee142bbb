/* SPDX-License-Identifier: MIT */
/* PoCL as a driver that lacks functions, of any version: an ICD (OCL_ICD_VENDORS=.../partial.so) that opens PoCL's and
 * changes its table of functions.
 *   PARTIAL_DRIVER=FILE    PoCL's library, as /etc/OpenCL/vendors/pocl.icd names it
 *   PARTIAL_VERSION=M.N    what platform and devices say that they are; default 3.0
 *   PARTIAL=WORD,...       null:NAME    the table has no such function
 *                          error:NAME   it fails
 *                          hang:NAME    it never returns; hang:newer: so does each that came after PARTIAL_VERSION
 *                          whole        devices can't be divided
 *                          gpus         devices are GPUs with memory of their own
 *   PARTIAL_LOG=FILE       gets the name of each function at its first call */
#include "opencl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct form {
    const char *name;
    unsigned version; /* 12: it came with 1.2 */
    size_t offset;    /* of its entry */
    void (*note)(void), (*fail)(void), (*hang)(void);
};

static struct _cl_icd_dispatch below;
static void note(const char *name);
static _Noreturn void forever(const char *name);
#include "partial.inc"

enum { FORMS = sizeof forms / sizeof *forms };
static unsigned major = 3, minor;
static bool whole, gpus;
static FILE *log_file;

static void note(const char *name)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool seen[FORMS];
    pthread_mutex_lock(&lock);
    for (size_t i = 0; log_file && i < FORMS; i++)
        if (strcmp(forms[i].name, name) == 0 && !seen[i]) {
            seen[i] = true;
            fprintf(log_file, "%s\n", name);
            fflush(log_file);
        }
    pthread_mutex_unlock(&lock);
}

static _Noreturn void forever(const char *name)
{
    note(name);
    for (;;)
        pause();
}

static cl_int answer_version(const char *language, size_t room, void *out, size_t *bytes_ret)
{
    char text[64];
    const int n = snprintf(text, sizeof text, "OpenCL %s%u.%u partial", language, major, minor);
    return answer(text, (size_t)n + 1, room, out, bytes_ret);
}

static cl_int CL_API_CALL platform_info(cl_platform_id platform, cl_platform_info what, size_t room, void *out,
                                        size_t *bytes_ret)
{
    note("clGetPlatformInfo");
    return what == CL_PLATFORM_VERSION ? answer_version("", room, out, bytes_ret)
                                       : below.clGetPlatformInfo(platform, what, room, out, bytes_ret);
}

static cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info what, size_t room, void *out,
                                      size_t *bytes_ret)
{
    const cl_device_type gpu = CL_DEVICE_TYPE_GPU;
    const cl_device_partition_property no_way = 0;
    const cl_bool no = CL_FALSE;
    note("clGetDeviceInfo");
    if (what == CL_DEVICE_VERSION)
        return answer_version("", room, out, bytes_ret);
    if (what == CL_DEVICE_TYPE && gpus)
        return answer(&gpu, sizeof gpu, room, out, bytes_ret);
    if (what == CL_DEVICE_HOST_UNIFIED_MEMORY && gpus)
        return answer(&no, sizeof no, room, out, bytes_ret);
    if (what == CL_DEVICE_PARTITION_PROPERTIES && (whole || 10 * major + minor < 12))
        return major == 1 && minor < 2 ? CL_INVALID_VALUE : answer(&no_way, sizeof no_way, room, out, bytes_ret);
    return below.clGetDeviceInfo(device, what, room, out, bytes_ret);
}

static cl_int CL_API_CALL device_ids(cl_platform_id platform, cl_device_type type, cl_uint n, cl_device_id *out,
                                     cl_uint *n_ret)
{
    note("clGetDeviceIDs");
    if (gpus && type != CL_DEVICE_TYPE_ALL && type & (CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU))
        type = type & CL_DEVICE_TYPE_GPU ? CL_DEVICE_TYPE_CPU : CL_DEVICE_TYPE_ACCELERATOR;
    return below.clGetDeviceIDs(platform, type, n, out, n_ret);
}

static void put(struct _cl_icd_dispatch *table, size_t offset, void (*function)(void))
{
    memcpy((char *)table + offset, &function, sizeof function);
}

static void change(struct _cl_icd_dispatch *table, const char *word)
{
    const char *name = strchr(word, ':') ? strchr(word, ':') + 1 : "";
    whole |= strcmp(word, "whole") == 0;
    gpus |= strcmp(word, "gpus") == 0;
    for (size_t i = 0; i < FORMS; i++) {
        const struct form *f = &forms[i];
        const bool newer = strcmp(name, "newer") == 0 && f->version > 10 * major + minor;
        if (!newer && strcmp(name, f->name) != 0)
            continue;
        put(table, f->offset, *word == 'n' ? NULL : *word == 'e' ? f->fail : f->hang);
    }
}

/* All of PoCL's objects lead to this one table. */
static void change_table(struct _cl_icd_dispatch *table)
{
    const char *version = getenv("PARTIAL_VERSION"), *words = getenv("PARTIAL"), *file = getenv("PARTIAL_LOG");
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *first = (char *)((uintptr_t)table / page * page);
    if (version && sscanf(version, "%u.%u", &major, &minor) != 2)
        abort();
    if (mprotect(first, (size_t)((char *)(table + 1) - first), PROT_READ | PROT_WRITE) < 0)
        abort();
    log_file = file ? fopen(file, "w") : NULL;
    below = *table;
    for (size_t i = 0; i < FORMS; i++)
        if (memcmp((char *)&below + forms[i].offset, &(void *){NULL}, sizeof(void *)) != 0)
            put(table, forms[i].offset, forms[i].note);
    table->clGetPlatformInfo = platform_info;
    table->clGetDeviceInfo = device_info;
    table->clGetDeviceIDs = device_ids;
    char *list = strdup(words ? words : "");
    for (char *at = list, *word; (word = strsep(&at, ","));)
        change(table, word);
    free(list);
}

/* A driver's function, as its library exports it. */
static bool find(const char *name, void *function, size_t bytes)
{
    static void *driver;
    const char *file = getenv("PARTIAL_DRIVER");
    if (!driver && file)
        driver = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    void *address = driver ? dlsym(driver, name) : NULL;
    memcpy(function, &address, bytes);
    return address;
}

cl_int clIcdGetPlatformIDsKHR(cl_uint n, cl_platform_id *out, cl_uint *n_ret);
cl_int clIcdGetPlatformIDsKHR(cl_uint n, cl_platform_id *out, cl_uint *n_ret)
{
    void *(*extension)(const char *name), *address;
    cl_int (*real)(cl_uint, cl_platform_id *, cl_uint *);
    cl_platform_id platform;
    if (!find("clGetExtensionFunctionAddress", &extension, sizeof extension))
        return CL_PLATFORM_NOT_FOUND_KHR;
    address = extension("clIcdGetPlatformIDsKHR");
    memcpy(&real, &address, sizeof real);
    if (!real || real(1, &platform, NULL) != CL_SUCCESS)
        return CL_PLATFORM_NOT_FOUND_KHR;
    if (!below.clGetPlatformInfo) {
        struct _cl_icd_dispatch *table;
        memcpy(&table, platform, sizeof table);
        change_table(table);
    }
    return real(n, out, n_ret);
}

cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t room, void *out,
                                     size_t *bytes_ret)
{
    return platform_info(platform, what, room, out, bytes_ret);
}

void *CL_API_CALL clGetExtensionFunctionAddress(const char *name)
{
    cl_int (*own)(cl_uint, cl_platform_id *, cl_uint *) = clIcdGetPlatformIDsKHR;
    void *address = NULL;
    if (strcmp(name, "clIcdGetPlatformIDsKHR") == 0)
        memcpy(&address, &own, sizeof address);
    return address;
}
