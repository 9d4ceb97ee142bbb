/* SPDX-License-Identifier: MIT */
/* daemon_killed PID launch|finish: kills the process PID, its daemon (0: nobody), behind a long launch of which no
 * event is wanted. What comes next in the queue, another launch or clFinish, comes after all of it. */
#include <signal.h>

#include "plain.h"

enum { N = 40 * 64, LOCAL = 64, BYTES = N * 4 };

static const char source[] = "__kernel void work(__global uint *v, uint depth)\n"
                             "{ uint x = v[get_global_id(0)];\n"
                             "  for (uint k = 0; k < depth; k++) x = x * 1664525u + 1013904223u;\n"
                             "  v[get_global_id(0)] = x; }\n"
                             "__kernel void flip(__global uint *v) { v[get_global_id(0)] ^= 0x5a5a5a5au; }\n";

int main(int argc, char **argv)
{
    static uint32_t host[N] __attribute__((aligned(4096)));
    const pid_t daemon = argc > 1 ? atoi(argv[1]) : 0;
    start(0);
    cl_program p = build(source, "");
    cl_kernel work = kernel_of(p, "work"), flip = kernel_of(p, "flip");
    fill_words(host, N, 11);
    cl_mem a = buffer(CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, BYTES, host);
    SET(work, a, 1);
    set_mem(flip, 0, a);
    launch(queue, flip, N, LOCAL, 0, NULL, NULL);
    launch(queue, work, N, LOCAL, 0, NULL, NULL); /* both have been compiled */
    CL(clFinish(queue));
    set_uint(work, 1, 400000);
    launch(queue, work, N, LOCAL, 0, NULL, NULL);
    if (daemon > 0)
        kill(daemon, SIGKILL);
    usleep(30 * 1000); /* until it is known */
    if (argc > 2 && !strcmp(argv[2], "launch"))
        launch(queue, flip, N, LOCAL, 0, NULL, NULL);
    CL(clFinish(queue));
    show("all of it", host, BYTES); /* PoCL works there; a command would wait for its turn on the device */
    return FINISH(work, flip, p, a);
}
