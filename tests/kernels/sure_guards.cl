// Guards that speak of more than one dimension, with a local or group id in the index; and some that nobody satisfies.
//! kernel local_plane global 64 64 local 8 8
//! buffer int 32768 random
//! value uint 3000
//! kernel local_column global 64 64 local 8 8
//! buffer int 32768 random
//! value uint 3000
//! kernel group_plane global 64 64 local 8 8
//! buffer int 32768 random
//! value uint 3000
//! kernel nobody global 64 64 local 8 8
//! buffer int 65536 random
//! value int 8191
//! kernel nobody_at_all global 64 64 local 8 8
//! buffer int 65536 random
//! value int 8191
//! kernel one_item global 64 64 local 8 8
//! buffer int 65536 random
//! value int 8192
__kernel void local_plane(__global int *o, uint n)
{
    uint x = get_global_id(0), y = get_global_id(1), i = y * 64 + x;
    if (i < n)
        o[get_local_id(0) * 4096 + i] = i;
}
__kernel void local_column(__global int *o, uint n)
{
    uint x = get_global_id(0), y = get_global_id(1), i = y * 64 + x;
    if (i >= n)
        return;
    o[i * 8 + get_local_id(0)] = x;
}
__kernel void group_plane(__global int *o, uint n)
{
    uint x = get_global_id(0), y = get_global_id(1), i = y * 64 + x;
    if (i >= n)
        return;
    o[i + 4096 * get_group_id(0)] = 5;
}
__kernel void nobody(__global int *o, int n)
{
    int g = get_global_id(1) * 64 + get_global_id(0);
    if (g * 4 != n)
        return;
    for (int k = 0; k < 16; k++)
        o[k * 4096 + g] = k;
}
__kernel void nobody_at_all(__global int *o, int n)
{
    int g = get_global_id(1) * 64 + get_global_id(0);
    if (g * 4 == n && g >= 0)
        for (int k = 0; k < 16; k++)
            o[k * 4096 + g] = k;
}
__kernel void one_item(__global int *o, int n)
{
    int g = get_global_id(1) * 64 + get_global_id(0);
    if (g * 4 != n)
        return;
    for (int k = 0; k < 16; k++)
        o[k * 4096 + g] = k;
}
