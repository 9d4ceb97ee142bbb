// Begin and end side by side, as a vector and as a struct: ranges that are data.
//! kernel k global 64 local 8
//! buffer int 64 zero
//! buffer uint 128 rising 3
//! buffer int 128 rising 3
//! buffer int 600 random 9
struct row {
    int begin, end;
};
__kernel void k(__global int *out, __global const uint2 *vectors, __global const struct row *structs,
                __global const int *value)
{
    const size_t row = get_global_id(0);
    uint2 v = vectors[row];
    int sum = 0;
    for (uint e = v.x; e < v.y; e++)
        sum += value[e];
    for (int e = structs[row].begin; e < structs[row].end; e++)
        sum += value[e + 200];
    out[row] = sum;
}
