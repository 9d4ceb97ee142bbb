/* SPDX-License-Identifier: MIT */
/* Rows of short launches of two sizes in turn, `job_rows ROWS LAUNCHES [TIMES | events]`: each writes 8 KiB, launches,
 * waits and reads, which waits as well. TIMES: all that so many times; it says so after each on standard output, and
 * waits for a line of standard input before the next. events: nothing waits but for an event of the read. */
#include "plain.h"

enum { LOCAL = 64, ITEMS = 2048, BYTES = ITEMS * 4 };

static const char source[] = "__kernel void advance(__global uint *v, uint k)\n"
                             "{ uint i = get_global_id(0); v[i] = v[i] * 3u + k; }\n";

static void row(cl_kernel k, cl_mem m, uint32_t *v, long launches, bool by_event)
{
    cl_event end;
    CL(clEnqueueWriteBuffer(queue, m, CL_FALSE, 0, BYTES, v, 0, NULL, NULL));
    for (long i = 0; i < launches; i++) {
        set_uint(k, 1, (cl_uint)i);
        launch(queue, k, i % 2 ? ITEMS / 2 : ITEMS, LOCAL, 0, NULL, NULL);
    }
    if (!by_event) {
        CL(clFinish(queue));
        CL(clEnqueueReadBuffer(queue, m, CL_TRUE, 0, BYTES, v, 0, NULL, NULL));
        return;
    }
    CL(clEnqueueReadBuffer(queue, m, CL_FALSE, 0, BYTES, v, 0, NULL, &end));
    wait_for(end);
}

int main(int argc, char **argv)
{
    uint32_t v[ITEMS] = {1};
    char line[64];
    const long rows = argc > 2 ? strtol(argv[1], NULL, 10) : 1, launches = argc > 2 ? strtol(argv[2], NULL, 10) : 1;
    const bool by_event = argc > 3 && strcmp(argv[3], "events") == 0;
    start(0);
    cl_program p = build(source, "");
    cl_kernel k = kernel_of(p, "advance");
    cl_mem m = buffer(CL_MEM_READ_WRITE, BYTES, NULL);
    set_mem(k, 0, m);
    for (long times = argc > 3 && !by_event ? strtol(argv[3], NULL, 10) : 1; times > 0; times--) {
        for (long n = 0; n < rows; n++)
            row(k, m, v, launches, by_event);
        if (times == 1)
            break;
        puts("waits");
        fflush(stdout);
        if (!fgets(line, sizeof line, stdin))
            return 1;
    }
    printf("%u %u\n", v[0], v[ITEMS - 1]);
    return FINISH(m, k, p);
}
