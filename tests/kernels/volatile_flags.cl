// A volatile buffer, by which work-groups could speak to each other: no split.
//! kernel flags
//! global 16
//! local 4
//! buffer int 16 zero
//! expect refused whole
__kernel void flags(__global volatile int *flag)
{
    flag[get_global_id(0)] = 1;
}
