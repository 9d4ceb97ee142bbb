/* SPDX-License-Identifier: MIT */
/* gpusparc-compile: compiles translations for later processes (docs/choice.md). An application of OpenCL over the shim,
 * which begins it as an application ends: it makes each program that the cache has a job for as that application did,
 * so that the shim translates and compiles it as it would there, and the driver keeps that. Says nothing. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
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

/* The shim prepares the program before it is built, and marks what that took. */
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
}

/* May many processes use each GPU at a time? Where one alone may it is left to the next application. */
static bool is_shared(void)
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
        return true;
    while (n-- > 0)
        if (get(&dev, n) != 0 || ask(&mode, COMPUTE_MODE, dev) != 0 || mode != 0)
            return false;
    return true;
}

/* Has the child ended by itself, with 0? */
static bool is_well(pid_t child)
{
    int status;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* In a process of its own, which ends with all that CUDA keeps. */
static bool may_use_gpus(void)
{
    const pid_t child = fork();
    if (child == 0) {
        alarm(MOST_S);
        _exit(!is_shared());
    }
    return is_well(child);
}

/* So too: a compiler may crash, or never end. */
static int run_job(const char *id)
{
    struct gs_later_job job;
    alarm(MOST_S);
    if (gs_later_get(id, &job))
        compile(&job);
    free(job.text);
    return 0;
}

static bool run_itself(const char *id)
{
    char path[PATH_MAX], name[] = "gpusparc-compile", own_id[GS_HASH_HEX_BYTES];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    snprintf(own_id, sizeof own_id, "%s", id);
    path[n > 0 ? n : 0] = '\0';
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execv(path, (char *[]){name, own_id, NULL});
        _exit(1);
    }
    return is_well(child);
}

/* Counted before: what ends its process isn't tried for ever. */
static void try_job(const char *id)
{
    struct gs_later_mark mark = gs_later_read(id);
    if (mark.tries >= GS_LATER_TRIES)
        return;
    mark.tries++;
    gs_later_mark(id, mark);
    if (run_itself(id))
        run_itself(id);
}

int main(int argc, char **argv)
{
    enum { NICE = 10 };
    char id[GS_HASH_HEX_BYTES];
    bool any = true, may_use = false;
    if (argc == 2)
        return run_job(argv[1]);
    sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){0}); /* whatever the application's is */
    errno = 0;
    if ((nice(NICE) == -1 && errno) || chdir("/") != 0) /* nobody's folder is held, but while its job is done */
        return 0;
    while (any) {
        const int lock = gs_cache_lock();
        if (lock < 0 || !(may_use = may_use || may_use_gpus()))
            return 0;
        for (any = false; gs_later_find(id); any = true) {
            try_job(id);
            if (!gs_later_drop(id))
                return 0;
        }
        close(lock); /* and once more: a process that found it taken has ended, and left its job */
    }
    return 0;
}
