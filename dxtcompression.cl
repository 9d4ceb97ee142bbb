/* SPDX-License-Identifier: MIT */
/* Compresses a picture to DXT1: a block of 4 x 4 pixels becomes two colors of 16 bits and, for each pixel, 2 bits that
 * choose one of four colors on the line between them. The colors of a block lie along its principal axis; each of the
 * 64 work-items tries another pair of ends on it, and the pair with the least error wins. */
#define PIXELS 16
#define ITEMS 64

static float3 principal_axis(__local const float3 *pixel, float3 mean)
{
    float3 row0 = 0.0f, row1 = 0.0f, row2 = 0.0f;
    for (int i = 0; i < PIXELS; i++) {
        const float3 d = pixel[i] - mean;
        row0 += d.x * d;
        row1 += d.y * d;
        row2 += d.z * d;
    }
    float3 axis = (float3)(0.299f, 0.587f, 0.114f);
    for (int i = 0; i < 8; i++) {
        const float3 next = (float3)(dot(row0, axis), dot(row1, axis), dot(row2, axis));
        const float longest = fmax(fmax(fabs(next.x), fabs(next.y)), fabs(next.z));
        if (longest > 0.0f)
            axis = next / longest;
    }
    return axis;
}

static uint to_565(float3 color)
{
    const float3 c = clamp(color, 0.0f, 255.0f);
    const uint r = convert_uint_rte(c.x * 31.0f / 255.0f), g = convert_uint_rte(c.y * 63.0f / 255.0f);
    return r << 11 | g << 5 | convert_uint_rte(c.z * 31.0f / 255.0f);
}

static int3 from_565(uint c)
{
    const int r = c >> 11, g = c >> 5 & 63, b = c & 31;
    return (int3)(r << 3 | r >> 2, g << 2 | g >> 4, b << 3 | b >> 2);
}

static uint error_of(int3 a, int3 b)
{
    const int3 d = a - b;
    return (uint)(d.x * d.x + d.y * d.y + d.z * d.z);
}

/* The nearest of the four colors for each pixel; returns the sum of the squared errors. */
static uint choose(__local const float3 *pixel, uint color0, uint color1, uint *bits)
{
    const int3 c0 = from_565(color0), c1 = from_565(color1), c2 = (2 * c0 + c1) / 3, c3 = (c0 + 2 * c1) / 3;
    uint total = 0;
    *bits = 0;
    for (uint i = 0; i < PIXELS; i++) {
        const int3 p = convert_int3(pixel[i]);
        uint best = error_of(p, c0), index = 0;
        const uint e1 = error_of(p, c1), e2 = error_of(p, c2), e3 = error_of(p, c3);
        if (color0 != color1) {
            index = e1 < best ? 1 : index;
            best = min(best, e1);
            index = e2 < best ? 2 : index;
            best = min(best, e2);
            index = e3 < best ? 3 : index;
            best = min(best, e3);
        }
        total += best;
        *bits |= index << (2 * i);
    }
    return total;
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void compress(__global const uchar4 *in,
                                                                         __global uint2 *out, uint width)
{
    __local float3 pixel[PIXELS];
    __local uint least[ITEMS];
    const uint item = get_local_id(0), block = get_group_id(0), across = width / 4;
    if (item < PIXELS) {
        const size_t x = block % across * 4 + item % 4, y = block / across * 4 + item / 4;
        pixel[item] = convert_float4(in[y * width + x]).xyz;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    float3 mean = 0.0f;
    for (int i = 0; i < PIXELS; i++)
        mean += pixel[i] / (float)PIXELS;
    const float3 axis = principal_axis(pixel, mean);
    float low = 0.0f, high = 0.0f;
    for (int i = 0; i < PIXELS; i++) {
        const float place = dot(pixel[i] - mean, axis) / dot(axis, axis);
        low = fmin(low, place);
        high = fmax(high, place);
    }
    const float span = high - low;
    const uint a = to_565(mean + axis * (high - span * (float)(item % 8) / 32.0f));
    const uint b = to_565(mean + axis * (low + span * (float)(item / 8) / 32.0f));
    const uint color0 = max(a, b), color1 = min(a, b);
    uint bits;
    const uint mine = choose(pixel, color0, color1, &bits) * ITEMS + item; /* equal errors: the first of them */
    least[item] = mine;
    for (uint left = ITEMS / 2; left > 0; left /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < left)
            least[item] = min(least[item], least[item + left]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (least[0] == mine)
        out[block] = (uint2)(color0 | color1 << 16, bits);
}
