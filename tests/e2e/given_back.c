/* SPDX-License-Identifier: MIT */
/* A library that is loaded before gpusparc: how often gpusparc gives pages of its memory back to the system. At the end
 * the number is written to the file that GIVEN_BACK names. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_uint times;

__attribute__((visibility("default"))) int madvise(void *at, size_t bytes, int advice)
{
    Dl_info who;
    if (advice == MADV_DONTNEED && dladdr(__builtin_return_address(0), &who) &&
        strstr(who.dli_fname, "/libgpusparc.so"))
        times++;
    return (int)syscall(SYS_madvise, at, bytes, advice);
}

__attribute__((destructor)) static void tell(void)
{
    const char *name = getenv("GIVEN_BACK");
    FILE *f = name && times ? fopen(name, "w") : NULL;
    if (!f)
        return;
    fprintf(f, "%u\n", times);
    fclose(f);
}
