// A struct whose address a helper had keeps its values in a loop that stores to buffers, and hands them to functions.
//! kernel k global 16 local 4
//! buffer int 256 zero
struct rows {
    int begin, n;
};
void find(struct rows *r, int i)
{
    r->begin = 16 * i;
    r->n = 16;
}
void put(__global int *p, int v) { *p = v; }
__kernel void k(__global int *out)
{
    struct rows r;
    find(&r, get_global_id(0));
    for (int j = 0; j < r.n; j += 2) {
        out[r.begin + j] = j;
        put(out + r.begin + j + 1, j);
    }
}
