// Waits until another work-group sets a flag.
//! kernel k global 64 local 8
//! buffer int 1 zero
__kernel void k(volatile __global int *flag)
{
    while (flag[0] == 0)
        ;
}
