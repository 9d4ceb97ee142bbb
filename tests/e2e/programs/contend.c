/* SPDX-License-Identifier: MIT */
/* contend SEED STEPS THREADS: random sequences of launches whose atomics' results are used, between writes, fills,
 * copies, maps, user events and ordinary launches, over several queues; the seed decides which work-items find
 * something: none, some of one end, or some everywhere. What may stand in any order is printed sorted, so that the same
 * seed prints the same. Each thread has objects of its own. */
#include "sequence.h"

enum { WORDS = 3072, BYTES = WORDS * 4, POOL = 1 << 15, PENDING = 8, MOST = WORDS };

static const char source[] =
    /* A list in the order of those who come. */
    "__kernel void find(__global const uint *in, uint what, uint lo, uint hi, __global uint *list, __global uint *n,\n"
    "                   uint most, __global uint *seen, __global uint *sum, uint w)\n"
    "{\n"
    "    uint i = get_global_id(0) + w * get_global_id(1);\n"
    "    if (i >= lo && i < hi && (in[i] ^ what) % 5u == 0u) {\n"
    "        uint at = atomic_inc(n);\n"
    "        if (at < most) list[at] = i * 8u + 1u;\n"
    "    }\n"
    "    seen[i] += in[i] ^ what;\n"
    "    atomic_add(sum, in[i] & 7u);\n"
    "}\n"
    /* Who sets a bit first lists it. The reads before are plain, and the place is known by a helper. */
    "uint take(volatile __global uint *n) { return atomic_add(n, 1u); }\n"
    "__kernel void visit(__global const uint *in, uint what, uint lo, uint hi, __global uint *list, __global uint *n,\n"
    "                    uint most, __global uint *bits)\n"
    "{\n"
    "    uint i = get_global_id(0);\n"
    "    uint h = (in[i] ^ what) % 2048u;\n"
    "    if (i < lo || i >= hi || (bits[h >> 5] >> (h & 31u) & 1u)) return;\n"
    "    if (!(atomic_or(&bits[h >> 5], 1u << (h & 31u)) >> (h & 31u) & 1u)) {\n"
    "        uint at = take(n);\n"
    "        if (at < most) list[at] = h * 8u + 2u;\n"
    "    }\n"
    "}\n"
    /* Takes and gives back: nothing is changed in the end. */
    "__kernel void borrow(__global int *left, __global uint *seen, uint a)\n"
    "{\n"
    "    uint i = get_global_id(0);\n"
    "    int had = atomic_dec(left);\n"
    "    seen[i] = had > -100000 ? seen[i] * 3u + a : 0u;\n"
    "    atomic_inc(left);\n"
    "}\n"
    /* The last work-group adds up what all have left. */
    "__kernel void last(__global const uint *in, __global uint *partial, __global uint *done, __global uint *out,\n"
    "                   __local uint *t)\n"
    "{\n"
    "    uint l = get_local_id(0);\n"
    "    __local uint is_last;\n"
    "    t[l] = in[get_global_id(0)];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (l == 0u) {\n"
    "        uint s = 0u;\n"
    "        for (uint k = 0u; k < (uint)get_local_size(0); k++) s = s * 3u + t[k];\n"
    "        partial[get_group_id(0)] = s;\n"
    "        mem_fence(CLK_GLOBAL_MEM_FENCE);\n"
    "        is_last = atomic_inc(done) == (uint)get_num_groups(0) - 1u;\n"
    "    }\n"
    "    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
    "    if (is_last && l == 0u) {\n"
    "        uint s = 0u;\n"
    "        for (uint k = 0u; k < (uint)get_num_groups(0); k++) s = s * 5u + partial[k];\n"
    "        *out += s;\n"
    "        *done = 0u;\n"
    "    }\n"
    "}\n"
    /* Each passes on what it took from one of two, chosen as it runs; the greatest is known by all. */
    "__kernel void swap(__global const uint *in, uint what, uint lo, uint hi, __global uint *a, __global uint *b)\n"
    "{\n"
    "    uint i = get_global_id(0);\n"
    "    __global uint *p = (in[i] & 1u) ? a : b;\n"
    "    if (i < lo || i >= hi) return;\n"
    "    uint mine = (in[i] ^ what) | 1u, old = atomic_max(p + 3, mine);\n"
    "    if (old < mine) atomic_max(p + 4, mine - 1u);\n"
    "    atomic_xor(p + 5, atomic_add(p + 6, 0u) & 0u);\n"
    "}\n"
    /* Ordinary ones. */
    "__kernel void scale(__global uint *v, uint a, uint b) { uint i = get_global_id(0); v[i] = v[i] * a + b + i; }\n"
    "__kernel void gather(__global const uint *in, __global uint *out, uint a, uint n)\n"
    "{ uint i = get_global_id(0); out[i] ^= in[(i * a + 7u) % n]; }\n"
    "__kernel void fold(__global const uint *list, __global const uint *n, uint most, __global uint *sum)\n"
    "{ uint i = get_global_id(0); if (i < *n && *n <= most) atomic_add(sum, list[i] * 3u); }\n"
    "__kernel void some(__global uint *v, uint a)\n"
    "{ uint i = get_global_id(0); if ((v[i] ^ a) % 5u == 0u) v[i] += a; }\n";
enum { FIND, VISIT, BORROW, LAST, SWAP, SCALE, GATHER, FOLD, SOME, KERNELS };
static const char *const names[KERNELS] = {"find",  "visit",  "borrow", "last", "swap",
                                           "scale", "gather", "fold",   "some"};

/* The objects: inputs and what is changed in place; a list, its length, and what else the atomics work on. */
enum { IN, OTHER, SEEN, LIST, N, SUM, BITS, PARTIAL, DONE, OBJECTS };
static const uint32_t bytes_of[OBJECTS] = {BYTES, BYTES, BYTES, MOST * 4, 4, 4, 256, 1024, 64};

/* A read that is looked at later. */
struct pending {
    cl_event event;
    unsigned char *data;
    size_t bytes;
};

struct worker {
    struct sequence s;
    cl_mem root, m[OBJECTS]; /* root: of all objects, or null */
    cl_kernel k[KERNELS];
    unsigned n_pending;
    struct pending pending[PENDING];
};

static cl_program program;
static unsigned char pool[POOL];

static void run(struct worker *w, cl_kernel k, cl_uint dims, const size_t *offset, const size_t *global,
                const size_t *local)
{
    cl_uint n_wait;
    cl_event e;
    cl_command_queue q = next(w, &n_wait);
    CL(clEnqueueNDRangeKernel(q, k, dims, offset, global, local, n_wait, n_wait ? &w->s.last : NULL, &e));
    done(w, e);
}

static void set_fold(struct worker *w, cl_kernel k)
{
    SET(k, w->m[LIST], w->m[N], MOST, w->m[SUM]);
}

/* Who finds something: nobody, some at the beginning, some at the end, or all. */
static void set_finders(struct worker *w, cl_kernel k, cl_uint arg, size_t n)
{
    const uint32_t who = pick(w, 5), most = (uint32_t)n / 2 - 96;
    const uint32_t lo = who == 2 ? (uint32_t)n - 1 - pick(w, most) : 0;
    const uint32_t hi = who == 0 ? 0 : who == 1 ? 1 + pick(w, most) : (uint32_t)n;
    set_uint(k, arg, lo);
    set_uint(k, arg + 1, hi);
}

static void do_launch(struct worker *w)
{
    static const size_t locals[] = {0, 32, 64, 16};
    const uint32_t what = pick(w, 3) ? pick(w, SCALE) : pick(w, KERNELS);
    size_t local[2] = {locals[pick(w, 4)], 1}, global[2] = {512 + 64 * pick(w, (WORDS - 512) / 64), 1};
    size_t offset[2] = {0, 0};
    cl_uint dims = 1;
    const bool own = pick(w, 8) == 0; /* a kernel object that is let go while it may still run */
    cl_kernel k = w->k[what];
    if (own)
        k = kernel_of(program, names[what]);
    const cl_mem in = w->m[pick(w, 2) ? IN : OTHER];
    if (what == FIND || what == VISIT) {
        SET(k, in, pick(w, 1000));
        set_finders(w, k, 2, global[0]);
        SET_FROM(4, k, w->m[LIST], w->m[N], MOST, w->m[what == FIND ? SEEN : BITS]);
    }
    if (what == FIND) {
        SET_FROM(8, k, w->m[SUM], 64);
        if (pick(w, 3) == 0) { /* the same work-items in rows */
            dims = 2;
            global[1] = global[0] / 64;
            global[0] = 64;
            local[1] = pick(w, 2) && global[1] % 2 == 0 ? 2 : 1;
        }
    } else if (what == BORROW) {
        SET(k, w->m[DONE], w->m[SEEN], pick(w, 1000));
    } else if (what == LAST) {
        local[0] = 64;
        SET(k, in, w->m[PARTIAL], w->m[DONE], w->m[SUM]);
        CL(clSetKernelArg(k, 4, 256, NULL));
    } else if (what == SWAP) {
        SET(k, in, pick(w, 1000));
        set_finders(w, k, 2, global[0]);
        SET_FROM(4, k, w->m[DONE], w->m[pick(w, 2) ? DONE : BITS]);
    } else if (what == SCALE) {
        SET(k, w->m[pick(w, 3)], pick(w, 1000) * 2 + 1, pick(w, 1000));
    } else if (what == GATHER) {
        SET(k, in, w->m[SEEN], pick(w, 1000), WORDS);
    } else if (what == FOLD) {
        set_fold(w, k);
        global[0] = MOST;
    } else if (what == SOME) {
        SET(k, w->m[pick(w, 3)], pick(w, 1000));
    }
    if (what != LAST && what != FOLD && dims == 1 && pick(w, 3) == 0 && global[0] < WORDS - 256)
        offset[0] = 32 * pick(w, 8);
    run(w, k, dims, offset[0] ? offset : NULL, global, local[0] ? local : NULL);
    if (own)
        CL(clReleaseKernel(k));
}

static int by_size(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* What was found, in any order; and begins a new list. */
static void do_list(struct worker *w)
{
    static const cl_uint zero;
    uint32_t n, *v = malloc(MOST * 4);
    cl_uint n_wait;
    cl_event e;
    cl_command_queue q = next(w, &n_wait);
    CL(clEnqueueReadBuffer(q, w->m[N], CL_TRUE, 0, 4, &n, n_wait, n_wait ? &w->s.last : NULL, NULL));
    CL(clEnqueueReadBuffer(q, w->m[LIST], CL_TRUE, 0, MOST * 4, v, 0, NULL, NULL));
    say(w, "found", n, "", 0);
    if (n <= MOST) {
        qsort(v, n, 4, by_size);
        say(w, "list", n, v, n * 4);
    }
    free(v);
    CL(clEnqueueFillBuffer(q, w->m[N], &zero, 4, 0, 4, 0, NULL, &e));
    done(w, e);
}

static void look_at(struct worker *w)
{
    for (unsigned i = 0; i < w->n_pending; i++) {
        struct pending *p = &w->pending[i];
        wait_for(p->event);
        say(w, "later", i, p->data, p->bytes);
        free(p->data);
    }
    w->n_pending = 0;
}

/* What doesn't depend on who came first. */
static cl_mem sure(struct worker *w, uint32_t *which)
{
    static const uint32_t all[] = {IN, OTHER, SEEN, SUM, BITS, N};
    *which = all[pick(w, sizeof all / sizeof *all)];
    return w->m[*which];
}

static void do_read(struct worker *w)
{
    uint32_t i;
    cl_mem m = sure(w, &i);
    const size_t offset = pick(w, bytes_of[i]), n = 1 + pick(w, (uint32_t)(bytes_of[i] - offset));
    unsigned char *got = malloc(n);
    cl_uint n_wait;
    cl_event e;
    cl_command_queue q = next(w, &n_wait);
    const uint32_t how = pick(w, 3);
    CL(clEnqueueReadBuffer(q, m, how == 0, offset, n, got, n_wait, n_wait ? &w->s.last : NULL, &e));
    if (how == 2) {
        if (w->n_pending == PENDING)
            look_at(w);
        CL(clRetainEvent(e));
        w->pending[w->n_pending++] = (struct pending){e, got, n};
    } else {
        if (how)
            CL(clWaitForEvents(1, &e));
        say(w, "read", i, got, n);
        free(got);
    }
    done(w, e);
}

static void do_write(struct worker *w)
{
    const uint32_t i = pick(w, 3);
    const size_t offset = pick(w, BYTES), n = 1 + pick(w, (uint32_t)(BYTES - offset));
    const uint32_t how = pick(w, 3);
    cl_uint n_wait;
    cl_event e;
    cl_command_queue q = next(w, &n_wait);
    const cl_event *wait = n_wait ? &w->s.last : NULL;
    if (how == 0)
        CL(clEnqueueFillBuffer(q, w->m[i], pool + pick(w, 100), 4, offset / 4 * 4, (BYTES - offset / 4 * 4) / 8 * 4,
                               n_wait, wait, &e));
    else if (how == 1)
        CL(clEnqueueCopyBuffer(q, w->m[i], w->m[(i + 1) % 3], offset, pick(w, (uint32_t)(BYTES - n)), n, n_wait, wait,
                               &e));
    else
        CL(clEnqueueWriteBuffer(q, w->m[i], pick(w, 3) == 0, offset, n, pool + pick(w, (uint32_t)(POOL - n)), n_wait,
                                wait, &e));
    done(w, e);
}

static void do_map(struct worker *w)
{
    static const cl_map_flags kinds[] = {CL_MAP_READ, CL_MAP_READ | CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION};
    const uint32_t kind = pick(w, 3);
    uint32_t i;
    cl_mem m = sure(w, &i);
    const size_t offset = pick(w, bytes_of[i]), n = 1 + pick(w, (uint32_t)(bytes_of[i] - offset));
    cl_uint n_wait;
    cl_int err;
    cl_event e;
    cl_command_queue q = next(w, &n_wait);
    unsigned char *v;
    MADE(v, clEnqueueMapBuffer(q, m, CL_FALSE, kinds[kind], offset, n, n_wait, n_wait ? &w->s.last : NULL, &e, &err));
    wait_for(e);
    if (kind != 2)
        say(w, "map", i, v, n);
    else if (i != N)
        memcpy(v, pool + 17, n);
    else
        memset(v, 0, n); /* not so many that the list is forgotten for long */
    for (size_t at = pick(w, 50); kind == 1 && at < n && i != N; at += 1 + pick(w, 200))
        v[at] ^= (unsigned char)(at * 3 + 1);
    CL(clEnqueueUnmapMemObject(q, m, v, 0, NULL, &e));
    done(w, e);
    if (i == N) { /* a length that isn't the list's */
        static const cl_uint zero;
        q = next(w, &n_wait);
        CL(clEnqueueFillBuffer(q, w->m[N], &zero, 4, 0, 4, 1, &w->s.last, &e));
        done(w, e);
    }
}

/* A command that waits for a user event, and launches after it, before the user event gets its status. */
static void do_gate(struct worker *w)
{
    cl_event e;
    cl_uint n_wait;
    cl_event gate = new_user_event();
    cl_command_queue q = next(w, &n_wait);
    const cl_event both[2] = {gate, w->s.last};
    CL(clEnqueueWriteBuffer(q, w->m[SEEN], CL_FALSE, 0, 1 + pick(w, BYTES), pool + pick(w, 1000), w->s.last ? 2 : 1,
                            both, &e));
    done(w, e);
    do_launch(w);
    CL(clFlush(w->s.q[w->s.last_q]));
    end_user_event(gate);
}

static void make_objects(struct worker *w)
{
    static const unsigned char zeros[BYTES];
    const bool together = pick(w, 2);
    if (together) {
        unsigned char *all = calloc(OBJECTS, BYTES + 256);
        cl_buffer_region r = {128 * pick(w, 5), 0};
        memcpy(all, pool, OBJECTS * BYTES < POOL ? OBJECTS * BYTES : POOL);
        w->root = buffer_of(all, OBJECTS * (BYTES + 256));
        free(all);
        for (uint32_t i = 0; i < OBJECTS; i++) {
            r.size = bytes_of[i];
            w->m[i] = sub_buffer(w->root, 0, r.origin, r.size);
            r.origin += (r.size + 127) / 128 * 128 + 128 * pick(w, 2);
        }
    } else {
        w->root = NULL;
        for (uint32_t i = 0; i < OBJECTS; i++)
            w->m[i] = buffer_of(pool + pick(w, 1000), bytes_of[i]);
    }
    for (uint32_t i = SEEN; i < OBJECTS; i++) {
        CL(clEnqueueWriteBuffer(w->s.q[0], w->m[i], CL_TRUE, 0, bytes_of[i], zeros, 0, NULL, NULL));
    }
}

static void let_objects_go(struct worker *w)
{
    for (uint32_t i = 0; i < OBJECTS; i++)
        CL(clReleaseMemObject(w->m[i]));
    if (w->root)
        CL(clReleaseMemObject(w->root));
}

/* Everything anew, while the commands may still run. */
static void do_objects(struct worker *w)
{
    let_objects_go(w);
    make_objects(w);
}

static void set_up(struct worker *w)
{
    for (uint32_t i = 0; i < KERNELS; i++)
        w->k[i] = kernel_of(program, names[i]);
    for (uint32_t i = 0; i < QUEUES; i++) {
        w->s.in_order[i] = i != 1;
        w->s.q[i] = new_queue(w->s.in_order[i] ? 0 : CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    }
    make_objects(w);
}

static void *work(void *arg)
{
    struct worker *w = arg;
    set_up(w);
    for (uint32_t s = 0; s < w->s.steps; s++) {
        const uint32_t what = pick(w, 40);
        if (what < 20)
            do_launch(w);
        else if (what < 24)
            do_list(w);
        else if (what < 29)
            do_read(w);
        else if (what < 34)
            do_write(w);
        else if (what < 38)
            do_map(w);
        else if (what < 39)
            do_gate(w);
        else if (pick(w, 4) == 0)
            do_objects(w);
    }
    look_at(w);
    CL(clWaitForEvents(1, &w->s.last));
    do_list(w);
    wait_for(w->s.last);
    unsigned char *got = malloc(BYTES);
    for (uint32_t i = 0; i < OBJECTS; i++) {
        if (i == LIST)
            continue;
        CL(clEnqueueReadBuffer(w->s.q[0], w->m[i], CL_TRUE, 0, bytes_of[i], got, 0, NULL, NULL));
        say(w, "end", i, got, bytes_of[i]);
    }
    free(got);
    let_objects_go(w);
    for (uint32_t i = 0; i < QUEUES; i++)
        CL(clReleaseCommandQueue(w->s.q[i]));
    for (uint32_t i = 0; i < KERNELS; i++)
        CL(clReleaseKernel(w->k[i]));
    return NULL;
}

int main(int argc, char **argv)
{
    const uint32_t seed = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 1,
                   steps = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 0) : 300,
                   threads = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 0) : 2;
    struct worker *w = calloc(threads, sizeof *w);
    printf("contend %u %u %u\n", seed, steps, threads);
    for (size_t i = 0; i < POOL; i++)
        pool[i] = (unsigned char)scramble((uint32_t)i + seed);
    start(0);
    program = build(source, "");
    for (uint32_t t = 0; t < threads; t++) {
        w[t].s.state = scramble(seed * 31 + t);
        w[t].s.steps = steps;
        w[t].s.thread = new_thread(work, &w[t]);
    }
    for (uint32_t t = 0; t < threads; t++) {
        pthread_join(w[t].s.thread, NULL);
        printf("thread %u\n%s", t, w[t].s.text ? w[t].s.text : "");
        free(w[t].s.text);
    }
    free(w);
    return FINISH(program);
}
