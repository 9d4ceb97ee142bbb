// printf: the order of the lines would change.
//! kernel prints global 8
//! buffer int 8 zero
//! expect refused whole
__kernel void prints(__global int *out)
{
    out[get_global_id(0)] = 1;
    if (get_global_id(0) > 100)
        printf("%d\n", out[0]);
}
