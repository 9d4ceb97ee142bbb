/* SPDX-License-Identifier: MIT */
/* random_host_programs SEED STEPS KERNEL.cl...: a random host program around random kernels (tests/access/generate.py
 * and tests/access/oracle/free.py write them;
 * what their lines `//!` say of index buffers holds, all others may hold anything). Buffers, windows of them that
 * overlap, queues in order and not, an event for each thing that a command must come after and no other order, maps
 * that are held while other commands run, host writes in between. The same seed does and prints the same. */
#include "plain.h"

enum { BUFFERS = 5, WINDOWS = 3, OBJECTS = BUFFERS * (1 + WINDOWS), QUEUES = 4, MOST_KERNELS = 64, MOST_ARGS = 16 };
enum { BYTES = 64 * 1024, LEAST = 16 * 1024, ALIGN = 1024, MAPS = 3 };

/* A buffer, or a window of one. */
struct object {
    cl_mem mem;
    unsigned root;
    size_t begin, bytes; /* in the root */
};

/* A command on an object of a root: what conflicts with it comes after it. */
struct access {
    struct access *next;
    struct object of;
    bool writes;
    cl_event event;
    unsigned queue;
};

struct arg {
    bool is_buffer, is_fixed; /* fixed: a buffer whose contents the kernel relies on */
    bool is_written;
    size_t bytes; /* of the buffer that it needs at least, or of the value */
    uint64_t value;
    cl_mem mem; /* of a fixed one */
};

struct kernel {
    cl_kernel k;
    cl_uint dims, n_args;
    size_t offset[3], global[3], local[3];
    struct arg arg[MOST_ARGS];
};

static struct object object[OBJECTS];
static struct access *accesses;
static struct {
    const struct object *of;
    unsigned char *at;
    size_t bytes;
    bool writes;
} map[MAPS];
static struct kernel kernel[MOST_KERNELS];
static unsigned n_kernels;
static cl_command_queue queues[QUEUES];
static unsigned char pool[BYTES * 2];
static uint64_t state;
static unsigned step;

static unsigned rnd(unsigned n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % n;
}

/* ---- kernels ---- */

static void fill_fixed(unsigned char *v, size_t width, size_t n, const char *how, unsigned most)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t x = rnd(most ? most : 1);
        if (strcmp(how, "rising") == 0)
            x = sum += i ? x : 0;
        else if (strcmp(how, "around") == 0)
            x = (uint64_t)rnd(2 * most + 1) - most;
        memcpy(v + i * width, &x, width);
    }
}

/* `buffer TYPE COUNT HOW [N]`. The first seven may hold anything, the others tell where something stands. */
static void read_buffer(struct kernel *k, const char *line)
{
    char type[16] = "", how[16] = "";
    unsigned n = 0, most = 0;
    if (sscanf(line, "//! buffer %15s %u %15s %u", type, &n, how, &most) < 3)
        return;
    const size_t width = strstr(type, "char") ? 1 : strstr(type, "short") ? 2 : strstr(type, "long") ? 8 : 4;
    struct arg *a = &k->arg[k->n_args++];
    *a = (struct arg){.is_buffer = true, .bytes = n * width, .is_fixed = k->n_args > 7 || n * width > LEAST};
    a->is_written = k->n_args == 1 || k->n_args == 6 || k->n_args == 7;
    if (!a->is_fixed)
        return;
    fill_fixed(pool, width, n, how, most);
    a->mem = buffer_of(pool, a->bytes);
}

/* Bytes in hexadecimal digits. */
static size_t read_bytes(const char *line, unsigned char *v, size_t most)
{
    size_t n = 0;
    for (unsigned byte; n < most && sscanf(line + 2 * n, "%2x", &byte) == 1; n++)
        v[n] = (unsigned char)byte;
    return n;
}

/* What tests/access/oracle says: `output BYTES`, `table BYTES THEMSELVES` of a buffer that is only read, `raw BYTES` of
 * a value. */
static void read_exact(struct kernel *k, const char *line)
{
    struct arg *a = &k->arg[k->n_args];
    size_t bytes;
    if (sscanf(line, "//! output %zu", &bytes) == 1) {
        *a = (struct arg){.is_buffer = true, .is_written = true, .bytes = bytes};
    } else if (strncmp(line, "//! table ", 10) == 0) {
        *a = (struct arg){.is_buffer = true, .is_fixed = true, .bytes = read_bytes(line + 10, pool, LEAST)};
        a->mem = buffer_of(pool, a->bytes);
    } else if (strncmp(line, "//! raw ", 8) == 0) {
        *a = (struct arg){0};
        a->bytes = read_bytes(line + 8, (unsigned char *)&a->value, sizeof a->value);
    } else {
        return;
    }
    k->n_args++;
}

static void read_kernel(const char *file)
{
    static char text[1 << 18];
    char options[256] = "", name[64] = "";
    struct kernel *k = &kernel[n_kernels++];
    FILE *f = fopen(file, "r");
    if (!f || n_kernels == MOST_KERNELS)
        exit(2);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    for (const char *line = text; strncmp(line, "//! ", 4) == 0 && k->n_args < MOST_ARGS;
         line = strchr(line, '\n') + 1) {
        long long value;
        sscanf(line, "//! options %255[^\n]", options);
        sscanf(line, "//! kernel %63s", name);
        if (sscanf(line, "//! global %zu %zu %zu", &k->global[0], &k->global[1], &k->global[2]) > 0)
            k->dims = (cl_uint)sscanf(line, "//! global %*u %zu %zu", &k->global[1], &k->global[2]) + 1;
        sscanf(line, "//! local %zu %zu %zu", &k->local[0], &k->local[1], &k->local[2]);
        sscanf(line, "//! offset %zu %zu %zu", &k->offset[0], &k->offset[1], &k->offset[2]);
        read_buffer(k, line);
        read_exact(k, line);
        if (sscanf(line, "//! value %*s %lld", &value) == 1)
            k->arg[k->n_args++] = (struct arg){.bytes = 4, .value = (uint64_t)value};
    }
    k->k = kernel_of(build(text, options), name);
}

/* ---- order ---- */

static bool conflict(const struct object *a, bool a_writes, const struct object *b, bool b_writes)
{
    return (a_writes || b_writes) && a->root == b->root && a->begin < b->begin + b->bytes &&
           b->begin < a->begin + a->bytes;
}

/* Is it mapped so that nobody may touch it in that way? */
static bool is_held(const struct object *o, bool writes)
{
    for (unsigned i = 0; i < MAPS; i++)
        if (map[i].of && conflict(o, writes, map[i].of, map[i].writes))
            return true;
    return false;
}

/* What a command of that queue must wait for; what its queue's order says already is left out now and then. */
struct wait {
    cl_event v[512];
    cl_uint n;
};

static void must_wait(struct wait *w, const struct object *o, bool writes, unsigned in)
{
    for (const struct access *a = accesses; a; a = a->next) {
        const bool by_queue = a->queue == in && in != QUEUES - 1 && rnd(2);
        if (!by_queue && conflict(o, writes, &a->of, a->writes) && w->n < sizeof w->v / sizeof *w->v)
            w->v[w->n++] = a->event;
    }
}

static void note(const struct object *o, bool writes, unsigned in, cl_event event)
{
    struct access *a = malloc(sizeof *a);
    if (!a)
        abort();
    CL(clRetainEvent(event));
    *a = (struct access){accesses, *o, writes, event, in};
    accesses = a;
}

static void forget_all(void)
{
    for (unsigned i = 0; i < QUEUES; i++)
        CL(clFinish(queues[i]));
    for (struct access *a = accesses, *next; a; a = next) {
        next = a->next;
        CL(clReleaseEvent(a->event));
        free(a);
    }
    accesses = NULL;
}

/* What is waited for is on its way: a queue need not send off what another's command waits for. */
static void flush(void)
{
    for (unsigned i = 0; i < QUEUES; i++)
        CL(clFlush(queues[i]));
}

/* ---- steps ---- */

/* One that nobody holds, of at least so many bytes; NULL: none was found. */
static const struct object *find(size_t bytes, bool writes)
{
    for (unsigned tries = 0; tries < 20; tries++) {
        const struct object *o = &object[rnd(OBJECTS)];
        if (o->bytes >= bytes && !is_held(o, writes))
            return o;
    }
    return NULL;
}

/* Its outputs are apart from all else. */
static bool choose(const struct kernel *k, const struct object *chosen[MOST_ARGS])
{
    unsigned buffers = 0;
    for (cl_uint i = 0; i < k->n_args; i++) {
        const bool writes = k->arg[i].is_written;
        chosen[i] = NULL;
        if (!k->arg[i].is_buffer || k->arg[i].is_fixed)
            continue;
        buffers++;
        for (unsigned tries = 0; tries < 40 && !chosen[i]; tries++) {
            const struct object *o = find(k->arg[i].bytes, writes);
            for (cl_uint j = 0; j < i && o; j++)
                if (chosen[j] && conflict(o, writes, chosen[j], k->arg[j].is_written))
                    o = NULL;
            chosen[i] = o;
        }
        if (!chosen[i])
            return false;
    }
    return buffers;
}

static void do_launch(unsigned q)
{
    const struct kernel *k = &kernel[rnd(n_kernels)];
    const struct object *chosen[MOST_ARGS];
    struct wait w = {.n = 0};
    cl_event e;
    if (!choose(k, chosen))
        return;
    for (cl_uint i = 0; i < k->n_args; i++) {
        const struct arg *a = &k->arg[i];
        if (a->is_buffer)
            set_mem(k->k, i, a->is_fixed ? a->mem : chosen[i]->mem);
        else
            CL(clSetKernelArg(k->k, i, a->bytes, &a->value));
        if (chosen[i])
            must_wait(&w, chosen[i], a->is_written, q);
    }
    CL(clEnqueueNDRangeKernel(queues[q], k->k, k->dims, k->offset, k->global, k->local, w.n, w.n ? w.v : NULL, &e));
    for (cl_uint i = 0; i < k->n_args; i++)
        if (chosen[i])
            note(chosen[i], k->arg[i].is_written, q, e);
    CL(clReleaseEvent(e));
}

static void do_host(unsigned q, bool writes)
{
    static unsigned char got[BYTES];
    const struct object *o = find(1, writes);
    struct wait w = {.n = 0};
    cl_event e;
    if (!o)
        return;
    const size_t at = rnd((unsigned)o->bytes), n = 1 + rnd((unsigned)(o->bytes - at));
    const cl_bool blocking = writes ? rnd(2) : CL_TRUE;
    must_wait(&w, o, writes, q);
    if (blocking)
        flush();
    if (writes)
        CL(clEnqueueWriteBuffer(queues[q], o->mem, blocking, at, n, pool + rnd(BYTES), w.n, w.n ? w.v : NULL, &e));
    else
        CL(clEnqueueReadBuffer(queues[q], o->mem, blocking, at, n, got, w.n, w.n ? w.v : NULL, &e));
    if (!writes) {
        char name[32];
        snprintf(name, sizeof name, "%u: read", step);
        show(name, got, n);
    }
    note(o, writes, q, e);
    CL(clReleaseEvent(e));
}

static void do_copy(unsigned q)
{
    const struct object *from = find(1, false), *to = find(1, true);
    struct wait w = {.n = 0};
    cl_event e;
    if (!from || !to || conflict(from, false, to, true))
        return;
    const size_t most = from->bytes < to->bytes ? from->bytes : to->bytes, n = 1 + rnd((unsigned)most);
    const uint32_t pattern = rnd(1 << 30);
    must_wait(&w, to, true, q);
    if (rnd(4) == 0) {
        CL(clEnqueueFillBuffer(queues[q], to->mem, &pattern, 4, 0, (n + 3) / 4 * 4 > to->bytes ? 4 : (n + 3) / 4 * 4,
                               w.n, w.n ? w.v : NULL, &e));
    } else {
        must_wait(&w, from, false, q);
        CL(clEnqueueCopyBuffer(queues[q], from->mem, to->mem, rnd((unsigned)(from->bytes - n + 1)),
                               rnd((unsigned)(to->bytes - n + 1)), n, w.n, w.n ? w.v : NULL, &e));
        note(from, false, q, e);
    }
    note(to, true, q, e);
    CL(clReleaseEvent(e));
}

/* The host writes at any time while it is mapped. */
static void touch(unsigned i)
{
    for (size_t at = rnd(300); map[i].writes && at < map[i].bytes; at += 1 + rnd(3000))
        map[i].at[at] ^= (unsigned char)(step + at);
}

static void do_map(unsigned q)
{
    static const cl_map_flags flags[] = {CL_MAP_READ, CL_MAP_WRITE, CL_MAP_READ | CL_MAP_WRITE,
                                         CL_MAP_WRITE_INVALIDATE_REGION};
    const unsigned i = rnd(MAPS), kind = rnd(4);
    struct wait w = {.n = 0};
    cl_event e;
    cl_int err;
    if (map[i].of) {
        touch(i);
        CL(clEnqueueUnmapMemObject(queues[q], map[i].of->mem, map[i].at, 0, NULL, &e));
        note(map[i].of, map[i].writes, q, e);
        CL(clReleaseEvent(e));
        map[i].of = NULL;
        return;
    }
    const struct object *o = find(1, kind > 0);
    if (!o)
        return;
    const size_t at = rnd((unsigned)o->bytes), n = 1 + rnd((unsigned)(o->bytes - at));
    must_wait(&w, o, kind > 0, q);
    flush();
    MADE(map[i].at,
         clEnqueueMapBuffer(queues[q], o->mem, CL_TRUE, flags[kind], at, n, w.n, w.n ? w.v : NULL, &e, &err));
    map[i].bytes = n;
    map[i].writes = kind > 0;
    map[i].of = o;
    if (kind == 0 || kind == 2) {
        char name[32];
        snprintf(name, sizeof name, "%u: map", step);
        show(name, map[i].at, n);
    }
    if (kind == 3)
        memcpy(map[i].at, pool + rnd(BYTES), n);
    note(o, map[i].writes, q, e);
    CL(clReleaseEvent(e));
}

static void set_up(int n_files, char **files)
{
    for (unsigned i = 0; i < QUEUES; i++)
        queues[i] = new_queue(i == QUEUES - 1 ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0);
    for (int i = 0; i < n_files; i++)
        read_kernel(files[i]);
    for (size_t i = 0; i < sizeof pool; i++)
        pool[i] = (unsigned char)rnd(256);
    for (unsigned b = 0; b < BUFFERS; b++) {
        struct object *o = &object[b * (1 + WINDOWS)];
        *o = (struct object){NULL, b, 0, BYTES};
        o->mem = buffer_of(pool + rnd(BYTES), BYTES);
        for (unsigned w = 1; w <= WINDOWS; w++) {
            const size_t bytes = LEAST + ALIGN * rnd(LEAST / ALIGN),
                         begin = ALIGN * rnd((unsigned)((BYTES - bytes) / ALIGN));
            o[w] = (struct object){NULL, b, begin, bytes};
            o[w].mem = sub_buffer(o->mem, 0, begin, bytes);
        }
    }
}

static void do_step(void)
{
    enum { FORGET_EVERY = 40 };
    const unsigned q = rnd(QUEUES), what = rnd(24), held = rnd(MAPS);
    if (map[held].of)
        touch(held);
    if (what < 14)
        do_launch(q);
    else if (what < 17)
        do_host(q, true);
    else if (what < 19)
        do_host(q, false);
    else if (what < 21)
        do_copy(q);
    else
        do_map(q);
    if (rnd(4) == 0)
        flush();
    if (step % FORGET_EVERY == 0)
        forget_all();
}

static void show_all(void)
{
    for (unsigned i = 0; i < MAPS; i++)
        if (map[i].of)
            CL(clEnqueueUnmapMemObject(queues[0], map[i].of->mem, map[i].at, 0, NULL, NULL));
    forget_all();
    for (unsigned b = 0; b < BUFFERS; b++) {
        char name[32];
        snprintf(name, sizeof name, "buffer %u", b);
        show_buffer(name, queues[b % QUEUES], object[b * (1 + WINDOWS)].mem, 0, BYTES);
    }
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    const unsigned steps = (unsigned)atoi(argv[2]);
    state = strtoull(argv[1], NULL, 10);
    start(0);
    set_up(argc - 3, argv + 3);
    for (step = 1; step <= steps; step++)
        do_step();
    show_all();
    for (unsigned i = OBJECTS; i-- > 0;)
        CL(clReleaseMemObject(object[i].mem));
    return finish();
}
