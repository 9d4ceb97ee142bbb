// An atomic's result goes through variables and a helper's parameter, and nowhere else.
//! kernel k global 64 local 8
//! buffer int 1 zero
int same(int x)
{
    int y = x + 1;
    return y;
}
__kernel void k(__global int *out)
{
    int old = atomic_inc(out), next;
    next = same(old) * 2;
    next++;
}
