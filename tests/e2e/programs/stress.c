/* SPDX-License-Identifier: MIT */
/* stress SEED STEPS THREADS [WITHOUT [ROUNDS]]: random sequences of writes, reads, fills, copies, maps, sub-buffers,
 * images, user events and launches over many buffers and queues; the same seed does and prints the same. Each thread
 * has buffers of its own, and all share one that is only read. What must come after what is said by events or by the
 * order of a queue. WITHOUT: letters of what is to be left out, for drivers that can't do it: i images, w sub-buffers,
 * r rectangles, m maps, f fills, g commands behind user events, o objects let go while their commands run, l
 * work-groups of a size that the driver chooses, which scatter's results depend on. With ROUNDS it does so many
 * sequences, looks at each command's end, and where one has failed it writes everything anew and does the sequence once
 * more, until all go well: it then prints what it prints where nothing fails. */
#include "sequence.h"

#include <setjmp.h>

enum { BUFFERS = 5, WORDS = 6144, BYTES = WORDS * 4, POOL = 1 << 16, W = 64, H = WORDS / W };

static const char source[] =
    "__kernel void scale(__global uint *v, uint a, uint b) { uint i = get_global_id(0); v[i] = v[i] * a + b + i; }\n"
    "__kernel void gather(__global const uint *in, __global uint *out, uint a, uint n)\n"
    "{ uint i = get_global_id(0); out[i] ^= in[(i * a + 7u) % n]; }\n"
    "__kernel void scatter(__global const uint *in, __global uint *out, uint a)\n"
    "{ uint i = get_global_id(0), n = get_global_size(0); out[(i + a) % n] = in[i] + (uint)get_group_id(0); }\n"
    "__kernel void some(__global uint *v, uint a) { uint i = get_global_id(0); if ((v[i] ^ a) % 5u == 0u) v[i] += a; "
    "}\n"
    "__kernel void rows(__global uint *v, __global const uchar *s, uint w)\n"
    "{ uint x = get_global_id(0), y = get_global_id(1); v[y * w + x] += s[y + x] * (uint)get_num_groups(1); }\n"
    "__kernel void bytes(__global uchar *v, uint a) { uint i = get_global_id(0); v[i * 2u + a % 2u] ^= (uchar)(i + a); "
    "}\n"
    "__kernel void paint(__write_only image2d_t m, __global const uint *v, uint w)\n"
    "{ uint x = get_global_id(0), y = get_global_id(1); write_imageui(m, (int2)(x, y), (uint4)(v[y * w + x] * 3u & "
    "255u)); }\n"
    "__kernel void turn(__global uint *v, __local uint *t)\n"
    "{ uint l = get_local_id(0), n = get_local_size(0), i = get_global_id(0); t[l] = v[i]; "
    "barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  v[i] = t[n - 1u - l] + (uint)get_group_id(0); }\n"
    "__kernel void count(__global const uint *in, __global uint *out, uint a)\n"
    "{ uint i = get_global_id(0); atomic_add(&out[(in[i] ^ a) % 200u], in[i]); }\n"
    "__kernel void least(__global const int *in, __global int *out, uint a)\n"
    "{ uint i = get_global_id(0); atomic_min(out + (i * a + 5u) % 99u, in[i]); }\n";
enum { SCALE, GATHER, SCATTER, SOME, ROWS, BYTEWISE, PAINT, TURN, COUNT, LEAST, KERNELS };
static const char *const names[KERNELS] = {"scale", "gather", "scatter", "some",  "rows",
                                           "bytes", "paint",  "turn",    "count", "least"};

struct worker {
    struct sequence s;
    cl_mem b[BUFFERS], sub[BUFFERS], image;
    size_t origin[BUFFERS], size[BUFFERS]; /* of the windows, in bytes */
    bool used[BUFFERS];
    cl_kernel k[KERNELS];
    uint32_t seed;
    unsigned failed; /* tries */
    jmp_buf again;   /* of a sequence that is done over if anything fails */
    cl_event *ends;  /* of its commands */
    size_t n_ends;
    struct block *blocks; /* of the host's memory that its commands may write to */
    cl_mem mapped_of;     /* the host has access to it; or null */
    void *mapped;
};

struct block {
    struct block *next;
    unsigned char bytes[];
};

static cl_program program;
static cl_mem common;
static unsigned char pool[POOL];
static const char *without = "";
static uint32_t rounds;    /* 0: one, which nothing may fail in */
static size_t align = 128; /* of sub-buffers, in bytes */

static bool has(char what)
{
    return !strchr(without, what);
}

/* Something has failed, which ends the program, or this try of the sequence. */
static void fails(struct worker *w, cl_int err, const char *what, int line)
{
    if (err && rounds)
        longjmp(w->again, 1);
    check(err, what, line);
}
#define TRY(call) fails(w, (call), #call, __LINE__)

static void await_end(struct worker *w, cl_event e)
{
    const cl_int err = clWaitForEvents(1, &e);
    if (err)
        CL(clReleaseEvent(e));
    fails(w, err, "clWaitForEvents", __LINE__);
}

static unsigned char *block(struct worker *w, size_t bytes)
{
    struct block *b = calloc(1, sizeof *b + bytes);
    if (!b)
        abort();
    b->next = w->blocks;
    w->blocks = b;
    return b->bytes;
}

/* The queue of the next command. PoCL (3.1) never ends one that waits for what has failed before. */
static cl_command_queue queue_for(struct worker *w, cl_uint *n_wait)
{
    cl_command_queue q = next(w, n_wait);
    if (rounds && w->s.last && status_of(w->s.last) < 0)
        longjmp(w->again, 1);
    return q;
}

static void ends(struct worker *w, cl_event e)
{
    if (rounds && (w->n_ends & (w->n_ends - 1)) == 0)
        w->ends = realloc(w->ends, (w->n_ends ? 2 * w->n_ends : 1) * sizeof e);
    if (rounds) {
        CL(clRetainEvent(e));
        w->ends[w->n_ends++] = e;
    }
    done(w, e);
}

static cl_mem object(struct worker *w, uint32_t i, size_t *words)
{
    const bool part = w->sub[i] && pick(w, 2);
    *words = part ? w->size[i] / 4 : WORDS;
    return part ? w->sub[i] : w->b[i];
}

static void do_launch(struct worker *w)
{
    static const size_t locals[] = {0, 32, 64, 96, 16};
    const uint32_t drawn = pick(w, KERNELS), what = drawn == PAINT && !has('i') ? SCALE : drawn;
    const uint32_t i = pick(w, BUFFERS), j = (i + 1 + pick(w, BUFFERS - 1)) % BUFFERS;
    size_t words, others, local = locals[pick(w, 5)], offset[2] = {0, 0}, global[2], group[2];
    cl_mem m = object(w, i, &words), other = pick(w, 4) ? object(w, j, &others) : (others = WORDS, common);
    cl_kernel k = w->k[what];
    cl_uint n_wait, dims = 1;
    cl_event e;
    if (!local && !has('l'))
        local = 32;
    group[0] = local;
    group[1] = 1;
    global[0] = local ? words / local * local : words - pick(w, 100);
    global[1] = 1;
    set_mem(k, 0, m);
    if (what == SCALE || what == SOME || what == BYTEWISE) {
        set_uint(k, 1, pick(w, 1000) * 2 + 1);
        if (what == SCALE)
            set_uint(k, 2, pick(w, 1000));
        if (what == BYTEWISE)
            global[0] *= 2;
        else if (pick(w, 3) == 0)
            offset[0] = 32 * pick(w, 8), global[0] -= global[0] > 1024 ? 960 : 0;
        if (offset[0] + global[0] > (what == BYTEWISE ? words * 2 : words))
            offset[0] = 0;
    } else if (what == GATHER || what == SCATTER || what == COUNT || what == LEAST) {
        SET(k, other, m, pick(w, 5000));
        if (what == GATHER)
            set_uint(k, 3, (cl_uint)others);
        else if (global[0] > others)
            global[0] = local ? others / local * local : others;
    } else if (what == ROWS) {
        dims = 2;
        SET_FROM(1, k, common, W);
        global[0] = W - 16 * pick(w, 3);
        global[1] = words / W;
        group[0] = 16;
    } else if (what == PAINT) {
        dims = 2;
        SET(k, w->image, w->b[i], W);
        global[0] = W;
        global[1] = H - pick(w, 2) * 8;
        group[0] = 8;
    } else {
        local = group[0] = 64;
        global[0] = words / 64 * 64;
        CL(clSetKernelArg(k, 1, 256, NULL));
    }
    cl_command_queue q = queue_for(w, &n_wait);
    TRY(clEnqueueNDRangeKernel(q, k, dims, offset[0] ? offset : NULL, global, local || what == TURN ? group : NULL,
                               n_wait, n_wait ? &w->s.last : NULL, &e));
    ends(w, e);
}

static void do_host(struct worker *w, bool write)
{
    const uint32_t i = pick(w, BUFFERS);
    size_t words;
    cl_mem m = object(w, i, &words);
    const size_t offset = pick(w, (uint32_t)words * 4), n = 1 + pick(w, (uint32_t)(words * 4 - offset));
    cl_uint n_wait;
    cl_event e;
    cl_command_queue q = queue_for(w, &n_wait);
    if (write) {
        TRY(clEnqueueWriteBuffer(q, m, pick(w, 3) == 0, offset, n, pool + pick(w, (uint32_t)(POOL - n)), n_wait,
                                 n_wait ? &w->s.last : NULL, &e));
    } else {
        unsigned char *got = block(w, n);
        const bool blocking = pick(w, 2);
        TRY(clEnqueueReadBuffer(q, m, blocking, offset, n, got, n_wait, n_wait ? &w->s.last : NULL, &e));
        if (!blocking)
            await_end(w, e);
        say(w, "read", i, got, n);
    }
    ends(w, e);
}

static void do_rectangle(struct worker *w)
{
    const uint32_t i = pick(w, BUFFERS), j = (i + 1) % BUFFERS, what = pick(w, 3);
    const size_t from[3] = {pick(w, 50), pick(w, 3), pick(w, 3)}, to[3] = {pick(w, 50), pick(w, 3), pick(w, 3)};
    const size_t region[3] = {1 + pick(w, 120), 1 + pick(w, 13), 1 + pick(w, 4)}, zero[3] = {0};
    const size_t row = 170 + pick(w, 30), slice = row * 16, host_row = pick(w, 2) ? 0 : 121 + pick(w, 9);
    const bool blocking = pick(w, 3) == 0;
    cl_uint n_wait;
    cl_event e;
    cl_command_queue q = queue_for(w, &n_wait);
    const cl_event *wait = n_wait ? &w->s.last : NULL;
    if (what == 0) {
        TRY(clEnqueueCopyBufferRect(q, w->b[i], w->b[j], from, to, region, row, slice, row + 3, 0, n_wait, wait, &e));
    } else if (what == 1) {
        TRY(clEnqueueWriteBufferRect(q, w->b[i], blocking, from, zero, region, row, slice, host_row, 0,
                                     pool + pick(w, 999), n_wait, wait, &e));
    } else {
        unsigned char *got = block(w, 130 * 13 * 4);
        TRY(clEnqueueReadBufferRect(q, w->b[i], blocking, from, zero, region, row, slice, host_row, 0, got, n_wait,
                                    wait, &e));
        if (!blocking)
            await_end(w, e);
        say(w, "rectangle", i, got, 130 * 13 * 4);
    }
    ends(w, e);
}

static void do_move(struct worker *w)
{
    const uint32_t i = pick(w, BUFFERS), j = (i + 1 + pick(w, BUFFERS - 1)) % BUFFERS;
    size_t words, others;
    cl_mem m = object(w, i, &words), other = object(w, j, &others);
    cl_uint n_wait;
    cl_event e;
    cl_command_queue q = queue_for(w, &n_wait);
    const cl_event *wait = n_wait ? &w->s.last : NULL;
    const size_t most = words < others ? words : others, n = 1 + pick(w, (uint32_t)most * 4);
    if (pick(w, 3) == 0 && has('f')) {
        const size_t pattern = (size_t)1 << pick(w, 5), at = pick(w, (uint32_t)(words * 4 / pattern));
        TRY(clEnqueueFillBuffer(q, m, pool + pick(w, 100), pattern, at * pattern,
                                (1 + pick(w, (uint32_t)(words * 4 / pattern - at))) * pattern, n_wait, wait, &e));
    } else if (pick(w, 6) == 0) {
        TRY(clEnqueueCopyBuffer(q, w->b[i], w->b[i], pick(w, 2000), BYTES / 2 + pick(w, 2000), 4000, n_wait, wait, &e));
    } else {
        TRY(clEnqueueCopyBuffer(q, m, other, pick(w, (uint32_t)(words * 4 - n + 1)),
                                pick(w, (uint32_t)(others * 4 - n + 1)), n, n_wait, wait, &e));
    }
    ends(w, e);
}

static void do_map(struct worker *w)
{
    static const cl_map_flags kinds[] = {CL_MAP_READ, CL_MAP_WRITE, CL_MAP_READ | CL_MAP_WRITE,
                                         CL_MAP_WRITE_INVALIDATE_REGION};
    const uint32_t i = pick(w, BUFFERS), kind = pick(w, 4);
    size_t words;
    cl_mem m = object(w, i, &words);
    const size_t offset = pick(w, (uint32_t)words * 4), n = 1 + pick(w, (uint32_t)(words * 4 - offset));
    cl_uint n_wait;
    cl_int err;
    cl_event e;
    cl_command_queue q = queue_for(w, &n_wait);
    unsigned char *v;
    v = clEnqueueMapBuffer(q, m, CL_FALSE, kinds[kind], offset, n, n_wait, n_wait ? &w->s.last : NULL, &e, &err);
    fails(w, err, "clEnqueueMapBuffer", __LINE__);
    w->mapped = v;
    w->mapped_of = m;
    await_end(w, e);
    CL(clReleaseEvent(e));
    if (kind == 0 || kind == 2)
        say(w, "map", i, v, n);
    if (kind == 3)
        memcpy(v, pool + 17, n);
    for (size_t at = pick(w, 50); (kind == 1 || kind == 2) && at < n; at += 1 + pick(w, 200))
        v[at] ^= (unsigned char)(at * 3 + 1);
    w->mapped = NULL;
    TRY(clEnqueueUnmapMemObject(q, m, v, 0, NULL, &e));
    ends(w, e);
}

static void do_image(struct worker *w)
{
    const uint32_t i = pick(w, BUFFERS);
    const size_t zero[3] = {0}, part[3] = {W - pick(w, 30), 1 + pick(w, H - 1), 1}, at[3] = {pick(w, 30), 0, 0};
    cl_uint n_wait;
    cl_event e;
    cl_command_queue q = queue_for(w, &n_wait);
    const cl_event *wait = n_wait ? &w->s.last : NULL;
    const size_t region[3] = {part[0] > at[0] ? part[0] - at[0] : 1, part[1], 1};
    const size_t row = pick(w, 2) ? 0 : W * 4 + 4 * pick(w, 9);
    const bool blocking = pick(w, 3) == 0;
    switch (pick(w, 4)) {
    case 0:
        TRY(clEnqueueCopyBufferToImage(q, w->b[i], w->image, 64 * pick(w, 2), at, (size_t[3]){region[0], 5, 1}, n_wait,
                                       wait, &e));
        break;
    case 1:
        TRY(clEnqueueCopyImageToBuffer(q, w->image, w->b[i], zero, (size_t[3]){region[0], 5, 1}, 32 * pick(w, 9),
                                       n_wait, wait, &e));
        break;
    case 2:
        TRY(clEnqueueWriteImage(q, w->image, blocking, at, region, row, 0, pool + pick(w, 999), n_wait, wait, &e));
        break;
    default: {
        unsigned char *got = block(w, (W * 4 + 36) * H);
        TRY(clEnqueueReadImage(q, w->image, blocking, at, region, row, 0, got, n_wait, wait, &e));
        if (!blocking)
            await_end(w, e);
        say(w, "image", i, got, (W * 4 + 36) * H);
    }
    }
    ends(w, e);
}

/* A command that waits for a user event, and one or two after it, before the user event gets its status. */
static void do_gate(struct worker *w)
{
    cl_event e;
    cl_uint n_wait;
    const uint32_t i = pick(w, BUFFERS);
    cl_event gate = new_user_event();
    cl_command_queue q = queue_for(w, &n_wait);
    const cl_event both[2] = {gate, w->s.last};
    CL(clEnqueueWriteBuffer(q, w->b[i], CL_FALSE, 0, 1 + pick(w, BYTES), pool + pick(w, 1000), w->s.last ? 2 : 1, both,
                            &e));
    ends(w, e);
    SET(w->k[SCALE], w->b[i], 3, 4);
    launch(w->s.q[w->s.last_q], w->k[SCALE], WORDS, 64, 1, &w->s.last, &e);
    ends(w, e);
    CL(clFlush(w->s.q[w->s.last_q]));
    end_user_event(gate);
}

/* NVIDIA's driver (580) may lose what was written by a window that was the first use of a buffer, once it is released
 * and another that overlaps it is made: bench/results/h200x2.md. Not if the buffer itself was used before. */
static void use_once(struct worker *w, uint32_t i)
{
    unsigned char unused;
    if (!w->used[i] && w->s.last)
        CL(clFlush(w->s.q[w->s.last_q]));
    if (!w->used[i])
        TRY(clEnqueueReadBuffer(w->s.q[0], w->b[i], CL_TRUE, 0, 1, &unused, w->s.last ? 1 : 0,
                                w->s.last ? &w->s.last : NULL, NULL));
    w->used[i] = true;
}

static void make_window(struct worker *w, uint32_t i)
{
    use_once(w, i);
    const cl_buffer_region r = {align * pick(w, (uint32_t)(BYTES / align / 2)),
                                128 * (8 + pick(w, BYTES / 128 / 2 - 8))};
    if (w->sub[i])
        CL(clReleaseMemObject(w->sub[i]));
    w->sub[i] = sub_buffer(w->b[i], 0, r.origin, r.size);
    w->origin[i] = r.origin;
    w->size[i] = r.size;
}

static void do_objects(struct worker *w)
{
    const uint32_t i = pick(w, BUFFERS);
    if (pick(w, 3)) {
        if (has('w'))
            make_window(w, i);
        return;
    }
    if (!has('o'))
        return;
    /* Let go while its commands may still run. */
    static const cl_mem_flags kinds[] = {CL_MEM_COPY_HOST_PTR, CL_MEM_COPY_HOST_PTR | CL_MEM_ALLOC_HOST_PTR};
    if (w->sub[i])
        CL(clReleaseMemObject(w->sub[i]));
    w->sub[i] = NULL;
    CL(clReleaseMemObject(w->b[i]));
    w->b[i] = buffer(CL_MEM_READ_WRITE | kinds[pick(w, 2)], BYTES, pool + pick(w, 1000));
    w->used[i] = false;
}

static const size_t origin[3], all[3] = {W, H, 1};

static void set_up(struct worker *w)
{
    for (uint32_t i = 0; i < BUFFERS; i++)
        w->b[i] = buffer_of(pool + pick(w, 1000), BYTES);
    for (uint32_t i = 0; i < KERNELS; i++)
        w->k[i] = kernel_of(program, names[i]);
    for (uint32_t i = 0; i < QUEUES; i++) {
        w->s.in_order[i] = i != 1;
        w->s.q[i] = new_queue(w->s.in_order[i] ? 0 : out_of_order());
    }
    if (has('i'))
        w->image =
            new_image(CL_MEM_OBJECT_IMAGE2D, all, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, CL_UNSIGNED_INT8, pool);
}

/* Every byte, whatever became of what was there. */
static void write_anew(struct worker *w)
{
    for (uint32_t i = 0; i < BUFFERS; i++) {
        cl_uint n_wait;
        cl_event e;
        if (w->sub[i])
            CL(clReleaseMemObject(w->sub[i]));
        w->sub[i] = NULL;
        cl_command_queue q = queue_for(w, &n_wait);
        TRY(clEnqueueWriteBuffer(q, w->b[i], pick(w, 3) == 0, 0, BYTES, pool + pick(w, 1000), n_wait,
                                 n_wait ? &w->s.last : NULL, &e));
        ends(w, e);
    }
    if (w->image) {
        cl_uint n_wait;
        cl_event e;
        cl_command_queue q = queue_for(w, &n_wait);
        TRY(clEnqueueWriteImage(q, w->image, pick(w, 3) == 0, origin, all, 0, 0, pool + pick(w, 1000), n_wait,
                                n_wait ? &w->s.last : NULL, &e));
        ends(w, e);
    }
}

static void do_steps(struct worker *w)
{
    for (uint32_t s = 0; s < w->s.steps; s++) {
        const uint32_t what = pick(w, 20);
        if (what < 8)
            do_launch(w);
        else if (what < 12)
            do_host(w, what < 10);
        else if (what < 14)
            do_move(w);
        else if (what < 15 && has('r'))
            do_rectangle(w);
        else if (what >= 15 && what < 17 && has('m'))
            do_map(w);
        else if (what == 17 && has('i'))
            do_image(w);
        else if (what == 18)
            do_objects(w);
        else if (what == 19 && pick(w, 3) == 0 && has('g'))
            do_gate(w);
    }
    for (size_t i = 0; i < w->n_ends; i++)
        TRY(clWaitForEvents(1, &w->ends[i]));
    TRY(clWaitForEvents(1, &w->s.last));
}

static void read_all(struct worker *w)
{
    unsigned char *got = block(w, BYTES);
    for (uint32_t i = 0; i < BUFFERS; i++) {
        TRY(clEnqueueReadBuffer(w->s.q[0], w->b[i], CL_TRUE, 0, BYTES, got, 0, NULL, NULL));
        say(w, "end", i, got, BYTES);
    }
    if (w->image) {
        TRY(clEnqueueReadImage(w->s.q[0], w->image, CL_TRUE, origin, all, 0, 0, got, 0, NULL, NULL));
        say(w, "image", 0, got, BYTES);
    }
}

/* Nothing of the sequence is under way any more. Its commands have failed, or what it has got is no longer needed. */
static void settle(struct worker *w)
{
    if (w->mapped) {
        clEnqueueUnmapMemObject(w->s.q[0], w->mapped_of, w->mapped, 0, NULL, NULL);
        w->mapped = NULL;
    }
    for (uint32_t i = 0; i < QUEUES; i++)
        clFinish(w->s.q[i]);
    for (size_t i = 0; i < w->n_ends; i++)
        CL(clReleaseEvent(w->ends[i]));
    w->n_ends = 0;
    if (w->s.last)
        CL(clReleaseEvent(w->s.last));
    w->s.last = NULL;
    for (struct block *b = w->blocks, *next_b; b; b = next_b) {
        next_b = b->next;
        free(b);
    }
    w->blocks = NULL;
}

static bool try_round(struct worker *w, uint32_t round)
{
    const size_t length = w->s.length;
    if (setjmp(w->again) != 0) {
        w->s.length = length;
        settle(w);
        return false;
    }
    w->s.last_q = 0;
    w->s.state = scramble(w->seed + round * 7919);
    write_anew(w);
    do_steps(w);
    read_all(w);
    settle(w);
    return true;
}

static void *work(void *arg)
{
    enum { TRIES = 40 };
    struct worker *w = arg;
    set_up(w);
    for (uint32_t r = 0; r < rounds; r++) {
        unsigned tries = 1;
        while (!try_round(w, r) && tries < TRIES)
            tries++;
        w->failed += tries - 1;
        if (tries == TRIES) {
            printf("round %u fails again and again\n", r);
            exit(1);
        }
    }
    if (!rounds) {
        do_steps(w);
        read_all(w);
        settle(w);
    }
    for (uint32_t i = 0; i < BUFFERS; i++) {
        if (w->sub[i])
            CL(clReleaseMemObject(w->sub[i]));
        CL(clReleaseMemObject(w->b[i]));
    }
    if (w->image)
        CL(clReleaseMemObject(w->image));
    free(w->ends);
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
                   threads = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 0) : 3;
    cl_uint bits = 0;
    struct worker *w = calloc(threads, sizeof *w);
    without = argc > 4 ? argv[4] : "";
    rounds = argc > 5 ? (uint32_t)strtoul(argv[5], NULL, 0) : 0;
    printf("stress %u %u %u\n", seed, steps, threads);
    for (size_t i = 0; i < POOL; i++)
        pool[i] = (unsigned char)scramble((uint32_t)i + seed);
    start(0);
    CL(clGetDeviceInfo(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, NULL));
    align = bits / 8 > align ? bits / 8 : align;
    program = build(source, "");
    common = buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, BYTES, pool);
    for (uint32_t t = 0; t < threads; t++) {
        w[t].s.state = w[t].seed = scramble(seed * 31 + t);
        w[t].s.steps = steps;
        w[t].s.thread = new_thread(work, &w[t]);
    }
    for (uint32_t t = 0; t < threads; t++) {
        pthread_join(w[t].s.thread, NULL);
        printf("thread %u\n%s", t, w[t].s.text ? w[t].s.text : "");
        if (rounds)
            fprintf(stderr, "thread %u: %u tries failed\n", t, w[t].failed);
        free(w[t].s.text);
    }
    free(w);
    return FINISH(common, program);
}
