/* SPDX-License-Identifier: MIT */
#include "shim/record/size.h"

#include "common/lock/locked.h"
#include "common/lock/rank.h"

enum {
    BUCKETS_LOG2 = 10,
    EXACT = 32,        /* what is larger counts as the next of 16 steps to twice as much */
    MOST_SIZES = 8192, /* then they aren't told apart */
};

static struct {
    struct gs_size *_Atomic buckets[1 << BUCKETS_LOG2]; /* read without the lock: none ever leaves */
    struct gs_size *_Atomic newest;
    pthread_mutex_t lock; /* for new ones; a leaf */
    unsigned n;
} sizes = {.lock = PTHREAD_MUTEX_INITIALIZER};
GS_RANKED(sizes.lock, GS_RANK_SIZES);

static inline uint64_t mix(uint64_t x, uint64_t more)
{
    x = (x ^ more) * UINT64_C(0x9e3779b97f4a7c15);
    return x ^ x >> 29; /* gs_kernel_hash() is kept on disk */
}

uint64_t gs_kernel_hash(uint64_t program, const char *name, unsigned n)
{
    uint64_t x = mix(program, n);
    for (const char *c = name; *c; c++)
        x = mix(x, (unsigned char)*c);
    return x ? x : 1;
}

static unsigned bucket_of(uint64_t kernel, const uint64_t size[6])
{
    uint64_t x = kernel;
    for (unsigned d = 0; d < 3; d++)
        x = mix(x, size[d] ^ size[3 + d] << 40);
    return (unsigned)(x >> (64 - BUCKETS_LOG2));
}

static void round_up(uint64_t size[6])
{
    for (unsigned d = 0; d < 3; d++) {
        const unsigned shift = size[d] > EXACT ? 59 - (unsigned)__builtin_clzll(size[d] - 1) : 0;
        size[d] = size[d] ? (((size[d] - 1) >> shift) + 1) << shift : 0;
    }
}

static struct gs_size *find(uint64_t kernel, const uint64_t size[6])
{
    struct gs_size *s = atomic_load_explicit(&sizes.buckets[bucket_of(kernel, size)], memory_order_acquire);
    while (s && (s->kernel != kernel || memcmp(s->size, size, sizeof s->size) != 0))
        s = atomic_load_explicit(&s->next, memory_order_acquire);
    return s;
}

/* With the lock held. NULL: no memory. */
static struct gs_size *enter(uint64_t kernel, uint64_t program, const char *name, unsigned n, const uint64_t size[6])
{
    struct gs_size *_Atomic *bucket = &sizes.buckets[bucket_of(kernel, size)];
    struct gs_size *s = gs_new_lines(sizeof *s);
    char *own = strdup(name);
    if (!s || !own) {
        free(s);
        free(own);
        return NULL;
    }
    s->kernel = kernel;
    memcpy(s->size, size, sizeof s->size);
    s->program = program;
    s->name = own;
    s->n = n;
    s->older = atomic_load(&sizes.newest);
    atomic_store(&sizes.newest, s);
    atomic_init(&s->next, atomic_load(bucket));
    atomic_store_explicit(bucket, s, memory_order_release);
    sizes.n++;
    return s;
}

struct gs_size *gs_size_make(uint64_t program, const char *name, unsigned n, const uint64_t wanted[6])
{
    uint64_t kernel = gs_kernel_hash(program, name, n), size[6];
    memcpy(size, wanted, sizeof size);
    round_up(size);
    struct gs_size *s = find(kernel, size);
    if (s)
        return s;
    GS_LOCKED(&sizes.lock);
    if (sizes.n >= MOST_SIZES) {
        program = 0;
        kernel = gs_kernel_hash(program, name = "", n);
        memset(size, 0, sizeof size);
    }
    s = find(kernel, size);
    return s ? s : enter(kernel, program, name, n, size);
}

struct gs_size *gs_sizes(void)
{
    return atomic_load(&sizes.newest);
}

struct gs_size *gs_size_find(const struct gs_kernel *k, const struct gs_op *launch)
{
    const uint64_t kernel = atomic_load_explicit(&k->id, memory_order_relaxed);
    uint64_t size[6] = {1, 1, 1};
    if (!kernel || !launch->global || launch->dims - 1 > 2)
        return NULL;
    for (cl_uint d = 0; d < launch->dims; d++) {
        size[d] = launch->global[d];
        size[3 + d] = launch->local ? launch->local[d] : 0;
    }
    round_up(size);
    return find(kernel, size);
}

bool gs_size_is_short(const struct gs_kernel *k, const struct gs_op *launch)
{
    if (atomic_load_explicit(&k->risen, memory_order_relaxed))
        return false;
    struct gs_size *s = gs_size_find(k, launch);
    const unsigned short left = s ? atomic_load_explicit(&s->left, memory_order_relaxed) : 0;
    if (left) /* two threads at once may count one for two */
        atomic_store_explicit(&s->left, (unsigned short)(left - 1), memory_order_relaxed);
    return left;
}
