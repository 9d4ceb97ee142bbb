/* SPDX-License-Identifier: MIT */
/* See gs_compile_quietly in threads.h. PoCL's compiler writes "1 error generated." to standard error, by libLLVM's call
 * of write(). The descriptor belongs to the whole process and can't be led elsewhere meanwhile, so write() comes here
 * first if the shim is preloaded.
 *
 * A driver's compiler may take numbers from the C library's random sequence, or begin it anew: by rand() and srand(),
 * as far as is known. (LLVM does for file names, without arc4random.) The application's own builds move the sequence as
 * without gpusparc. Our compilations must not: SHOC's md5 search drew other keys once its launches were split.
 * Restoring the state would race with the application's threads, so rand() and srand() come here first, too. */
#include "shim/process/threads.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Threads that compile quietly. Usually none: then an application's rand() goes to the C library's by one look at this.
 * The thread's own would take as long as half of a rand(), which Rodinia's pathfinder calls 100 million times. */
static atomic_uint random_own;

static _Thread_local struct {
    unsigned silent; /* how deep gs_compile_quietly is nested */
    bool seeded;
    unsigned sequence;
} own;

/* The C library's; null: not known yet. */
static struct {
    ssize_t (*write)(int, const void *, size_t);
    int (*rand)(void);
    void (*srand)(unsigned);
} libc;

void gs_compile_quietly(bool begins)
{
    own.silent += begins ? 1 : -1u;
    atomic_fetch_add(&random_own, begins ? 1 : -1u);
}

#define FIND(name)                                                                                                     \
    do {                                                                                                               \
        if (!libc.name)                                                                                                \
            *(void **)&libc.name = dlsym(RTLD_NEXT, #name);                                                            \
    } while (0)

/* Calls of earlier constructors look theirs up; but for write(), which may be needed first in a signal's handler. */
__attribute__((constructor)) static void find(void)
{
    FIND(write);
    FIND(rand);
    FIND(srand);
}

ssize_t write(int fd, const void *bytes, size_t n)
{
    if (fd == STDERR_FILENO && own.silent)
        return (ssize_t)n;
    return libc.write ? libc.write(fd, bytes, n) : syscall(SYS_write, fd, bytes, n);
}

static __attribute__((noinline)) int look_rand(void)
{
    FIND(rand);
    if (!own.silent)
        return libc.rand();
    if (!own.seeded) /* threads that nobody has seeded have different sequences */
        srand((unsigned)getpid() << 20 ^ (unsigned)gettid());
    return rand_r(&own.sequence);
}

int rand(void)
{
    const bool none_of_ours = !atomic_load_explicit(&random_own, memory_order_relaxed);
    return none_of_ours && libc.rand ? libc.rand() : look_rand();
}

void srand(unsigned value)
{
    FIND(srand);
    if (!own.silent) {
        libc.srand(value);
        return;
    }
    own.sequence = value;
    own.seeded = true;
}
