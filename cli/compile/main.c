/* SPDX-License-Identifier: MIT */
/* gpusparc-compile: compiles translations for later processes (docs/choice.md). An application of OpenCL over the shim,
 * which begins it as an application ends: it makes each program that the cache has a job for as that application did,
 * so that the shim translates and compiles it as it would there, and the driver keeps that. Says nothing. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/cache.h"
#include "common/later.h"

enum { PLATFORMS = 32, MOST_S = 60 };

static cl_device_id find_device(const char *platform, cl_device_type type)
{
    cl_platform_id all[PLATFORMS];
    cl_device_id dev = NULL;
    cl_uint n = 0;
    clGetPlatformIDs(PLATFORMS, all, &n);
    for (cl_uint i = 0; i < n && i < PLATFORMS && !dev; i++) {
        char name[256] = "";
        clGetPlatformInfo(all[i], CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
        if (strcmp(name, platform) == 0 && clGetDeviceIDs(all[i], type, 1, &dev, NULL) != CL_SUCCESS)
            dev = NULL;
    }
    return dev;
}

/* The shim prepares the program before it is built, and marks the job as done. */
static void compile(const struct gs_later_job *job)
{
    cl_device_id dev = chdir(job->folder) == 0 ? find_device(job->platform, job->type) : NULL;
    cl_context ctx = dev ? clCreateContext(NULL, 1, &dev, NULL, NULL, NULL) : NULL;
    const char *text = job->source;
    cl_program program = ctx ? clCreateProgramWithSource(ctx, 1, &text, NULL, NULL) : NULL;
    if (program)
        clBuildProgram(program, 1, &dev, job->options, NULL, NULL);
    if (program)
        clReleaseProgram(program);
    if (ctx)
        clReleaseContext(ctx);
    if (chdir("/") != 0) /* nobody's folder is held */
        exit(1);
}

/* May but one process use a GPU at a time? Then it is left to the next application. */
static bool is_exclusive(void)
{
    enum { COMPUTE_MODE = 20 }; /* cuda.h */
    void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    int (*init)(unsigned) = NULL, (*count)(int *) = NULL, (*get)(int *, int) = NULL, (*ask)(int *, int, int) = NULL;
    int n = 0, dev, mode;
    if (lib) {
        *(void **)&init = dlsym(lib, "cuInit");
        *(void **)&count = dlsym(lib, "cuDeviceGetCount");
        *(void **)&get = dlsym(lib, "cuDeviceGet");
        *(void **)&ask = dlsym(lib, "cuDeviceGetAttribute");
    }
    if (!init || !count || !get || !ask || init(0) != 0 || count(&n) != 0)
        return false;
    while (n-- > 0)
        if (get(&dev, n) != 0 || ask(&mode, COMPUTE_MODE, dev) != 0 || mode != 0)
            return true;
    return false;
}

/* Counted before: a compiler that ends the process, or is ended, isn't asked for ever. */
static void try_once(const char *id, const struct gs_later_job *job)
{
    struct gs_later_mark mark = gs_later_read(id);
    if (!job->text || mark.took_ns || mark.tries >= GS_LATER_TRIES)
        return;
    mark.tries++;
    gs_later_mark(id, mark);
    alarm(MOST_S);
    compile(job);
    alarm(0);
}

int main(void)
{
    enum { NICE = 10 };
    char id[GS_HASH_HEX_BYTES];
    struct gs_later_job job;
    bool any = true;
    setpriority(PRIO_PROCESS, 0, NICE);
    if (is_exclusive())
        return 0;
    while (any) {
        const int lock = gs_cache_lock();
        if (lock < 0)
            return 0;
        for (any = false; gs_later_take(id, &job); any = true) {
            try_once(id, &job);
            free(job.text);
        }
        close(lock); /* and once more: a process that found it taken has ended, and left its job */
    }
    return 0;
}
