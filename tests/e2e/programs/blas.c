/* SPDX-License-Identifier: MIT */
/* A program linked with CLBlast, whose kernels are the library's: matrix product, vector sums, and their check. */
#include <clblast_c.h>
#include <math.h>

#include "plain.h"

enum { M = 96, N = 72, K = 48 };

int main(void)
{
    static float a[M * K], b[K * N], c[M * N], want[M * N];
    float dot = 0;
    start(0);
    for (int i = 0; i < M * K; i++)
        a[i] = (float)(scramble((uint32_t)i) % 17) - 8;
    for (int i = 0; i < K * N; i++)
        b[i] = (float)(scramble((uint32_t)i + 9999) % 13) - 6;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < K; k++)
                want[i * N + j] += a[i * K + k] * b[k * N + j];
    cl_mem da = buffer_of(a, sizeof a), db = buffer_of(b, sizeof b), dc = buffer_of(c, sizeof c),
           dd = buffer(CL_MEM_READ_WRITE, sizeof dot, NULL);
    cl_event e = NULL;
    CL((cl_int)CLBlastSgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, M, N, K, 1.0f, da, 0, K, db,
                            0, N, 0.0f, dc, 0, N, &queue, &e));
    wait_for(e);
    CL(clEnqueueReadBuffer(queue, dc, CL_TRUE, 0, sizeof c, c, 0, NULL, NULL));
    printf("product right: %d\n", memcmp(c, want, sizeof c) == 0); /* small integers: exact in any order */
    show("product", c, sizeof c);
    CL((cl_int)CLBlastSaxpy(K * N, 3.0f, db, 0, 1, da, 0, 1, &queue, &e));
    wait_for(e);
    show_buffer("axpy", queue, da, 0, sizeof a);
    CL((cl_int)CLBlastSdot(K * N, dd, 0, da, 0, 1, db, 0, 1, &queue, &e));
    wait_for(e);
    CL(clEnqueueReadBuffer(queue, dd, CL_TRUE, 0, sizeof dot, &dot, 0, NULL, NULL));
    printf("dot %.0f\n", (double)dot);
    CL((cl_int)CLBlastClearCache());
    return FINISH(da, db, dc, dd);
}
