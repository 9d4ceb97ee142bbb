/* SPDX-License-Identifier: MIT */
/* Memory objects and samplers: who still uses a released one, and garbage where nothing has been written, or what was
 * there has been given up. */
#include "lazy.h"

#include <stdlib.h>
#include <string.h>

struct memory {
    struct memory *next;
    cl_mem mem; /* a released one stays ours until it has been let go */
    struct memory *parent;
    cl_context context;
    size_t bytes;
    cl_buffer_region region; /* of its parent; of no bytes where it isn't known */
    unsigned refs, parts;    /* the application's references; sub-objects that aren't let go */
    bool own_bytes;          /* no host pointer, no part of another: may be filled */
    bool used;               /* by a command */
    uint64_t commands;       /* of the time of its release */
    cl_device_id device;     /* of the first command that used it; null: none has */
};

struct sampler {
    struct sampler *next;
    cl_sampler handle; /* of a released one: until the driver gives it to another */
    unsigned refs;
};

struct argument {
    struct argument *next;
    cl_kernel kernel;
    cl_uint index;
    struct memory *memory;
    struct sampler *sampler;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all below */
static struct memory *all;
static struct sampler *samplers;
static struct argument *arguments;

static struct memory *find(cl_mem mem)
{
    struct memory *m = all;
    while (m && m->mem != mem)
        m = m->next;
    return m;
}

static void fill(const struct memory *m, unsigned char garbage)
{
    cl_device_id devices[16];
    size_t bytes = 0;
    cl_int err;
    if (lazy_below.clGetContextInfo(m->context, CL_CONTEXT_DEVICES, sizeof devices, devices, &bytes) != CL_SUCCESS)
        return;
    cl_command_queue queue = lazy_below.clCreateCommandQueue(m->context, devices[0], 0, &err);
    if (err)
        return;
    if (lazy_below.clEnqueueFillBuffer(queue, m->mem, &garbage, 1, 0, m->bytes, 0, NULL, NULL) == CL_SUCCESS)
        lazy_below.clFinish(queue);
    lazy_below.clReleaseCommandQueue(queue);
}

void lazy_memory_made(cl_mem mem, cl_mem parent, cl_context context, cl_mem_flags flags, size_t bytes)
{
    struct memory *m = lazy.poison ? calloc(1, sizeof *m) : NULL;
    if (!m)
        return;
    *m = (struct memory){.mem = mem, .context = context, .bytes = bytes, .refs = 1};
    m->own_bytes = bytes && !parent && !(flags & CL_MEM_USE_HOST_PTR);
    pthread_mutex_lock(&lock);
    m->parent = parent ? find(parent) : NULL;
    if (m->parent)
        m->parent->parts++;
    m->next = all;
    all = m;
    pthread_mutex_unlock(&lock);
    if (m->own_bytes && !(flags & CL_MEM_COPY_HOST_PTR))
        fill(m, 0xa5);
}

void lazy_memory_region(cl_mem mem, const cl_buffer_region *region)
{
    pthread_mutex_lock(&lock);
    struct memory *m = find(mem);
    if (m)
        m->region = *region;
    pthread_mutex_unlock(&lock);
}

/* NVIDIA's driver crashes where of two sub-buffers that overlap, and were both used, the older one goes first. */
static void look_at_order(const struct memory *m)
{
    const cl_buffer_region *a = &m->region;
    for (const struct memory *n = all; n != m; n = n->next) { /* the newest comes first */
        const cl_buffer_region *b = &n->region;
        if (n->parent == m->parent && n->refs && n->used && m->used && a->origin < b->origin + b->size &&
            b->origin < a->origin + a->size)
            lazy_report("a sub-buffer is let go before a newer one that overlaps it");
    }
}

void lazy_memory_retained(cl_mem mem)
{
    pthread_mutex_lock(&lock);
    struct memory *m = find(mem);
    if (m)
        m->refs++;
    pthread_mutex_unlock(&lock);
}

bool lazy_memory_released(cl_mem mem)
{
    pthread_mutex_lock(&lock);
    struct memory *m = find(mem);
    const bool last = m && m->refs == 1;
    if (last && m->parent)
        look_at_order(m);
    if (last)
        m->commands = lazy_commands_now(); /* first: without references the thread may take it at once */
    if (m && m->refs)
        m->refs--;
    pthread_mutex_unlock(&lock);
    return last;
}

void lazy_memory_used(cl_mem mem, const char *what)
{
    if (!lazy.poison || lazy_own_thread)
        return;
    pthread_mutex_lock(&lock);
    const struct memory *m = find(mem);
    if (m && !m->refs)
        lazy_report("%s is called with a memory object that has been released", what);
    pthread_mutex_unlock(&lock);
}

static struct sampler *find_sampler(cl_sampler handle)
{
    struct sampler *s = samplers;
    while (s && s->handle != handle)
        s = s->next;
    return s;
}

void lazy_sampler_made(cl_sampler handle)
{
    pthread_mutex_lock(&lock);
    struct sampler *s = lazy.poison ? find_sampler(handle) : NULL;
    if (lazy.poison && !s && (s = calloc(1, sizeof *s)) != NULL) {
        s->handle = handle;
        s->next = samplers;
        samplers = s;
    }
    if (s)
        s->refs = 1;
    pthread_mutex_unlock(&lock);
}

void lazy_sampler_refs(cl_sampler handle, int change)
{
    pthread_mutex_lock(&lock);
    struct sampler *s = find_sampler(handle);
    if (s)
        s->refs += (unsigned)change;
    pthread_mutex_unlock(&lock);
}

void lazy_memory_kernel_gone(cl_kernel kernel)
{
    pthread_mutex_lock(&lock);
    for (struct argument **at = &arguments; *at;) {
        struct argument *a = *at;
        if (a->kernel == kernel) {
            *at = a->next;
            free(a);
        } else {
            at = &a->next;
        }
    }
    pthread_mutex_unlock(&lock);
}

void lazy_memory_argument(cl_kernel kernel, cl_uint index, size_t bytes, const void *value)
{
    void *handle = NULL;
    if (!lazy.poison)
        return;
    if (value && bytes == sizeof handle)
        memcpy(&handle, value, sizeof handle);
    pthread_mutex_lock(&lock);
    struct argument *a = arguments;
    while (a && (a->kernel != kernel || a->index != index))
        a = a->next;
    if (!a && (a = calloc(1, sizeof *a)) != NULL) {
        *a = (struct argument){.next = arguments, .kernel = kernel, .index = index};
        arguments = a;
    }
    if (a) {
        a->memory = handle ? find(handle) : NULL;
        a->sampler = handle ? find_sampler(handle) : NULL;
    }
    pthread_mutex_unlock(&lock);
}

/* NVIDIA's driver moves an object that two devices use from one to the other, slowly, and has lost bytes. With the lock
 * held. */
static void use_on(struct memory *m, cl_command_queue queue, const char *what)
{
    cl_device_id device = NULL;
    if (m)
        m->used = true;
    if (!lazy.gpu)
        return;
    while (m && m->parent)
        m = m->parent;
    if (!m || lazy_below.clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL) != CL_SUCCESS)
        return;
    m->device = m->device ? m->device : device;
    if (m->device != device)
        lazy_report("%s uses a memory object on another device than the commands before", what);
}

void lazy_memory_on(cl_mem mem, cl_command_queue queue, const char *what)
{
    if (!lazy.poison || lazy_own_thread)
        return;
    pthread_mutex_lock(&lock);
    use_on(find(mem), queue, what);
    pthread_mutex_unlock(&lock);
}

void lazy_memory_launch(cl_kernel kernel, cl_command_queue queue)
{
    if (!lazy.poison)
        return;
    pthread_mutex_lock(&lock);
    for (const struct argument *a = arguments; a; a = a->next) {
        if (a->kernel == kernel && a->memory && !a->memory->refs)
            lazy_report("a kernel is launched whose argument %u is a memory object that has been released", a->index);
        if (a->kernel == kernel && a->sampler && !a->sampler->refs)
            lazy_report("a kernel is launched whose argument %u is a sampler that has been released", a->index);
        if (a->kernel == kernel)
            use_on(a->memory, queue, "clEnqueueNDRangeKernel");
    }
    pthread_mutex_unlock(&lock);
}

static struct memory *take_unused(void)
{
    for (struct memory **at = &all; *at; at = &(*at)->next) {
        struct memory *m = *at;
        if (m->refs || m->parts || !lazy_ended_up_to(m->commands))
            continue;
        *at = m->next;
        for (struct argument *a = arguments; a; a = a->next)
            if (a->memory == m)
                a->memory = NULL;
        if (m->parent)
            m->parent->parts--;
        return m;
    }
    return NULL;
}

void lazy_memory_look(void)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        struct memory *m = take_unused();
        pthread_mutex_unlock(&lock);
        if (!m)
            return;
        if (m->own_bytes)
            fill(m, 0x5a);
        lazy_below.clReleaseMemObject(m->mem);
        free(m);
    }
}
