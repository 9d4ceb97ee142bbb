// Switches, loops with two counters, goto-free jumps out of them, and a struct that is handed back.
//! kernel control global 40 local 5
//! buffer int 40 random 50
//! buffer int 80 zero
//! expect hidden group
struct pair { int a, b; };
struct pair make(int v)
{
    struct pair p = {v, (int)get_group_id(0)};
    switch (v & 3) {
    case 0:
        p.a += (int)get_num_groups(0);
        break;
    case 1:
        p.b *= 2;
    default:
        p.a--;
    }
    return p;
}
__kernel void control(__global const int *in, __global int *out)
{
    int i = (int)get_global_id(0), sum = 0;
    for (int a = 0, b = 9; a < b; a++, b--) {
        if (in[(i + a) % 40] == 7)
            continue;
        do
            sum += make(a).b;
        while (sum < 0);
        if (sum > 500)
            break;
    }
    struct pair p = make(sum);
    out[2 * i] = p.a;
    out[2 * i + 1] = p.b;
}
