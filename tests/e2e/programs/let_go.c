/* SPDX-License-Identifier: MIT */
/* let_go WAY [PID]: memory that goes as soon as it may, beside launches.
 *   again      as much as there is, let go of after clFinish, and made anew: how often was there no room?
 *   called     the destructor callbacks of objects that no command uses, though the process ends right after clFinish
 *   parts      overlapping sub-buffers of launches that nobody waits for
 *   unmapped   a mapped object goes right after its unmap, behind a launch; the process PID is killed before */
#include "plain.h"

#include <signal.h>

enum { ITEMS = 1 << 14, ROUNDS = 40, LARGE = 4 << 20 };

static const char *const source = "kernel void slow(global uint *o, uint n)\n"
                                  "{\n"
                                  "    uint x = get_global_id(0);\n"
                                  "    for (uint k = 0; k < n; k++)\n"
                                  "        x = x * 3u + 1u;\n"
                                  "    o[get_global_id(0)] = x;\n"
                                  "}\n"
                                  "kernel void add(constant uint *c, global uint *o)\n"
                                  "{\n"
                                  "    o[get_global_id(0)] += c[get_global_id(0) % 64];\n"
                                  "}\n";

static void again(cl_kernel slow, cl_mem o)
{
    unsigned refused = 0;
    for (unsigned r = 0; r < ROUNDS; r++) {
        cl_mem a = clCreateBuffer(context, CL_MEM_READ_WRITE, LARGE, NULL, NULL);
        cl_mem b = clCreateBuffer(context, CL_MEM_READ_WRITE, LARGE, NULL, NULL), c = buffer(0, 4096, NULL);
        refused += !a || !b;
        SET(slow, o, 300);
        launch(queue, slow, ITEMS, 64, 0, NULL, NULL);
        RELEASE(c);
        CL(clFinish(queue));
        if (a)
            RELEASE(a);
        if (b)
            RELEASE(b);
    }
    printf("no room in %u rounds\n", refused);
}

static void CL_CALLBACK gone(cl_mem m, void *word)
{
    (void)m;
    (void)!write(1, word, strlen(word));
}

static void called(cl_kernel slow, cl_mem o)
{
    for (unsigned r = 0; r < 8; r++) {
        cl_mem unused = buffer(0, 4096, NULL);
        CL(clSetMemObjectDestructorCallback(unused, gone, "gone\n"));
        SET(slow, o, 300);
        launch(queue, slow, ITEMS, 64, 0, NULL, NULL);
        RELEASE(unused);
    }
    CL(clFinish(queue));
}

static void parts(cl_kernel add, cl_mem o)
{
    static uint32_t host[ITEMS];
    fill_words(host, ITEMS, 3);
    cl_mem all = buffer_of(host, sizeof host), part = sub_buffer(all, 0, 4096, 1024);
    CL(clEnqueueWriteBuffer(queue, o, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL));
    for (unsigned r = 0; r < ROUNDS; r++) {
        SET(add, part, o);
        launch(queue, add, ITEMS, 64, 0, NULL, NULL);
    }
    show_buffer("o", queue, o, 0, sizeof host);
    RELEASE(part, all);
}

static void unmapped(cl_kernel slow, cl_mem o, pid_t killed)
{
    cl_int err;
    void *mapped;
    cl_mem m = buffer(CL_MEM_READ_WRITE, 2 * LARGE, NULL), copy = buffer(CL_MEM_READ_WRITE, 2 * LARGE, NULL);
    MADE(mapped,
         clEnqueueMapBuffer(queue, m, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0, 2 * LARGE, 0, NULL, NULL, &err));
    fill_words(mapped, 2 * LARGE / 4, 7);
    if (killed)
        kill(killed, SIGKILL);
    sleep_ms(100); /* until it is known */
    SET(slow, o, 30000);
    launch(queue, slow, ITEMS, 64, 0, NULL, NULL);
    CL(clFlush(queue));
    CL(clEnqueueUnmapMemObject(queue, m, mapped, 0, NULL, NULL));
    CL(clEnqueueCopyBuffer(queue, m, copy, 0, 0, 2 * LARGE, 0, NULL, NULL));
    CL(clFlush(queue));
    RELEASE(m);
    CL(clFinish(queue));
    show_buffer("copy", queue, copy, 0, 2 * LARGE);
    RELEASE(copy);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    start(0);
    cl_program program = build(source, "");
    cl_kernel slow = kernel_of(program, "slow"), add = kernel_of(program, "add");
    cl_mem o = buffer(CL_MEM_READ_WRITE, ITEMS * 4, NULL);
    if (strcmp(argv[1], "again") == 0)
        again(slow, o);
    else if (strcmp(argv[1], "called") == 0)
        called(slow, o);
    else if (strcmp(argv[1], "parts") == 0)
        parts(add, o);
    else
        unmapped(slow, o, argc > 2 ? atoi(argv[2]) : 0);
    return FINISH(o, slow, add, program);
}
