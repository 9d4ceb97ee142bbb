// An image read and an image written.
//! kernel copy global 24 20 local 4 5
//! image read 24 20
//! image write 24 20
//! sampler
//! expect hidden group
__kernel void copy(__read_only image2d_t in, __write_only image2d_t out, sampler_t s)
{
    int2 at = (int2)((int)get_global_id(0), (int)get_global_id(1));
    uint4 v = read_imageui(in, s, (int2)(23 - at.x, at.y));
    write_imageui(out, at, v + (uint4)((uint)get_group_id(0), (uint)get_group_id(1), 0, 1));
}
