// A lattice whose cells exchange with their neighbours in place, by turns; the neighbours stand in an array.
//! kernel k global 64 local 8
//! buffer int 320 random 9
//! value uint 64
//! value ulong 1
void neighbours(uint n, uint all, uint *j)
{
    j[0] = n;
    j[1] = (n + 1) % all;
    j[2] = (n + all - 1) % all;
    j[3] = (n + 8) % all;
    j[4] = (n + all - 8) % all;
}

void take(uint n, uint all, int *own, __global const int *f, const uint *j, ulong t)
{
    own[0] = f[n];
    for (uint i = 1; i < 5; i += 2) {
        own[i] = f[(t % 2 ? i : i + 1) * all + n];
        own[i + 1] = f[(t % 2 ? i + 1 : i) * all + j[i]];
    }
}

__kernel void k(__global int *f, uint all, ulong t)
{
    uint n = get_global_id(0), j[5];
    int own[5];
    neighbours(n, all, j);
    take(n, all, own, f, j, t);
    f[n] = own[0] + 1;
    for (uint i = 1; i < 5; i += 2) {
        f[(t % 2 ? i + 1 : i) * all + j[i]] = own[i];
        f[(t % 2 ? i : i + 1) * all + n] = own[i + 1];
    }
}
