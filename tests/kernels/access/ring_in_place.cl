// A lattice in which each cell and its neighbour exchange what lies between them, in place: no two touch the same.
//! kernel k global 256 local 16
//! buffer int 512 random 9
//! value uint 8
//! value uint 4
//! value uint 8
__kernel void k(__global int *f, uint nx, uint ny, uint nz)
{
    uint n = get_global_id(0), all = nx * ny * nz, x = n % nx, y = n / nx % ny, z = n / (nx * ny);
    uint next = x + (y + (z + 1) % nz * ny) * nx;
    int a = f[n], b = f[all + next];
    f[n] = b;
    f[all + next] = a;
}
