// Kernels that use what their atomics answer. A part of them sees no other part's: those whose name begins with end_ come
// to their end all the same, those with spin_ might not, and never run in several launches.
__kernel void end_compact(__global const int *in, __global int *out, __global int *n, int most)
{
    int i = get_global_id(0);
    if (in[i] > 5) {
        int at = atomic_inc(n);
        if (at < most)
            out[at] = i;
    }
}
__kernel void end_strided(__global const int *in, __global int *out, __global int *n, int most, int len)
{
    for (int i = get_global_id(0); i < len; i += get_global_size(0))
        if (in[i] > 5) {
            int at = atomic_inc(n);
            if (at >= most)
                return;
            out[at] = i;
        }
}
void mark(__global int *n, __global int *out, int what)
{
    int at = atomic_inc(n);
    if (at < 10)
        out[at] = what;
}
__kernel void end_search(__global const uint *d, __global int *shown, __global int *n, __global int *out, uint len,
                         uint cnt)
{
    for (uint i = 0; i < len; i++) {
        uint h = i * 77u + (uint)get_global_id(0);
        for (uint l = 0, r = cnt; r; r >>= 1) {
            uint m = r >> 1, c = l + m;
            if (h > d[c]) {
                l += r - m;
                r--;
            }
            if (h == d[c]) {
                if (atomic_inc(&shown[c]) == 0)
                    mark(n, out, (int)c);
                break;
            }
        }
    }
}
__kernel void end_probe(__global int *table, int key, int size)
{
    for (int k = 0; k < 64; k++) {
        int was = atomic_cmpxchg(&table[(key + k) % size], 0, key);
        if (was == 0 || was == key)
            break;
    }
}
__kernel void end_last_block(__global int *done, __global float *part, __global float *res)
{
    __local int last;
    part[get_group_id(0)] = 1;
    if (get_local_id(0) == 0)
        last = atomic_inc(done) == (int)get_num_groups(0) - 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (last)
        for (int i = 0; i < (int)get_num_groups(0); i++)
            res[0] += part[i];
}
__kernel void spin_queue(__global int *next, __global int *out, int len)
{
    for (;;) {
        int i = atomic_inc(next);
        if (i >= len)
            break;
        out[i] = i;
    }
}
__kernel void spin_queue_while(__global int *next, __global int *out, int len)
{
    int i;
    while ((i = atomic_inc(next)) < len)
        out[i] = i;
}
__kernel void spin_ticket(__global int *turn, __global int *out)
{
    int my = get_group_id(0);
    while (atomic_cmpxchg(turn, my, my + 1) != my)
        ;
}
__kernel void spin_done(__global int *turn)
{
    int my = get_group_id(0), done = 0;
    while (!done)
        if (atomic_cmpxchg(turn, my, my + 1) == my)
            done = 1;
}
__kernel void spin_step_back(__global int *turn, int n)
{
    int my = get_group_id(0);
    for (int i = 0; i < n; i++)
        if (atomic_cmpxchg(turn, my, my + 1) != my)
            i--;
}
__kernel void spin_amount(__global int *turn, int n)
{
    int my = get_group_id(0);
    for (int i = 0; i < n; i += atomic_cmpxchg(turn, my, my + 1) == my)
        ;
}
__kernel void spin_selected(__global int *turn, int n)
{
    int my = get_group_id(0), go = 1;
    do {
        int was = atomic_cmpxchg(turn, my, my + 1);
        go = select(1, 0, was == my ? -1 : 0);
    } while (go > 0 && n > 0);
}
__kernel void spin_continue(__global int *turn, int n)
{
    int my = get_group_id(0), i = 0;
    while (i < n) {
        if (atomic_cmpxchg(turn, my, my + 1) != my)
            continue;
        i++;
    }
}
__kernel void spin_inner_break(__global int *turn, int n)
{
    int my = get_group_id(0), i = 0;
    while (i < n) {
        int won = atomic_cmpxchg(turn, my, my + 1) == my;
        for (int k = 0; k < 4; k++) {
            if (!won)
                break;
            i++;
        }
    }
}
void attempt(__global int *turn, int my, int *ok)
{
    *ok = atomic_cmpxchg(turn, my, my + 1) == my;
}
__kernel void spin_by_pointer(__global int *turn)
{
    int my = get_group_id(0), ok = 0;
    do
        attempt(turn, my, &ok);
    while (ok == 0);
}
__kernel void spin_by_alias(__global int *turn)
{
    int my = get_group_id(0), ok = 0;
    int *to = &ok;
    while (ok == 0)
        *to = atomic_cmpxchg(turn, my, my + 1) == my;
}
__kernel void spin_by_struct(__global int *turn)
{
    struct {
        int ok, tries;
    } s = {0, 0};
    int my = get_group_id(0);
    while (s.ok == 0)
        s.ok = atomic_cmpxchg(turn, my, my + 1) == my;
}
__kernel void spin_by_vector(__global int *turn)
{
    int my = get_group_id(0);
    int2 v = (int2)(0, 0);
    while (v.x == 0)
        v.x = atomic_cmpxchg(turn, my, my + 1) == my;
}
__kernel void spin_by_array(__global int *turn)
{
    int my = get_group_id(0), v[2] = {0, 0};
    while (v[0] == 0)
        v[0] = atomic_cmpxchg(turn, my, my + 1) == my;
}
__kernel void spin_by_buffer(__global int *turn, __global int *out)
{
    int my = get_group_id(0);
    do
        out[my] = atomic_cmpxchg(turn, my, my + 1);
    while (out[my] != my);
}
__kernel void spin_by_load(__global int *turn, __global int *out)
{
    int my = get_group_id(0);
    do
        out[my] = atomic_cmpxchg(turn, my, my + 1);
    while (vload2(my, out).x != my);
}
int look(__global int *p)
{
    return *p;
}
__kernel void spin_by_function(__global int *turn, __global int *out)
{
    int my = get_group_id(0);
    do
        out[my] = atomic_cmpxchg(turn, my, my + 1);
    while (look(&out[my]) != my);
}
__kernel void spin_by_local(__global int *turn, __local int *l)
{
    int my = get_group_id(0);
    l[0] = -1;
    while (l[0] != my)
        l[0] = atomic_cmpxchg(turn, my, my + 1);
}
__kernel void spin_plainly(__global int *turn, __global int *out)
{
    int my = get_group_id(0);
    while (turn[0] != my)
        out[my] += 1;
    out[0] = atomic_inc(turn);
}
__kernel void spin_goto(__global int *turn)
{
    int my = get_group_id(0);
again:
    if (atomic_cmpxchg(turn, my, my + 1) != my)
        goto again;
}
