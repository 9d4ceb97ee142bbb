/* SPDX-License-Identifier: MIT */
/* Launches that read an image through a sampler, behind one that takes long: meanwhile the application releases the
 * sampler, and makes others of another kind. "replaced_samplers kept" releases it at its end: what it prints then is
 * right also over a driver that lets go of a sampler which launches have yet to use (PoCL). "resampled early": once it
 * is an argument. */
#include "released_samplers.h"

enum { LAUNCHES = 3, OTHERS = 40, ROUNDS = 1000 };

static const char slow_source[] =
    "__kernel void slow(__global uint *v, uint rounds)\n"
    "{ uint i = get_global_id(0), x = v[i]; for (uint k = 0; k < rounds; k++) x = x * 1664525u + k; v[i] = x; }\n";

int main(int argc, char **argv)
{
    const bool kept = argc > 1 && strcmp(argv[1], "kept") == 0, early = argc > 1 && strcmp(argv[1], "early") == 0;
    cl_sampler others[OTHERS];
    start(0);
    cl_program p = build(sampled_source, ""), p_slow = build(slow_source, "");
    cl_kernel slow = kernel_of(p_slow, "slow"), k = kernel_of(p, "sampled");
    cl_mem in = picture(1), out = buffer(CL_MEM_READ_WRITE, W * H * sizeof(uint32_t), NULL);
    SET(slow, out, ROUNDS);
    set_mem(k, 0, in);
    set_mem(k, 2, out);
    for (int i = 0; i < LAUNCHES; i++) {
        cl_sampler how = sampler(i % 2 == 0);
        CL(clSetKernelArg(k, 1, sizeof how, &how));
        launch(queue, slow, W * H, 64, 0, NULL, NULL);
        if (early)
            CL(clReleaseSampler(how));
        launch_sampled(k);
        if (!kept && !early)
            CL(clReleaseSampler(how));
        for (int j = 0; j < OTHERS; j++)
            others[j] = sampler(i % 2);
        show_buffer("sampled", queue, out, 0, W * H * sizeof(uint32_t));
        RELEASE_ALL(others);
        if (kept)
            CL(clReleaseSampler(how));
    }
    return FINISH(in, out, slow, k, p_slow, p);
}
