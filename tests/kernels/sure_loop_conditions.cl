// A loop ends at the first test that fails: what a condition says beside its bound ends it too, and doesn't cut iterations.
//! kernel begins_late global 64 local 8
//! buffer int 1024 random
//! value int 4
//! kernel ends_early global 64 local 8
//! buffer int 1024 random
//! value int 8
//! kernel two_ways global 64 local 8
//! buffer int 1024 random
//! value int 9
//! kernel by_item global 64 local 8
//! buffer int 1024 random
//! value int 20
//! kernel by_item_late global 64 local 8
//! buffer int 1024 random
//! value int 20
//! kernel either global 64 local 8
//! buffer int 1024 random
//! value int 5
//! kernel with_comma global 64 local 8
//! buffer int 1024 random
//! value int 5
//! kernel until global 64 local 8
//! buffer int 1024 random
//! value int 3
__kernel void begins_late(__global int *o, int base)
{
    int g = get_global_id(0);
    for (int k = 0; k < 16 && k >= base; k++)
        o[g * 16 + k] = k;
}
__kernel void ends_early(__global int *o, int n)
{
    int g = get_global_id(0);
    for (int k = 15; k >= 0 && k < n; k--)
        o[g * 16 + k] = k;
}
__kernel void two_ways(__global int *o, int n)
{
    int g = get_global_id(0);
    for (int i = 0, j = 15; i < 16 && j < n; i++, j--)
        o[g * 16 + i] = j;
}
__kernel void by_item(__global int *o, int n)
{
    int g = get_global_id(0);
    for (int k = 0; k < 16 && k + g < n; k++)
        o[g * 16 + k] = k;
}
__kernel void by_item_late(__global int *o, int n)
{
    int g = get_global_id(0);
    for (int k = 0; k < 16 && k + n > g; k++)
        o[g * 16 + k] = k;
}
__kernel void either(__global int *o, int n)
{
    int g = get_global_id(0);
    for (int k = 0; k < 16 && (k < n || k > 2 * n); k++)
        o[g * 16 + k] = k;
}
__kernel void with_comma(__global int *o, int n)
{
    int g = get_global_id(0), j = 0;
    for (int k = 0; j += n, k < 16 && j < 40; k++)
        o[g * 16 + k] = j;
}
__kernel void until(__global int *o, int n)
{
    int g = get_global_id(0);
    for (int k = 0; k < 16 && !(k == n); k++)
        o[g * 16 + k] = k;
}
