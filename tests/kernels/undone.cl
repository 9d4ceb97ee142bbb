// A macro of ours that the application takes away: its built-in function would answer for the part.
//! kernel undone global 48 local 4
//! buffer int 48 zero
//! expect refused whole together
#undef get_group_id
__kernel void undone(__global int *out)
{
    out[get_global_id(0)] = (int)get_group_id(0);
}
