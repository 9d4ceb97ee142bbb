/* SPDX-License-Identifier: MIT */
/* Many small reads behind a large one, none of which blocks. */
#include "plain.h"

enum { LARGE = 32 << 20, READS = 200, SMALL = 4096, ROUNDS = 3 };

static unsigned char host[LARGE], got[LARGE], small[READS][SMALL];

int main(void)
{
    start(0);
    fill_words((uint32_t *)host, LARGE / 4, 5);
    cl_mem large = buffer(CL_MEM_READ_WRITE, LARGE, NULL), other = buffer(CL_MEM_READ_WRITE, sizeof small, NULL);
    CL(clEnqueueWriteBuffer(queue, other, CL_TRUE, 0, sizeof small, host, 0, NULL, NULL));
    for (int round = 0; round < ROUNDS; round++) {
        CL(clEnqueueWriteBuffer(queue, large, CL_TRUE, 0, LARGE, host, 0, NULL, NULL));
        memset(got, 0, sizeof got);
        memset(small, 0, sizeof small);
        CL(clEnqueueReadBuffer(queue, large, CL_FALSE, 0, LARGE, got, 0, NULL, NULL));
        for (size_t i = 0; i < READS; i++)
            CL(clEnqueueReadBuffer(queue, other, CL_FALSE, i * SMALL, SMALL, small[i], 0, NULL, NULL));
        CL(clFinish(queue));
        printf("%s\n", memcmp(got, host, LARGE) || memcmp(small, host, sizeof small) ? "other bytes" : "read");
    }
    return FINISH(large, other);
}
