// A variable that is assigned again and again.
//! kernel k global 64 local 8
//! buffer int 128 zero
__kernel void k(__global int *out)
{
    int i = get_global_id(0);
    i = i * 2;
    out[i] = 1;
    i++;
    out[i] = 2;
}
