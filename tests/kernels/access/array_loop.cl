// A loop that changes a private array only by handing it on as one.
//! kernel k global 64 local 8
//! buffer int 128 zero
//! value int 3
void fill(int t[], int v) { t[1] = v; }
void walk(__global int *out, int t[], int n)
{
    for (int i = 0; i < n; i++) {
        out[t[1] & 127] = i;
        fill(t, (int)get_global_id(0) + 64);
    }
}
__kernel void k(__global int *out, int n)
{
    int t[2] = {0, get_global_id(0)};
    walk(out, t, n);
}
