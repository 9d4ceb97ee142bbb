/* SPDX-License-Identifier: MIT */
/* An application that doesn't look at its events: after a launch whose work fails while it runs it reads, writes, and
 * reads again. What the launch should have written is an error until it is written anew; what it left alone isn't. A
 * kernel that writes the inner part of it, and reads nothing, is launched meanwhile. `soon`: it reads while the launch
 * runs. `slow`: the launch takes long, and as soon as it has failed the application writes and launches. `waits`: it
 * waits for it instead, and says whether that took as long as a part does. */
#include "plain.h"

enum { ROW = 200, N = ROW * ROW };

static const char source[] = "__kernel void put(__global uint *v, uint x) { v[get_global_id(0)] = x; }\n"
                             "__kernel void linger(__global uint *v, uint x)\n"
                             "{ uint i = get_global_id(0), y = x;\n"
                             "  for (uint k = 0; k < 100000; k++) y = y * 1664525u + 1013904223u;\n"
                             "  v[i] = y ? x : y; }\n"
                             "__kernel void add(__global uint *v, uint x) { v[get_global_id(0)] += x; }\n"
                             "__kernel void inside(__global uint *v, int row)\n"
                             "{ int x = get_global_id(0), y = get_global_id(1);\n"
                             "  if (x >= 1 && x < row - 1 && y >= 1 && y < row - 1) v[y * row + x] = x; }\n";

static uint32_t host[N], got[N];

static void read_it(const char *when, cl_mem m)
{
    size_t wrong = 0;
    memset(got, 0xa5, sizeof got);
    const cl_int err = clEnqueueReadBuffer(queue, m, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL);
    for (size_t i = 0; i < N && !err; i++)
        wrong += got[i] != host[i];
    printf("%s: error %d, %zu words wrong\n", when, err, wrong);
}

/* The rest of the object's bytes are spoiled, and stay so. */
static void write_inside(cl_program p, cl_mem m)
{
    static const size_t all[2] = {ROW, ROW}, local[2] = {ROW, 1};
    cl_kernel k = kernel_of(p, "inside");
    size_t wrong = 0;
    SET(k, m, (cl_int)ROW);
    const cl_int err = clEnqueueNDRangeKernel(queue, k, 2, NULL, all, local, 0, NULL, NULL);
    const cl_int read = clEnqueueReadBuffer(queue, m, CL_TRUE, (ROW * ROW / 2 + 1) * sizeof *got,
                                            (ROW - 2) * sizeof *got, got, 0, NULL, NULL);
    for (uint32_t i = 0; i < ROW - 2; i++)
        wrong += got[i] != i + 1;
    printf("written inside: error %d, a row: error %d, %zu words wrong\n", err, read, wrong);
    CL(clReleaseKernel(k));
}

/* One part of the launch still runs when the other has failed: what is written now isn't overwritten by it. By units of
 * four work-groups one part has four of them, and the other five. */
static void go_on(cl_program p, cl_mem m, bool waits)
{
    enum { ITEMS = 3300, LOCAL = 100, PART_MS = 10 };
    cl_kernel linger = kernel_of(p, "linger"), add = kernel_of(p, "add");
    cl_event e;
    SET(add, m, 1);
    launch(queue, add, ITEMS, LOCAL, 0, NULL, NULL); /* from now on there is a unit of each device at once */
    CL(clFinish(queue));
    SET(linger, m, 5);
    const double begin = seconds();
    launch(queue, linger, ITEMS, LOCAL, 0, NULL, &e);
    CL(clFlush(queue));
    const cl_int err = waits ? clWaitForEvents(1, &e) : CL_SUCCESS;
    while (status_of(e) > CL_COMPLETE)
        ;
    printf("the launch: error %d, status %d\n", err, status_of(e));
    if (waits)
        printf("%s\n", (seconds() - begin) * 1e3 > (double)PART_MS ? "waited" : "has not waited");
    CL(clReleaseEvent(e));
    CL(clEnqueueWriteBuffer(queue, m, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL));
    launch(queue, add, N, LOCAL, 0, NULL, NULL);
    for (size_t i = 0; i < N; i++)
        host[i] += 1;
    read_it("added to what was written", m);
    RELEASE(linger, add, m, p);
    finish();
}

int main(int argc, char **argv)
{
    start(0);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "put");
    fill_words(host, N, 3);
    cl_mem spoiled = buffer(CL_MEM_READ_WRITE, sizeof host, NULL), other = buffer(CL_MEM_READ_WRITE, sizeof host, NULL);
    CL(clEnqueueWriteBuffer(queue, spoiled, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL));
    CL(clEnqueueWriteBuffer(queue, other, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL));
    if (argc > 1 && strcmp(argv[1], "soon") != 0) {
        CL(clReleaseMemObject(other));
        go_on(p, spoiled, strcmp(argv[1], "waits") == 0);
        return 0;
    }
    SET(k, spoiled, 7);
    launch(queue, k, N, 64, 0, NULL, NULL);
    if (argc < 2)
        clFinish(queue);
    for (size_t i = 0; i < N; i++)
        host[i] = 7;
    read_it("what it wrote", spoiled);
    fill_words(host, N, 3);
    read_it("another buffer", other);
    write_inside(p, spoiled);
    fill_words(host, N, 9);
    CL(clEnqueueWriteBuffer(queue, spoiled, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL));
    read_it("written anew", spoiled);
    return FINISH(spoiled, other);
}
