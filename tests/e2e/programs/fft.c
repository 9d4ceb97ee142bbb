/* SPDX-License-Identifier: MIT */
/* A program linked with clFFT, which writes its kernels itself: transforms of one and two dimensions, in batches. */
#include "plain.h"

#include <clFFT.h>

enum { BATCH = 4 };

static void transform(const char *name, clfftDim dim, size_t x, size_t y, clfftDirection direction)
{
    const size_t lengths[2] = {x, y}, words = x * y * BATCH * 2;
    float *host = malloc(words * sizeof *host);
    clfftPlanHandle plan;
    for (size_t i = 0; i < words; i++)
        host[i] = (float)(scramble((uint32_t)i) % 1000) / 37.0f;
    cl_mem m = buffer_of(host, words * sizeof *host);
    CL((cl_int)clfftCreateDefaultPlan(&plan, context, dim, lengths));
    CL((cl_int)clfftSetPlanPrecision(plan, CLFFT_SINGLE));
    CL((cl_int)clfftSetLayout(plan, CLFFT_COMPLEX_INTERLEAVED, CLFFT_COMPLEX_INTERLEAVED));
    CL((cl_int)clfftSetResultLocation(plan, CLFFT_INPLACE));
    CL((cl_int)clfftSetPlanBatchSize(plan, BATCH));
    CL((cl_int)clfftBakePlan(plan, 1, &queue, NULL, NULL));
    CL((cl_int)clfftEnqueueTransform(plan, direction, 1, &queue, 0, NULL, NULL, &m, NULL, NULL));
    CL(clFinish(queue));
    show_buffer(name, queue, m, 0, words * sizeof *host);
    CL((cl_int)clfftDestroyPlan(&plan));
    CL(clReleaseMemObject(m));
    free(host);
}

int main(void)
{
    clfftSetupData setup;
    start(0);
    CL((cl_int)clfftInitSetupData(&setup));
    CL((cl_int)clfftSetup(&setup));
    transform("forward", CLFFT_1D, 4096, 1, CLFFT_FORWARD);
    transform("backward", CLFFT_1D, 1000, 1, CLFFT_BACKWARD);
    transform("plane", CLFFT_2D, 256, 128, CLFFT_FORWARD);
    CL((cl_int)clfftTeardown());
    return finish();
}
