/* SPDX-License-Identifier: MIT */
/* USE_HOST_PTR, COPY_HOST_PTR and ALLOC_HOST_PTR, and mapping with every flag. */
#include "plain.h"

enum { N = 1 << 14, BYTES = N * 4 };

static const char source[] = "__kernel void bump(__global uint *v, uint k)\n"
                             "{ uint i = get_global_id(0); v[i] = v[i] * 7u + k + (uint)get_group_id(0); }\n";

static uint32_t copied[N];

static uint32_t *map_words(cl_mem m, cl_map_flags flags, size_t first, size_t words, cl_bool blocking, cl_event *e)
{
    cl_int err;
    uint32_t *v;
    MADE(v, clEnqueueMapBuffer(queue, m, blocking, flags, first * 4, words * 4, 0, NULL, e, &err));
    return v;
}

static void exercise(const char *name, cl_kernel k, cl_mem m)
{
    cl_event mapped;
    printf("%s\n", name);
    set_mem(k, 0, m);
    uint32_t *v = map_words(m, CL_MAP_WRITE_INVALIDATE_REGION, 0, N, CL_TRUE, NULL);
    fill_words(v, N, 11);
    unmap(m, v);
    set_uint(k, 1, 1);
    launch(queue, k, N, 64, 0, NULL, NULL);
    v = map_words(m, CL_MAP_READ, 0, N, CL_TRUE, NULL);
    show("read", v, BYTES);
    unmap(m, v);
    launch(queue, k, N, 64, 0, NULL, NULL);
    /* A part in the middle of what lies on the other devices, written over in part. */
    v = map_words(m, CL_MAP_WRITE, N / 2 - 300, 1000, CL_TRUE, NULL);
    for (int i = 0; i < 500; i++)
        v[i * 2] += 5;
    unmap(m, v);
    launch(queue, k, N, 64, 0, NULL, NULL);
    v = map_words(m, CL_MAP_READ | CL_MAP_WRITE, 1000, N - 2000, CL_FALSE, &mapped);
    wait_for(mapped);
    show("read and write", v, BYTES - 8000);
    for (int i = 0; i < 3000; i++)
        v[i * 4] ^= 0x5555;
    unmap(m, v);
    v = map_words(m, CL_MAP_WRITE_INVALIDATE_REGION, N / 2, 512, CL_TRUE, NULL);
    memset(v, 0x3c, 2048);
    unmap(m, v);
    launch(queue, k, N, 64, 0, NULL, NULL);
    /* Read while it is mapped for reading. */
    v = map_words(m, CL_MAP_READ, 0, N, CL_TRUE, NULL);
    show_buffer("beside a map", queue, m, 0, BYTES);
    unmap(m, v);
    show_buffer("end", queue, m, 0, BYTES);
}

static void tell(const char *name, cl_mem m, cl_uint expected, cl_event e)
{
    cl_uint maps = 99;
    cl_command_type type = 0;
    CL(clGetMemObjectInfo(m, CL_MEM_MAP_COUNT, sizeof maps, &maps, NULL));
    /* PoCL (3.1) counts a map for a little longer than the unmapping takes by its event. */
    for (int i = 0; i < 1000 && maps != expected; i++) {
        usleep(1000);
        CL(clGetMemObjectInfo(m, CL_MEM_MAP_COUNT, sizeof maps, &maps, NULL));
    }
    if (e) {
        CL(clGetEventInfo(e, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
        CL(clReleaseEvent(e));
    }
    printf("%s: %u maps, command %x\n", name, maps, type);
}

/* Several maps at a time, of the whole and of a part; their events, behind one of the user's; and what is refused. */
static void together(const char *name, cl_kernel k, cl_mem m)
{
    cl_int err;
    cl_event gate, e[3];
    printf("%s, together\n", name);
    cl_mem part = sub_buffer(m, 0, BYTES / 2, BYTES / 2);
    set_mem(k, 0, m);
    launch(queue, k, N, 64, 0, NULL, NULL);
    uint32_t *a = map_words(m, CL_MAP_READ, 0, N, CL_TRUE, &e[0]),
             *b = map_words(m, CL_MAP_READ, 0, N / 2, CL_TRUE, &e[1]);
    for (int i = 0; i < 2; i++)
        tell("mapped", m, 2, e[i]);
    uint32_t *c = map_words(part, CL_MAP_READ, 4, N / 2 - 4, CL_FALSE, &e[2]);
    wait_for(e[2]);
    printf("one place: %d %d\n", a == b, c == a + N / 2 + 4);
    show("all", a, BYTES);
    show("part", c, BYTES / 2 - 16);
    CL(clEnqueueUnmapMemObject(queue, m, b, 0, NULL, &e[0]));
    CL(clEnqueueUnmapMemObject(queue, part, c, 0, NULL, &e[1]));
    unmap(m, a);
    CL(clFinish(queue));
    tell("unmapped", m, 0, e[0]);
    tell("unmapped", part, 0, e[1]);
    /* What is behind the gate is there once it is open. */
    launch(queue, k, N, 64, 0, NULL, NULL);
    gate = new_user_event();
    MADE(c, clEnqueueMapBuffer(queue, part, CL_FALSE, CL_MAP_READ | CL_MAP_WRITE, 0, BYTES / 2, 1, &gate, &e[0], &err));
    CL(clFlush(queue));
    CL(clSetUserEventStatus(gate, CL_COMPLETE));
    wait_for(e[0]);
    for (int i = 0; i < N / 2; i += 3)
        c[i] += (uint32_t)i;
    MADE(gate, (clReleaseEvent(gate), clCreateUserEvent(context, &err)));
    CL(clEnqueueUnmapMemObject(queue, part, c, 1, &gate, &e[0]));
    CL(clFlush(queue));
    CL(clSetUserEventStatus(gate, CL_COMPLETE));
    launch(queue, k, N, 64, 0, NULL, NULL);
    CL(clWaitForEvents(1, &e[0]));
    tell("behind a gate", part, 0, e[0]);
    show_buffer("end", queue, m, 0, BYTES);
    clEnqueueMapBuffer(queue, m, CL_TRUE, CL_MAP_READ, 8, BYTES, 0, NULL, NULL, &err);
    printf("beyond the end: %d\n", err);
    clEnqueueMapBuffer(queue, m, CL_TRUE, CL_MAP_WRITE, 0, BYTES, 1, NULL, NULL, &err);
    printf("a list of nothing: %d\n", err);
    printf("never mapped: %d\n", clEnqueueUnmapMemObject(queue, m, copied, 0, NULL, NULL));
    tell("at last", m, 0, NULL);
    RELEASE(gate, part);
}

int main(void)
{
    uint32_t *used = aligned_alloc(4096, BYTES);
    start(0);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "bump");
    fill_words(copied, N, 21);
    fill_words(used, N, 22);
    cl_mem alloc = buffer(CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, BYTES, NULL), copy = buffer_of(copied, BYTES),
           both = buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR | CL_MEM_ALLOC_HOST_PTR, BYTES, copied),
           use = buffer(CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, BYTES, used), none = buffer(0, BYTES, NULL);
    memset(copied, 0, sizeof copied);
    /* What they begin with. */
    show_buffer("copy", queue, copy, 0, BYTES);
    SET(k, both, 4);
    launch(queue, k, N, 64, 0, NULL, NULL);
    show_buffer("both", queue, both, 0, BYTES);
    void *host = NULL;
    CL(clGetMemObjectInfo(use, CL_MEM_HOST_PTR, sizeof host, &host, NULL));
    printf("host pointer %d\n", host == used);
    set_mem(k, 0, use);
    launch(queue, k, N, 64, 0, NULL, NULL);
    uint32_t *v = map_words(use, CL_MAP_READ, 0, N, CL_TRUE, NULL);
    printf("mapped at the host pointer: %d\n", v == used);
    show("use", used, BYTES);
    unmap(use, v);
    exercise("alloc", k, alloc);
    exercise("copy", k, copy);
    exercise("use", k, use);
    exercise("none", k, none);
    together("use", k, use);
    together("none", k, none);
    /* The host pointer's memory is the application's once a map has brought it up to date. */
    v = map_words(use, CL_MAP_READ, 0, N, CL_TRUE, NULL);
    unmap(use, v);
    CL(clFinish(queue));
    CL(clReleaseMemObject(use));
    show("after its buffer", used, BYTES);
    RELEASE(alloc, copy, both, none, k, p);
    free(used);
    return finish();
}
