/* Floating-point sums of kernels that ask for the launch's size or their group. sums.ptx and sums.translated.ptx are what
 * clang 19 makes of this text and of `gpusparc explain --source` with -target nvptx64-nvidia-nvcl -cl-fast-relaxed-math
 * -O3, with the ids as NVIDIA's driver has them: group times size + local id + %envreg3. */
__kernel void strided(__global const float *in, __global float *out, int n)
{
    int tid = get_global_id(0);
    float sum = 0;
    for (int pos = tid; pos < n; pos += get_global_size(0))
        sum += in[pos];
    out[tid] = sum;
}
__kernel void grouped(__global const float *in, __global float *out, __local float *l)
{
    int g = get_group_id(0), t = get_local_id(0);
    l[t] = in[get_global_id(0)] * 2.0f + in[get_global_id(0) + 1];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = get_local_size(0) / 2; s; s /= 2) {
        if (t < s)
            l[t] += l[t + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (!t)
        out[g] = l[0];
}
/* Four places of a group each, and what all of some points add up to there. */
__kernel void places(__global const float *x, __global const float *y, __global const float *charge, __global float *out,
                     int points)
{
    size_t lid = get_local_id(0), size = get_local_size(0), first = get_group_id(0) * size * 4 + lid;
    float sum[4];
    for (int i = 0; i < 4; i++)
        sum[i] = 0;
    for (int p = 0; p < points; p++)
        for (int i = 0; i < 4; i++) {
            float px = x[first + i * size] - x[p], py = y[first + i * size] - y[p], d = sqrt(px * px + py * py);
            sum[i] += d < 0.5f ? charge[p] * (1.0f - d / 0.5f) : charge[p] / d;
        }
    for (int i = 0; i < 4; i++)
        out[first + i * size] = sum[i] * 0.25f;
}
