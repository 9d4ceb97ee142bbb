// Parameters written as arrays are pointers.
//! kernel arrays global 32 local 4
//! buffer int 32 iota
//! buffer int 64 zero
//! buffer int 32 zero
//! buffer uint 4 zero
//! expect hidden group maybe
void put(__global int to[], int tmp[4], int i) { to[i] = tmp[i & 3]; *(i + to + 32) = tmp[1]; }
__kernel void arrays(__global const int in[32], __global int out[], __global int more[2], __global uint counts[4])
{
    int i = (int)get_global_id(0), tmp[4] = {in[i], 2, (int)get_num_groups(0), 4};
    put(out, tmp, i);
    (i & 1 ? more : more + 0)[i] = in[i];
    atomic_inc(counts + (i & 3));
}
