// An array of structs: one member of each.
//! kernel k global 64 local 8
//! buffer int 256 zero
struct s {
    int x, y, z, w;
};
__kernel void k(__global struct s *a)
{
    a[get_global_id(0)].y = 1;
}
