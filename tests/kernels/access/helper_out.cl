// A helper that answers through a pointer.
//! kernel k global 64 local 8
//! buffer int 64 zero
void find(int *i, int by)
{
    *i = get_global_id(0) * by;
}
__kernel void k(__global int *out)
{
    int i;
    find(&i, 2);
    out[i / 2] = 1;
}
