// Whole structs with padding: not surely all bytes.
//! kernel k global 64 local 8
//! buffer int 128 zero
struct s {
    int x;
    char y;
};
__kernel void k(__global struct s *a)
{
    struct s x = {1, 2};
    a[get_global_id(0)] = x;
}
