/* SPDX-License-Identifier: MIT */
/* An application of one kernel, launched and waited for again and again: `paced ITERATIONS ITEMS`; with a third word,
 * which is the number of rounds, all launches are enqueued and then waited for once; with any fourth one each is waited
 * for. One without a launch ends with its input. PACED_BYTES: as long as that the program's text is to be, and longer;
 * then it prints a sum of what the launches leave. PACED_WAIT=
 * event, map or read: it waits by that, instead of by clFinish; late: it reads afterwards; a number: after each so many
 * launches it does so. PACED_OTHER=turn: another kernel is launched behind each launch; after: behind all of them. */
#include "plain.h"

enum { MOST = 1 << 20 };

static const char source[] = "__kernel void advance(__global const uint *in, __global uint *out)\n"
                             "{ uint i = get_global_id(0); out[i] = in[i] * 3u; }\n"
                             "__kernel void churn(__global const uint *in, __global uint *out, uint rounds)\n"
                             "{ uint i = get_global_id(0), x = in[i];\n"
                             "  for (uint r = 0; r < rounds; r++) x = (x ^ (x >> 15)) * 2654435761u + r;\n"
                             "  out[i] = x; }\n";

static uint32_t host[MOST];

static void launch_and_wait(cl_kernel k, size_t items, cl_mem out, long i)
{
    const char *how = getenv("PACED_WAIT");
    const long each = how ? strtol(how, NULL, 10) : 0;
    const bool by_event = how && *how == 'e', by_map = how && *how == 'm', late = how && *how == 'l',
               reads = late || (how && *how == 'r') || (each && i % each == each - 1);
    cl_event event = NULL;
    void *ptr;
    launch(queue, k, items, 64, 0, NULL, by_event ? &event : NULL);
    if (by_event)
        CL(clWaitForEvents(1, &event));
    else if (by_map)
        ptr = map_now(out, CL_MAP_READ, 0, 4);
    if (by_map)
        unmap(out, ptr);
    if (!how || late || each)
        CL(clFinish(queue));
    if (reads)
        CL(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, items * 4, host, 0, NULL, NULL));
    if (by_event)
        CL(clReleaseEvent(event));
}

static char *lengthened(const char *text)
{
    const char *wanted = getenv("PACED_BYTES"), line[] = "/* and so on and so forth */\n";
    const size_t bytes = wanted ? strtoul(wanted, NULL, 10) : 0;
    char *all = malloc(strlen(text) + bytes + sizeof line), *at = all;
    if (!all)
        exit(1);
    at = stpcpy(at, text);
    while ((size_t)(at - all) < bytes)
        at = stpcpy(at, line);
    return all;
}

int main(int argc, char **argv)
{
    const long iterations = argc > 1 ? strtol(argv[1], NULL, 10) : 1, wanted = argc > 2 ? strtol(argv[2], NULL, 10) : 1;
    const size_t items = wanted > 0 && wanted <= MOST ? (size_t)wanted : 1;
    const bool rounds = argc > 3, once = argc == 4;
    uint32_t sum = 0;
    start(0);
    char *text = lengthened(source);
    cl_program p = build(text, "");
    cl_kernel k = kernel_of(p, rounds ? "churn" : "advance");
    cl_mem in = buffer(CL_MEM_READ_ONLY, items * 4, NULL), out = buffer(CL_MEM_READ_WRITE, items * 4, NULL);
    SET(k, in, out);
    const char *turn = getenv("PACED_OTHER");
    cl_kernel other = kernel_of(p, "churn");
    SET(other, in, out);
    set_uint(other, 2, 1);
    if (rounds)
        set_uint(k, 2, (cl_uint)strtoul(argv[3], NULL, 10));
    for (uint32_t i = 0; i < items; i++)
        host[i] = i * 2654435761u;
    CL(clEnqueueWriteBuffer(queue, in, CL_TRUE, 0, items * 4, host, 0, NULL, NULL));
    for (long i = 0; i < iterations; i++) {
        if (once)
            launch(queue, k, items, 64, 0, NULL, NULL);
        else
            launch_and_wait(k, items, out, i);
        if (turn && *turn == 't')
            launch_and_wait(other, items, out, i);
    }
    for (long i = 0; i < iterations && turn && *turn == 'a'; i++)
        launch_and_wait(other, items, out, i);
    if (once)
        CL(clFinish(queue));
    while (!iterations && getchar() != EOF)
        ;
    CL(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, items * 4, host, 0, NULL, NULL));
    for (size_t i = 0; i < items; i++)
        sum = sum * 31 + host[i];
    if (getenv("PACED_BYTES"))
        printf("%08x\n", (unsigned)sum);
    RELEASE(in, out, k, other, p);
    free(text);
    return finish();
}
