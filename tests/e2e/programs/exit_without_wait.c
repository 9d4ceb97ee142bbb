/* SPDX-License-Identifier: MIT */
/* exit_without_wait NUMBER: launches an empty kernel of its own, which nobody has compiled before, and ends without a
 * wait. */
#include "plain.h"

int main(int argc, char **argv)
{
    char text[128], name[32];
    start(0);
    snprintf(name, sizeof name, "nothing_%.20s", argc > 1 ? argv[1] : "0");
    snprintf(text, sizeof text, "__kernel void %s(__global uint *v) { }", name);
    cl_kernel k = kernel_of(build(text, ""), name);
    set_mem(k, 0, buffer(CL_MEM_READ_WRITE, 4096, NULL));
    launch(queue, k, 64, 64, 0, NULL, NULL);
    CL(clFlush(queue));
    puts("done");
    return 0;
}
