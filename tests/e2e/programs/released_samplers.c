/* SPDX-License-Identifier: MIT */
/* Launches that read an image through a sampler, each of which the application releases, with the image and the kernel,
 * as soon as it has enqueued the launch: they are to live until that has ended. "released_samplers kept" releases the
 * samplers at its end, for a driver that lets go of one in spite of the launch (PoCL 6.0). */
#include "released_samplers.h"

enum { LAUNCHES = 4 };

int main(int argc, char **argv)
{
    const bool kept = argc > 1 && strcmp(argv[1], "kept") == 0;
    cl_mem out[LAUNCHES];
    cl_sampler how[LAUNCHES];
    start(0);
    cl_program p = build(sampled_source, "");
    for (int i = 0; i < LAUNCHES; i++) {
        cl_mem in = picture((uint32_t)i);
        how[i] = sampler(i % 2 == 0);
        out[i] = buffer(CL_MEM_READ_WRITE, W * H * sizeof(uint32_t), NULL);
        cl_kernel k = kernel_of(p, "sampled");
        set_mem(k, 0, in);
        CL(clSetKernelArg(k, 1, sizeof how[i], &how[i]));
        set_mem(k, 2, out[i]);
        launch_sampled(k);
        if (!kept)
            CL(clReleaseSampler(how[i]));
        RELEASE(in, k);
    }
    for (int i = 0; i < LAUNCHES; i++) {
        show_buffer("sampled", queue, out[i], 0, W * H * sizeof(uint32_t));
        CL(clReleaseMemObject(out[i]));
        if (kept)
            CL(clReleaseSampler(how[i]));
    }
    return FINISH(p);
}
