// One buffer as two arguments: each work-item reads and writes its own element, through either.
//! kernel twice global 256 local 16
//! buffer int 256 random 1000
//! same 0
//! expect hidden
__kernel void twice(__global int *a, __global int *b)
{
    size_t i = get_global_id(0);
    a[i] = b[i] * 3 + (int)get_global_size(0);
    b[i] += a[i];
}
