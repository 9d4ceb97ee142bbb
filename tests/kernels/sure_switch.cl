// Cases that begin in the midst of another statement: which of it runs, no label beside the others says.
//! kernel between global 64 local 8
//! buffer int 1024 random
//! value int 1
//! kernel behind_if global 64 local 8
//! buffer int 1024 random
//! value int 1
//! kernel device global 64 local 8
//! buffer int 1024 random
//! value int 6
//! kernel nested global 64 local 8
//! buffer int 1024 random
//! value int 2
__kernel void between(__global int *o, int n)
{
    int g = get_global_id(0);
    switch (n) {
    case 0:
        o[g * 4] = 1;
        break;
        {
        case 1:
            o[g * 4 + 1] = 2;
        }
    }
}
__kernel void behind_if(__global int *o, int n)
{
    int g = get_global_id(0);
    switch (n) {
    case 0:
        o[g * 4] = 1;
        if (0) {
        case 1:
            o[g * 4 + 1] = 2;
        }
        o[g * 4 + 2] = 3;
    }
}
// Duff's device.
__kernel void device(__global int *o, int n)
{
    int g = get_global_id(0), i = 0, times = 3;
    switch (n & 3) {
        do {
        case 0:
            o[g * 16 + i++] = 1;
        case 3:
            o[g * 16 + i++] = 2;
        case 2:
            o[g * 16 + i++] = 3;
        case 1:
            o[g * 16 + i++] = 4;
        } while (--times > 0);
    }
}
__kernel void nested(__global int *o, int n)
{
    int g = get_global_id(0);
    switch (n) {
    case 1:
    case 2:
        switch (g & 1) {
        case 0:
            o[g * 4 + n] = 2;
            break;
        default:
            o[g * 4] = 3;
        }
        break;
    default:
        o[g * 4 + 3] = 4;
    }
}
