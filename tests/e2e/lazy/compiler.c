/* SPDX-License-Identifier: MIT */
#include "lazy.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool (*run)(unsigned ms);

/* It lies beside the layer. */
static void load(void)
{
    Dl_info layer;
    char path[4096];
    if (!dladdr(&lazy, &layer))
        return;
    const char *slash = strrchr(layer.dli_fname, '/');
    const int folder = slash ? (int)(slash - layer.dli_fname) + 1 : 0;
    snprintf(path, sizeof path, "%.*snvcompiler.so", folder, layer.dli_fname);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library)
        *(void **)&run = dlsym(library, "lazy_nvcompiler");
    if (!run)
        lazy_report("the compiler can't be loaded: %s", dlerror());
}

/* As a compiler that names its files so. */
static void take_numbers(void)
{
    long sum = 0;
    for (int i = 0; i < 3; i++)
        sum += rand();
    if (sum == 0) /* never */
        lazy_report("random numbers are 0");
}

void lazy_compile(const char *what)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const pid_t thread = (pid_t)syscall(SYS_gettid);
    if (lazy.random)
        take_numbers();
    if (!lazy.compiler || thread == getpid() || lazy_is_over())
        return;
    pthread_once(&once, load);
    if (run && !run(lazy.compiler_ms))
        lazy_report("thread %d is compiling in %s when exit() takes the compiler apart", (int)thread, what);
}
