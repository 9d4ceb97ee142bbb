// Whole structs, without padding.
//! kernel k global 64 local 8
//! buffer int 128 zero
//! buffer int 128 random 9
struct s {
    int x, y;
};
__kernel void k(__global struct s *a, __global const struct s *b)
{
    a[get_global_id(0)] = b[get_global_id(0)];
}
