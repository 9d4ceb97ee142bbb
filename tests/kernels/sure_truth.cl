// A truth value that is counted up is true, and counted down is what it wasn't.
//! kernel counted global 64 local 8
//! buffer int 1024 random
//! kernel counted_down global 64 local 8
//! buffer int 1024 random
//! kernel stepped global 64 local 8
//! buffer int 1024 random
//! kernel added global 64 local 8
//! buffer int 1024 random
__kernel void counted(__global int *o)
{
    int g = get_global_id(0);
    bool b = false;
    for (int k = 0; k < 4; k++) {
        o[g * 4 + b] = k;
        b++;
    }
}
__kernel void counted_down(__global int *o)
{
    int g = get_global_id(0);
    bool b = true;
    for (int k = 0; k < 4; k++, b--)
        o[g * 4 + 3 - b] = k;
}
__kernel void stepped(__global int *o)
{
    int g = get_global_id(0);
    bool b = g >= 0;
    b++;
    o[g * 4 + b] = g;
    b--;
    o[g * 4 + 2 + b] = g;
}
__kernel void added(__global int *o)
{
    int g = get_global_id(0);
    bool b = false;
    for (int k = 0; k < 4; k++) {
        o[g * 4 + b] = k;
        b = b + 2;
    }
}
