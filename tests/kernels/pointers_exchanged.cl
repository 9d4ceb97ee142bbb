// A loop exchanges pointers, to private memory and to buffers: split, although no places are known.
//! kernel turns_private global 64 local 8
//! buffer int 256 random 50
//! value int 3
//! kernel turns_buffers global 64 local 8
//! buffer int 64 random 50
//! buffer int 64 zero
//! value int 3
__kernel void turns_private(__global int *a, int n)
{
    const int i = get_global_id(0);
    int x[4], y[4], *from = x, *to = y;
    for (int j = 0; j < 4; j++)
        x[j] = a[4 * i + j];
    for (int t = 0; t < n; t++) {
        for (int j = 0; j < 4; j++)
            to[j] = from[j] + from[(j + 1) & 3];
        int *other = from;
        from = to;
        to = other;
    }
    a[4 * i] = from[0];
}
__kernel void turns_buffers(__global int *a, __global int *b, int n)
{
    const int i = get_global_id(0);
    __global int *from = a, *to = b;
    for (int t = 0; t < n; t++) {
        to[i] = 2 * from[i] + t;
        __global int *other = from;
        from = to;
        to = other;
    }
}
