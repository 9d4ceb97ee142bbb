// A number's bytes taken for a vector's components are no vector of that number; a cast makes one.
//! kernel k global 64 local 8
//! buffer int 4096 zero
__kernel void k(__global int *out)
{
    const int i = get_global_id(0);
    const ushort2 halves = as_ushort2(0x00050003);
    const uchar4 bytes = as_uchar4(0x04030201u);
    const ushort2 both = (ushort2)(0x00050003);
    out[(halves.x * 8 + halves.y & 63) * 64 + i] = 0; // 29
    out[(bytes.w * 8 + bytes.x & 63) * 64 + i] = 0;   // 33
    out[(both.x * 8 + both.y & 63) * 64 + i] = 0;     // 27
}
