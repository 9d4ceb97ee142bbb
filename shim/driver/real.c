/* SPDX-License-Identifier: MIT */
#include "shim/driver/real.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common/lock/locked.h"
#include "common/lock/rank.h"
#include "common/log.h"
#include "shim/driver/upward.h"

struct _cl_icd_dispatch gs_real_table;
_Atomic bool gs_real_ready;
static struct {
    pthread_mutex_t lock;
    void *library;
    pthread_once_t dir_once; /* several threads may be the first */
    char dir[PATH_MAX];      /* of this library */
} loaded = {.lock = PTHREAD_MUTEX_INITIALIZER, .dir_once = PTHREAD_ONCE_INIT};
GS_RANKED(loaded.lock, GS_RANK_DRIVER);

const struct gs_real_function gs_real_functions[] = {
#define GS_FUNCTION(name, version) {#name, offsetof(struct _cl_icd_dispatch, name), version},
#include "functions.inc"
#undef GS_FUNCTION
    {0}};

static void find_library_dir(void)
{
    Dl_info info;
    if (dladdr((void *)&gs_real_table, &info) && info.dli_fname && realpath(info.dli_fname, loaded.dir)) {
        char *slash = strrchr(loaded.dir, '/');
        if (slash)
            *slash = '\0';
    }
}

const char *gs_library_dir(void)
{
    pthread_once(&loaded.dir_once, find_library_dir);
    return loaded.dir;
}

/* Is the file the shim, or the log in front of it? (Our own file doesn't tell: programs have this code too.) */
static bool is_shim(const char *path)
{
    char resolved[PATH_MAX];
    const char *slash = realpath(path, resolved) ? strrchr(resolved, '/') : NULL;
    return slash && (strcmp(slash, "/libgpusparc.so") == 0 || strcmp(slash, "/libgpusparc-log.so") == 0);
}

/* Opens DIR/libOpenCL.so.1 unless that is this very library under another name. */
static void *open_in(const char *dir, size_t dir_bytes, const struct stat *self)
{
    char path[PATH_MAX];
    struct stat st;
    int n = snprintf(path, sizeof path, "%.*s/libOpenCL.so.1", (int)dir_bytes, dir);
    if (!dir_bytes || n <= 0 || (size_t)n >= sizeof path || stat(path, &st) < 0)
        return NULL;
    if ((st.st_dev == self->st_dev && st.st_ino == self->st_ino) || is_shim(path))
        return NULL;
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* A list of folders separated by ':'. */
static void *open_in_list(const char *list, const struct stat *self)
{
    void *lib = NULL;
    while (list && *list && !lib) {
        size_t n = strcspn(list, ":");
        lib = open_in(list, n, self);
        list += n + (list[n] == ':');
    }
    return lib;
}

/* Opens the real library by its absolute path: by name alone we would find ourselves, who have the same SONAME. */
static void *open_real(void)
{
    struct stat self = {0};
    Dl_info info;
    if (dladdr((void *)&gs_real_table, &info) && info.dli_fname)
        stat(info.dli_fname, &self);
    const char *path = secure_getenv("GPUSPARC_REAL");
    const bool named = path && *path, ourselves = named && is_shim(path);
    void *lib = named && !ourselves ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (named && !lib)
        gs_error("GPUSPARC_REAL=%s can't be used: %s; the system's library is looked for", path,
                 ourselves ? "it is gpusparc's own" : dlerror());
    if (!lib)
        lib = open_in_list(secure_getenv("LD_LIBRARY_PATH"), &self);
    if (!lib)
        lib = open_in_list(
            "/usr/local/lib:/usr/local/lib/x86_64-linux-gnu:/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:"
            "/lib/aarch64-linux-gnu:/usr/lib/aarch64-linux-gnu:/usr/lib64:/lib64:/usr/lib:/lib:"
            "/usr/local/cuda/lib64:/opt/rocm/lib",
            &self);
    return lib;
}

/* The table is there: the rooms above have their say before anybody uses it. */
static void end_loading(void)
{
    if (&gs_above_events)
        gs_above_events.loaded(&gs_real_table);
    if (&gs_above_pool)
        gs_above_pool.loaded(&gs_real_table);
    gs_real_ready = true;
}

void gs_real_load(void)
{
    GS_LOCKED(&loaded.lock);
    if (gs_real_ready)
        return;
    loaded.library = open_real();
    if (!loaded.library)
        gs_error("no libOpenCL.so.1 of the system was found; install an OpenCL loader, or name it in GPUSPARC_REAL");
    for (const struct gs_real_function *f = gs_real_functions; f->name; f++) {
        void *function = loaded.library ? dlsym(loaded.library, f->name) : NULL;
        memcpy((char *)&gs_real_table + f->offset, &function, sizeof function);
    }
    end_loading();
}

bool gs_real_use(const struct _cl_icd_dispatch *below, unsigned n_entries)
{
    const size_t bytes = n_entries * sizeof(void *);
    GS_LOCKED(&loaded.lock);
    if (gs_real_ready)
        return false;
    memcpy(&gs_real_table, below, bytes < sizeof gs_real_table ? bytes : sizeof gs_real_table);
    end_loading();
    return true;
}

void *gs_real_extension(cl_platform_id platform, const char *name)
{
    const struct _cl_icd_dispatch *real = gs_real();
    if (platform && real->clGetExtensionFunctionAddressForPlatform)
        return real->clGetExtensionFunctionAddressForPlatform(platform, name);
    return real->clGetExtensionFunctionAddress ? real->clGetExtensionFunctionAddress(name) : NULL;
}
