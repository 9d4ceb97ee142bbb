// A lattice on a torus whose cells exchange with their neighbours in place, one id for rows and planes: parts end with
// whole planes, each owns what it writes, and those at the ends meet around the end.
//! kernel k global 384 local 8
//! buffer int 1920 random 9
//! value uint 8
//! value uint 4
//! value uint 12
//! value ulong 1
void neighbours(uint n, uint nx, uint ny, uint nz, uint *j)
{
    uint x = n % nx, y = n / nx % ny, z = n / (nx * ny);
    j[0] = n;
    j[1] = (x + 1) % nx + (y + z * ny) * nx;
    j[2] = (x + nx - 1) % nx + (y + z * ny) * nx;
    j[3] = x + ((y + 1) % ny + (z + 1) % nz * ny) * nx;
    j[4] = x + ((y + ny - 1) % ny + (z + nz - 1) % nz * ny) * nx;
}

__kernel void k(__global int *f, uint nx, uint ny, uint nz, ulong t)
{
    uint n = get_global_id(0), j[5], all = nx * ny * nz;
    int own[5];
    neighbours(n, nx, ny, nz, j);
    own[0] = f[n];
    for (uint i = 1; i < 5; i += 2) {
        own[i] = f[(t % 2 ? i : i + 1) * all + n];
        own[i + 1] = f[(t % 2 ? i + 1 : i) * all + j[i]];
    }
    f[n] = own[0] + own[1] * own[4];
    for (uint i = 1; i < 5; i += 2) {
        f[(t % 2 ? i + 1 : i) * all + j[i]] = own[i] + 1;
        f[(t % 2 ? i : i + 1) * all + n] = own[i + 1] * 3;
    }
}
