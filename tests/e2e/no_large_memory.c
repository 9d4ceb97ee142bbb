/* SPDX-License-Identifier: MIT */
/* A library that is loaded before gpusparc: a piece of memory of 1 MiB or more, which gpusparc asks for, isn't to be
 * had. */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

__attribute__((visibility("default"))) void *malloc(size_t bytes);

void *malloc(size_t bytes)
{
    static void *(*next)(size_t);
    Dl_info who;
    if (!next) {
        void *found = dlsym(RTLD_NEXT, "malloc");
        memcpy(&next, &found, sizeof found);
    }
    if (bytes >= 1 << 20 && dladdr(__builtin_return_address(0), &who) && strstr(who.dli_fname, "/libgpusparc.so"))
        return NULL;
    return next(bytes);
}
