/* SPDX-License-Identifier: MIT */
/* A driver's compiler may take numbers of the C library's random sequence (LLVM does for the names of files, where
 * there is no arc4random), or begin it anew. What the application builds moves it as without gpusparc. What is compiled
 * for parts must not: SHOC's md5 search drew other keys once its launches were split. To put the state back afterwards
 * would be a race with the application's threads, so such calls come here first, where the shim was preloaded. */
#include "shim/process/random.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

/* This thread's own. */
static _Thread_local struct {
    unsigned depth;
    bool seeded;
    struct drand48_data own;
} rng;

/* The C library's. */
static struct {
    int (*rand)(void);
    void (*srand)(unsigned);
    long (*random)(void);
    void (*srandom)(unsigned);
    double (*drand48)(void);
    long (*lrand48)(void);
    long (*mrand48)(void);
    void (*srand48)(long);
} libc;

void gs_random_own(bool begins)
{
    rng.depth += begins ? 1 : -1u;
}

#define FIND(name)                                                                                                     \
    do {                                                                                                               \
        if (!libc.name)                                                                                                \
            *(void **)&libc.name = dlsym(RTLD_NEXT, #name);                                                            \
    } while (0)

/* What a constructor that runs before this one calls finds its own. */
__attribute__((constructor)) static void find(void)
{
    FIND(rand);
    FIND(srand);
    FIND(random);
    FIND(srandom);
    FIND(drand48);
    FIND(lrand48);
    FIND(mrand48);
    FIND(srand48);
}

static void seed(long value)
{
    srand48_r(value, &rng.own);
    rng.seeded = true;
}

/* Threads that nobody has seeded have different sequences. */
static struct drand48_data *sequence(void)
{
    if (!rng.seeded)
        seed((long)getpid() << 20 ^ (long)gettid());
    return &rng.own;
}

static long own_number(int (*next)(struct drand48_data *, long *))
{
    long n = 0;
    next(sequence(), &n);
    return n;
}

int rand(void)
{
    if (rng.depth)
        return (int)own_number(lrand48_r);
    FIND(rand);
    return libc.rand();
}

long random(void)
{
    if (rng.depth)
        return own_number(lrand48_r);
    FIND(random);
    return libc.random();
}

long lrand48(void)
{
    if (rng.depth)
        return own_number(lrand48_r);
    FIND(lrand48);
    return libc.lrand48();
}

long mrand48(void)
{
    if (rng.depth)
        return own_number(mrand48_r);
    FIND(mrand48);
    return libc.mrand48();
}

double drand48(void)
{
    double x = 0;
    if (rng.depth) {
        drand48_r(sequence(), &x);
        return x;
    }
    FIND(drand48);
    return libc.drand48();
}

void srand(unsigned value)
{
    if (rng.depth) {
        seed((long)value);
        return;
    }
    FIND(srand);
    libc.srand(value);
}

void srandom(unsigned value)
{
    if (rng.depth) {
        seed((long)value);
        return;
    }
    FIND(srandom);
    libc.srandom(value);
}

void srand48(long value)
{
    if (rng.depth) {
        seed(value);
        return;
    }
    FIND(srand48);
    libc.srand48(value);
}
