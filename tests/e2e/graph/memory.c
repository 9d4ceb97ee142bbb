/* SPDX-License-Identifier: MIT */
#include "graph.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1 << 12, MOST_ARGUMENTS = 64, MOST_OBJECTS = 1 << 16 };

/* A memory object, a kernel, or a range that is mapped. */
struct memory {
    struct memory *next;
    cl_mem handle;
    unsigned object;
    uint64_t origin, bytes;
    bool image, unknown, whole; /* unknown: an image of a buffer's bytes; whole: no part of another */
    cl_mem_flags flags;
};

struct kernel {
    struct kernel *next;
    cl_kernel handle;
    cl_mem argument[MOST_ARGUMENTS];
    unsigned call; /* of the application's, in which an argument was set last */
};

struct map {
    struct map *next;
    cl_mem mem;
    const void *ptr;
    bool writes;
    struct graph_bytes bytes;
};

static struct memory *memories[BUCKETS];
static struct kernel *kernels[BUCKETS];
static struct map *maps;

static size_t bucket(const void *p)
{
    return (uintptr_t)p * 0x9e3779b97f4a7c15u >> 52;
}

static struct memory *find(cl_mem mem)
{
    struct memory *m = memories[bucket(mem)];
    while (m && m->handle != mem)
        m = m->next;
    return m;
}

uint64_t graph_image_bytes(cl_mem mem, const size_t *region)
{
    size_t element = 0;
    graph_below.clGetImageInfo(mem, CL_IMAGE_ELEMENT_SIZE, sizeof element, &element, NULL);
    return !region ? 0 : (uint64_t)element * region[0] * region[1] * region[2];
}

static void image_size(cl_mem mem, size_t size[3])
{
    cl_mem_object_type type = 0;
    size_t layers = 0;
    size[0] = size[1] = size[2] = 0;
    graph_below.clGetMemObjectInfo(mem, CL_MEM_TYPE, sizeof type, &type, NULL);
    graph_below.clGetImageInfo(mem, CL_IMAGE_WIDTH, sizeof *size, &size[0], NULL);
    graph_below.clGetImageInfo(mem, CL_IMAGE_HEIGHT, sizeof *size, &size[1], NULL);
    graph_below.clGetImageInfo(mem, CL_IMAGE_DEPTH, sizeof *size, &size[2], NULL);
    if (type == CL_MEM_OBJECT_IMAGE1D_ARRAY || type == CL_MEM_OBJECT_IMAGE2D_ARRAY)
        graph_below.clGetImageInfo(mem, CL_IMAGE_ARRAY_SIZE, sizeof layers, &layers, NULL);
    if (layers)
        size[type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? 1 : 2] = layers;
    for (int i = 0; i < 3; i++)
        size[i] = size[i] ? size[i] : 1;
}

static atomic_bool gone[MOST_OBJECTS];

/* From whatever thread, with whatever locks. */
static void CL_CALLBACK is_gone(cl_mem mem, void *object)
{
    atomic_store(&gone[(uintptr_t)object % MOST_OBJECTS], true);
}

bool graph_is_gone(unsigned object)
{
    return gone[object % MOST_OBJECTS];
}

void graph_memory_made(cl_mem mem, cl_mem parent, uint64_t origin)
{
    static unsigned objects;
    struct memory *m = find(mem), *of = parent ? find(parent) : NULL;
    cl_mem_object_type type = CL_MEM_OBJECT_BUFFER;
    cl_mem associated = NULL;
    size_t bytes = 0, size[3];
    if (!m) {
        if (!(m = calloc(1, sizeof *m)))
            abort();
        m->next = memories[bucket(mem)];
        memories[bucket(mem)] = m;
    }
    graph_below.clGetMemObjectInfo(mem, CL_MEM_TYPE, sizeof type, &type, NULL);
    graph_below.clGetMemObjectInfo(mem, CL_MEM_SIZE, sizeof bytes, &bytes, NULL);
    graph_below.clGetMemObjectInfo(mem, CL_MEM_FLAGS, sizeof m->flags, &m->flags, NULL);
    graph_below.clGetMemObjectInfo(mem, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof associated, &associated, NULL);
    m->handle = mem;
    m->object = of ? of->object : ++objects;
    m->origin = of ? of->origin + origin : 0;
    m->whole = !of;
    if (!of) {
        atomic_store(&gone[m->object % MOST_OBJECTS], false);
        graph_below.clSetMemObjectDestructorCallback(mem, is_gone, (void *)(uintptr_t)m->object);
    }
    m->image = type != CL_MEM_OBJECT_BUFFER;
    m->unknown = m->image && associated;
    m->bytes = bytes;
    if (m->image && !m->unknown) {
        image_size(mem, size);
        m->bytes = graph_image_bytes(mem, size);
    }
}

unsigned graph_object(cl_mem mem, uint64_t *origin)
{
    const struct memory *m = find(mem);
    *origin = m ? m->origin : 0;
    return m && !m->unknown ? m->object : 0;
}

cl_mem graph_buffer_of(unsigned object)
{
    for (size_t i = 0; i < BUCKETS; i++)
        for (const struct memory *m = memories[i]; m; m = m->next)
            if (m->object == object && m->whole && !m->image)
                return m->handle;
    return NULL;
}

static void add(struct graph_touched *t, struct graph_bytes b)
{
    if (t->n < sizeof t->v / sizeof *t->v && b.length && b.rows && b.slices)
        t->v[t->n++] = b;
}

void graph_buffer(struct graph_touched *t, char access, cl_mem mem, uint64_t begin, uint64_t length)
{
    uint64_t origin;
    const unsigned object = graph_object(mem, &origin);
    if (object)
        add(t, (struct graph_bytes){access, object, origin + begin, length, 0, 1, 0, 1});
}

void graph_host(struct graph_touched *t, char access, const void *ptr, uint64_t length)
{
    add(t, (struct graph_bytes){access, 0, (uintptr_t)ptr, length, 0, 1, 0, 1});
}

void graph_rect(struct graph_touched *t, char access, cl_mem mem, const void *host, const size_t *origin,
                const size_t *region, size_t pitch, size_t slice)
{
    uint64_t base = (uintptr_t)host;
    const unsigned object = host ? 0 : graph_object(mem, &base);
    if ((!host && !object) || !origin || !region)
        return;
    pitch = pitch ? pitch : region[0];
    slice = slice ? slice : pitch * region[1];
    add(t, (struct graph_bytes){access, object, base + origin[0] + origin[1] * pitch + origin[2] * slice, region[0],
                                pitch, region[1], slice, region[2]});
}

void graph_image(struct graph_touched *t, char access, cl_mem mem, const size_t *origin, const size_t *region)
{
    uint64_t base;
    const unsigned object = graph_object(mem, &base);
    size_t size[3];
    if (!object || !origin || !region)
        return;
    image_size(mem, size);
    const uint64_t element = graph_image_bytes(mem, (const size_t[]){1, 1, 1});
    add(t, (struct graph_bytes){access, object, element * (origin[0] + size[0] * (origin[1] + size[1] * origin[2])),
                                element * region[0], element * size[0], region[1], element * size[0] * size[1],
                                region[2]});
}

void graph_map(struct graph_touched *t, cl_mem mem, cl_map_flags flags, const void *ptr,
               const struct graph_bytes *bytes)
{
    struct map *m = calloc(1, sizeof *m);
    if (!m)
        abort();
    *m = (struct map){maps, mem, ptr, flags != CL_MAP_READ, *bytes};
    maps = m;
    struct graph_bytes b = *bytes;
    b.access = flags & CL_MAP_WRITE_INVALIDATE_REGION ? 'w' : 'r';
    add(t, b);
}

void graph_unmap(struct graph_touched *t, cl_mem mem, const void *ptr)
{
    for (struct map **at = &maps; *at; at = &(*at)->next) {
        struct map *m = *at;
        if (m->mem != mem || m->ptr != ptr)
            continue;
        m->bytes.access = 'w';
        if (m->writes)
            add(t, m->bytes);
        *at = m->next;
        free(m);
        return;
    }
}

/* ---- kernels ---- */

static struct kernel *kernel_of(cl_kernel handle)
{
    struct kernel *k = kernels[bucket(handle)];
    while (k && k->handle != handle)
        k = k->next;
    if (k)
        return k;
    if (!(k = calloc(1, sizeof *k)))
        abort();
    k->handle = handle;
    k->next = kernels[bucket(handle)];
    return kernels[bucket(handle)] = k;
}

void graph_kernel_made(cl_kernel kernel, cl_kernel like)
{
    struct kernel *k = kernel_of(kernel);
    memset(k->argument, 0, sizeof k->argument);
    if (!like)
        return;
    memcpy(k->argument, kernel_of(like)->argument, sizeof k->argument);
}

void graph_kernel_argument(cl_kernel kernel, cl_uint index, size_t bytes, const void *value)
{
    cl_mem mem = NULL;
    struct kernel *k = kernel_of(kernel);
    if (index >= MOST_ARGUMENTS)
        return;
    if (graph_call)
        k->call = graph_call;
    if (bytes == sizeof mem && value)
        memcpy(&mem, value, sizeof mem);
    k->argument[index] = mem && find(mem) ? mem : NULL;
}

unsigned graph_kernel_call(cl_kernel kernel)
{
    return graph_call ? graph_call : kernel_of(kernel)->call;
}

struct graph_snapshot {
    unsigned char *held[MOST_ARGUMENTS];
};

/* PoCL doesn't read images by a part of a device: by one that the context was made with. */
static cl_int read_image(const struct memory *m, void *to)
{
    static const size_t origin[3];
    cl_device_id device[64] = {NULL};
    cl_context context = NULL;
    size_t size[3];
    image_size(m->handle, size);
    graph_below.clGetMemObjectInfo(m->handle, CL_MEM_CONTEXT, sizeof context, &context, NULL);
    graph_below.clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof device, device, NULL);
    cl_command_queue queue = graph_below.clCreateCommandQueue(context, device[0], 0, NULL);
    if (!queue)
        return CL_INVALID_COMMAND_QUEUE;
    const cl_int err = graph_below.clEnqueueReadImage(queue, m->handle, CL_TRUE, origin, size, 0, 0, to, 0, NULL, NULL);
    graph_below.clReleaseCommandQueue(queue);
    return err;
}

static unsigned char *held(const struct memory *m, cl_command_queue queue)
{
    if (m->unknown || (m->flags & (CL_MEM_HOST_NO_ACCESS | CL_MEM_HOST_WRITE_ONLY)))
        return NULL;
    unsigned char *p = malloc(m->bytes + 1);
    if (!p)
        return NULL;
    const cl_int err = m->image
                           ? read_image(m, p)
                           : graph_below.clEnqueueReadBuffer(queue, m->handle, CL_TRUE, 0, m->bytes, p, 0, NULL, NULL);
    if (!err)
        return p;
    free(p);
    return NULL;
}

unsigned char *graph_held(cl_mem mem, uint64_t begin, uint64_t length, cl_command_queue queue)
{
    const struct memory *m = find(mem);
    if (!m || m->image || (m->flags & (CL_MEM_HOST_NO_ACCESS | CL_MEM_HOST_WRITE_ONLY)))
        return NULL;
    unsigned char *p = malloc(length + 1);
    if (p && !graph_below.clEnqueueReadBuffer(queue, mem, CL_TRUE, begin, length, p, 0, NULL, NULL))
        return p;
    free(p);
    return NULL;
}

/* Where the first stretch that has changed begins and ends, from `at` on; `length`: none has. With `whole` words in
 * which a byte has changed count as a whole, if nothing else lies between. */
static uint64_t next_change(const unsigned char *was, const unsigned char *is, uint64_t at, uint64_t length, bool whole,
                            uint64_t *end)
{
    const uint64_t beside = whole ? 3 : 0;
    while (at < length && was[at] == is[at])
        at++;
    *end = at < length ? at + 1 : length;
    for (uint64_t next = *end; next < length && next - *end <= beside; next++)
        if (was[next] != is[next])
            *end = next + 1;
    return at;
}

void graph_say_written(cl_mem mem, uint64_t begin, uint64_t length, const unsigned char *was, const unsigned char *is,
                       bool whole)
{
    uint64_t origin;
    const unsigned object = graph_object(mem, &origin);
    for (uint64_t at = 0, end; object && at < length; at = end) {
        const uint64_t change = next_change(was, is, at, length, whole, &end), first = origin + begin;
        if (change > at)
            graph_say_bytes(&(struct graph_bytes){'s', object, first + at, change - at, 0, 1, 0, 1});
        if (end > change)
            graph_say_bytes(&(struct graph_bytes){'w', object, first + change, end - change, 0, 1, 0, 1});
    }
}

struct graph_snapshot *graph_before(cl_kernel kernel, cl_command_queue queue)
{
    const struct kernel *k = kernel_of(kernel);
    struct graph_snapshot *s = calloc(1, sizeof *s);
    for (unsigned i = 0; s && i < MOST_ARGUMENTS; i++)
        if (k->argument[i])
            s->held[i] = held(find(k->argument[i]), queue);
    return s;
}

static void say_changes(const struct memory *m, const unsigned char *was, const unsigned char *is)
{
    for (uint64_t at = 0, end; at < m->bytes; at = end) {
        at = next_change(was, is, at, m->bytes, true, &end);
        if (at == m->bytes)
            return;
        graph_say_bytes(&(struct graph_bytes){'w', m->object, m->origin + at, end - at, 0, 1, 0, 1});
        graph_changed(m->object, m->origin + at, end - at);
    }
}

void graph_after(cl_kernel kernel, cl_command_queue queue, struct graph_snapshot *s)
{
    const struct kernel *k = kernel_of(kernel);
    for (unsigned i = 0; i < MOST_ARGUMENTS; i++) {
        struct memory *m = k->argument[i] ? find(k->argument[i]) : NULL;
        if (!m || m->unknown)
            continue;
        graph_say_bytes(&(struct graph_bytes){'r', m->object, m->origin, m->bytes, 0, 1, 0, 1});
        unsigned char *now = s && s->held[i] ? held(m, queue) : NULL;
        if (now)
            say_changes(m, s->held[i], now);
        free(now);
        if (s)
            free(s->held[i]);
    }
    free(s);
}
