/* SPDX-License-Identifier: MIT */
/* wait_at_exit ROWS: so many times a few short launches and a wait for them; then one launch more, which comes after a
 * long one in another queue, and main returns: a handler of exit() that was registered before OpenCL was used waits for
 * it.
 */
#include "plain.h"

enum { ITEMS = 2048, LONG_ITEMS = 16384 };

static const char source[] =
    "__kernel void add(__global uint *v) { v[get_global_id(0)] += get_global_id(0); }\n"
    "__kernel void lasting(__global uint *v, uint k)\n"
    "{ uint i = get_global_id(0), x = i; for (uint n = 0; n < k; n++) x = x * 1664525u + n; v[i] = x; }\n";

static void wait_for_it(void)
{
    CL(clFinish(queue));
    puts("it has ended");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    cl_event e;
    const long rows = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    if (atexit(wait_for_it) != 0)
        return 1;
    start(0);
    cl_command_queue other = new_queue(0);
    cl_program p = build(source, "");
    cl_kernel add = kernel_of(p, "add"), lasting = kernel_of(p, "lasting");
    cl_mem m = buffer(CL_MEM_READ_WRITE, ITEMS * 4, NULL), all = buffer(CL_MEM_READ_WRITE, LONG_ITEMS * 4, NULL);
    set_mem(add, 0, m);
    SET(lasting, all, 1);
    launch(other, lasting, LONG_ITEMS / 2, 64, 0, NULL, NULL); /* nothing is compiled in the end */
    CL(clFinish(other));
    set_uint(lasting, 1, 30000);
    for (long n = 0; n < rows; n++) {
        for (int i = 0; i < 3; i++)
            launch(queue, add, ITEMS, 64, 0, NULL, NULL);
        CL(clFinish(queue));
    }
    launch(other, lasting, LONG_ITEMS, 64, 0, NULL, &e);
    CL(clFlush(other));
    launch(queue, add, ITEMS, 64, 1, &e, NULL);
    CL(clFlush(queue));
    return 0;
}
