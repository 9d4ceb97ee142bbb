// No local size: the driver chooses it for each part, so nothing may depend on it.
//! kernel rows
//! global 53 29
//! offset 3 7
//! buffer int 1537 zero
//! expect hidden nogroup
__kernel void rows(__global int *out)
{
    size_t width = get_global_size(0), x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - get_global_offset(1);
    out[y * width + x] = (int)(width * 1000 + get_global_size(1) * 10 + get_global_offset(1) + get_global_size(2));
}
