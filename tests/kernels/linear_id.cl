// The linear global id. (A device that names OpenCL C 1.2 as its version, as PoCL does, has it all the same.)
//! options -cl-std=CL3.0
//! kernel linear global 8 6 4 local 4 3 2 offset 1 2 3
//! buffer ulong 192 zero
//! expect hidden
__kernel void linear(__global ulong *out)
{
    size_t i = (get_global_id(2) - 3) * 48 + (get_global_id(1) - 2) * 8 + get_global_id(0) - 1;
    out[i] = get_global_linear_id() * 3 + get_enqueued_local_size(1);
}
