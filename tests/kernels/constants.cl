// Constant memory: an argument and tables of the program.
//! kernel constants global 64 local 8
//! buffer float 16 iota
//! buffer float 64 zero
//! expect hidden
__constant float table[4] = {0.5f, 1.5f, 2.5f, 3.5f};
constant int shift = 3;
float look(__constant float *a, size_t i) { return a[i % 16] + table[i & 3]; }
__kernel void constants(__constant float *a, __global float *out)
{
    size_t i = get_global_id(0);
    out[i] = look(a, i) * (float)(get_global_size(0) >> shift);
}
