/* SPDX-License-Identifier: MIT */
/* Prints for some calls of short commands how many locks each takes at the least: the C library's functions come here
 * first. */
#include "plain.h"

#include <dlfcn.h>
#include <pthread.h>

enum { ITEMS = 1024, ROUNDS = 200 };

static const char source[] = "__kernel void advance(__global const uint *in, __global uint *out, uint k)\n"
                             "{ uint i = get_global_id(0); out[i] = in[i] * 3u + k; }\n";

static _Thread_local unsigned taken;

#define COUNTED(function, type)                                                                                        \
    __attribute__((visibility("default"))) int function(type *lock)                                                    \
    {                                                                                                                  \
        static int (*real)(type *);                                                                                    \
        if (!real)                                                                                                     \
            *(void **)&real = dlsym(RTLD_NEXT, #function);                                                             \
        taken++;                                                                                                       \
        return real(lock);                                                                                             \
    }
COUNTED(pthread_mutex_lock, pthread_mutex_t)
COUNTED(pthread_rwlock_rdlock, pthread_rwlock_t)

static const char *const names[] = {"launch", "read", "write", "write that blocks", "map", "unmap"};
enum { CALLS = sizeof names / sizeof *names };
static unsigned least[CALLS] = {99, 99, 99, 99, 99, 99};

static void note(unsigned call)
{
    least[call] = taken < least[call] ? taken : least[call];
    taken = 0;
}

int main(void)
{
    cl_int err;
    cl_uint word = 0;
    void *at;
    start(0);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "advance");
    cl_mem in = buffer(CL_MEM_READ_WRITE, ITEMS * 4, NULL), out = buffer(CL_MEM_READ_WRITE, ITEMS * 4, NULL);
    static uint32_t zeros[ITEMS];
    CL(clEnqueueWriteBuffer(queue, in, CL_TRUE, 0, sizeof zeros, zeros, 0, NULL, NULL));
    set_mem(k, 0, in);
    set_mem(k, 1, out);
    set_uint(k, 2, 1);
    for (int i = 0; i < ROUNDS; i++) {
        taken = 0;
        launch(queue, k, ITEMS, 64, 0, NULL, NULL);
        note(0);
        CL(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, 4, &word, 0, NULL, NULL));
        note(1);
        CL(clEnqueueWriteBuffer(queue, in, CL_FALSE, 0, 4, &word, 0, NULL, NULL));
        note(2);
        CL(clEnqueueWriteBuffer(queue, in, CL_TRUE, 0, 4, &word, 0, NULL, NULL));
        note(3);
        MADE(at, clEnqueueMapBuffer(queue, out, CL_TRUE, CL_MAP_READ, 0, 4, 0, NULL, NULL, &err));
        note(4);
        CL(clEnqueueUnmapMemObject(queue, out, at, 0, NULL, NULL));
        note(5);
        CL(clFinish(queue));
    }
    for (unsigned c = 0; c < CALLS; c++)
        printf("%s: %u\n", names[c], least[c]);
    RELEASE(in, out, k, p);
    finish();
    return 0;
}
