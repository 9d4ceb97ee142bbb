/* SPDX-License-Identifier: MIT */
/* Work-items write different values to the same words. Any of them will do, but it must be the same for all who look.
 */
#include "plain.h"

static const char source[] = "__kernel void race(__global uint *v, __global const uint *at)\n"
                             "{ uint i = get_global_id(0); v[at[i] / 64u] = i; }\n"
                             "__kernel void look(__global uint *out, __global const uint *v, uint n)\n"
                             "{ uint i = get_global_id(0); out[i] = v[i % n]; }\n";

int main(void)
{
    enum { WORDS = 4096, LOOKS = 6 * WORDS };
    static uint32_t v[WORDS], at[WORDS * 8], out[LOOKS];
    for (uint32_t i = 0; i < WORDS * 8; i++)
        at[i] = scramble(i) % (WORDS * 64);
    start(0);
    cl_program p = build(source, "");
    cl_mem b = buffer_of(v, sizeof v), places = buffer(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof at, at),
           seen = buffer(CL_MEM_WRITE_ONLY, sizeof out, NULL);
    cl_kernel race = kernel_of(p, "race"), look = kernel_of(p, "look");
    SET(race, b, places);
    SET(look, seen, b, WORDS);
    for (int i = 0; i < 4; i++) {
        unsigned unlike = 0;
        launch(queue, race, WORDS * 8, 64, 0, NULL, NULL);
        launch(queue, look, LOOKS, 64, 0, NULL, NULL);
        CL(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, sizeof v, v, 0, NULL, NULL));
        CL(clEnqueueReadBuffer(queue, seen, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
        for (uint32_t k = 0; k < LOOKS; k++)
            unlike += out[k] != v[k % WORDS];
        printf("race: %u words look different\n", unlike);
    }
    return FINISH(race, look, b, places, seen, p);
}
