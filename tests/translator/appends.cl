/* Kernels that append to lists. Those named append_... do nothing else with their atomics' results and must be found;
 * those named not_... do, by one thing each, and must not be. */
#define MOST 1000
typedef struct { float x, y; uint id; } hit;
typedef struct { uint a; uchar b; } padded;

__kernel void append_direct(__global const uint *in, __global uint *out, __global uint *n)
{
    uint i = get_global_id(0);
    if (in[i] & 1)
        out[atomic_inc(n)] = in[i];
}
__kernel void append_volatile(__global const uint *in, __global uint *out, volatile __global int *n)
{
    uint i = get_global_id(0);
    if (in[i] & 1) {
        int at = atomic_inc(n);
        out[at] = in[i];
    }
}
__kernel void append_declared(__global const uint *in, __global uint *out, __global uint *n)
{
    uint at, i = get_global_id(0);
    if (in[i] > 7) {
        at = atomic_add(n, 1);
        out[at] = in[i];
    }
}
__kernel void append_several(__global const uint *in, __global uint *a, __global float *b, __global ushort *c,
                             __global uint *n)
{
    uint i = get_global_id(0);
    if (in[i] & 1) {
        size_t at = atomic_inc(n);
        a[at] = in[i];
        b[at] = (float)i;
        c[at] = (ushort)i;
    }
}
__kernel void append_limited(__global const uint *in, __global uint *out, __global uint *n, uint most)
{
    uint i = get_global_id(0);
    if (in[i] & 1) {
        uint at = atomic_inc(n);
        if (at < most)
            out[at] = in[i];
    }
}
__kernel void append_limited_signed(__global const uint *in, __global uint *out, __global int *n, int most)
{
    int at = atomic_inc(n);
    if (most > at) {
        uint v = in[get_global_id(0)] * 3u;
        out[at] = v;
    }
}
__kernel void append_limited_number(__global const uint *in, __global uint *out, __global uint *n)
{
    if (in[get_global_id(0)] == 5) {
        uint at = atomic_inc(n);
        if (at >= MOST)
            return;
        out[at] = get_global_id(0);
    }
}
__kernel void append_continue(__global const uint *in, __global uint *out, __global uint *n, ushort most)
{
    for (uint k = 0; k < 4; k++) {
        if (in[4 * get_global_id(0) + k] & 1) {
            uint at = atomic_inc(n);
            if (at >= most)
                continue;
            out[at] = k;
        }
    }
}
__kernel void append_struct(__global const float *in, __global hit *out, __global uint *n)
{
    uint i = get_global_id(0);
    if (in[i] > 0.5f) {
        uint at = atomic_inc(n);
        out[at].x = in[i];
        out[at].y = in[i + 1];
        out[at].id = i;
    }
}
__kernel void append_struct_whole(__global const float *in, __global padded *out, __global uint *n)
{
    padded p = {1, 2};
    if (in[get_global_id(0)] > 0.5f)
        out[atomic_inc(n)] = p;
}
__kernel void append_two(__global const uint *in, __global uint *out, __global uint *n, uint most)
{
    if (in[get_global_id(0)] & 1) {
        uint at = atomic_add(n, 2);
        if (at + 1 < most) {
            out[at] = in[get_global_id(0)];
            out[at + 1] = get_global_id(0);
        }
    }
}
__kernel void append_triangles(__global const uint *in, __global float4 *out, __global uint *n)
{
    if (in[get_global_id(0)] & 1) {
        int t = atomic_inc(n), at = 3 * t;
        out[at] = (float4)(1.0f);
        out[at + 1] = (float4)(2.0f);
        out[at + 2] = (float4)(3.0f);
    }
}
__kernel void append_triangle(__global const uint *in, __global float4 *out, __global uint *n)
{
    if (in[get_global_id(0)] & 1) {
        int at = 3 * atomic_inc(n);
        int b = at + 1;
        out[at] = (float4)(1.0f);
        out[b] = (float4)(2.0f);
        out[b + 1] = (float4)(3.0f);
    }
}
__kernel void append_vector(__global const uint *in, __global uint *out, __global uint *n)
{
    uint i = get_global_id(0);
    if (in[i] & 1) {
        uint at = atomic_inc(n);
        vstore3((uint3)(i, in[i], 7), at, out);
    }
}
void push(__global uint *list, __global uint *n, uint most, uint v)
{
    uint at = atomic_inc(n);
    if (at >= most)
        return;
    list[at] = v;
}
__kernel void append_helper(__global const uint *in, __global uint *out, __global uint *n, uint most)
{
    uint i = get_global_id(0);
    if (in[i] & 1)
        push(out, n + 1, most, in[i]);
    if (in[i] & 2)
        push(out, &n[1], most, i);
}
__kernel void append_two_lists(__global const uint *in, __global uint *odd, __global uint *even, __global uint *n)
{
    uint i = get_global_id(0);
    if (in[i] & 1)
        odd[atomic_inc(&n[0])] = i;
    else
        even[atomic_inc(&n[1])] = i;
}
__kernel void append_twice(__global const uint *in, __global uint *out, __global uint *n)
{
    uint i = get_global_id(0);
    if (in[i] & 1)
        out[atomic_inc(n)] = i;
    if (in[i] & 2)
        out[atomic_inc(n)] = 2 * i;
}
__kernel void append_and_count(__global const uint *in, __global uint *out, __global uint *n, __global uint *sum)
{
    uint i = get_global_id(0);
    if (in[i] & 1)
        out[atomic_inc(n)] = i;
    atomic_add(sum, in[i]);
}
__kernel void append_stride(__global const uint *in, __global uint *out, __global uint *n, uint count)
{
    for (uint i = get_global_id(0); i < count; i += get_global_size(0)) {
        uint v = in[i];
        for (uint r = 0; r < 10; r++)
            v = v * 3 + 1;
        if (v & 1) {
            uint at = atomic_inc(n);
            barrier(CLK_GLOBAL_MEM_FENCE);
            out[at] = v;
        }
    }
}

__kernel void append_pointer(__global const float *in, __global hit *out, __global uint *n, uint most)
{
    uint i = get_global_id(0);
    if (in[i] > 0.5f) {
        uint at = atomic_inc(n);
        __global hit *h = &out[at];
        if (at < most) {
            h->x = in[i];
            (*h).y = in[i + 1];
            h[0].id = i;
        }
    }
}
__kernel void append_pointer_direct(__global const float *in, __global hit *out, __global uint *n)
{
    uint i = get_global_id(0);
    if (in[i] > 0.5f) {
        __global hit *h = out + atomic_inc(n);
        h->x = in[i];
        h->y = in[i + 1];
        h->id = i;
    }
}
__kernel void append_pointer_triple(__global const uint *in, __global uint *out, __global uint *n)
{
    __global uint *t = out + 3 * atomic_inc(n);
    t[0] = in[get_global_id(0)];
    t[2] = 1;
    *(t + 1) = 2;
}
__kernel void append_behind_a_pointer(__global const uint *in, __global uint *out, __global uint *n)
{
    if (in[get_global_id(0)] & 1)
        *(out + atomic_inc(n)) = in[get_global_id(0)];
}
__kernel void append_by_variables(__global const uint *in, __global uchar *bytes, __global int *n, int most)
{
    __global float2 *lines = (__global float2 *)bytes;
    __global int *count = n + 1;
    if (in[get_global_id(0)] & 1) {
        int at = atomic_inc(count);
        if (at < most)
            lines[at] = (float2)(1.0f, 2.0f);
    }
}
__kernel void append_by_variables_helped(__global uint *bytes, __global uint *n, uint most)
{
    __global uint *list = bytes, *same = list;
    push(same, n, most, 5);
}
__kernel void not_kept(__global uint *out, __global uint *n, __global uint *mine)
{
    uint at = atomic_inc(n);
    out[at] = 1;
    mine[get_global_id(0)] = at;
}
__kernel void not_in_value(__global uint *out, __global uint *n)
{
    uint at = atomic_inc(n);
    out[at] = at;
}
__kernel void not_read(__global uint *out, __global uint *n, __global uint *sum)
{
    uint at = atomic_inc(n);
    out[at] = 1;
    atomic_add(sum, out[0]);
}
__kernel void not_added_to(__global uint *out, __global uint *n)
{
    uint at = atomic_inc(n);
    out[at] += 1;
}
__kernel void not_same_steps(__global uint *out, __global uint *n)
{
    uint at = atomic_inc(n);
    out[at] = 1;
    uint to = atomic_add(n, 2);
    out[to] = 1;
    out[to + 1] = 2;
}
__kernel void not_same_units(__global uint *out, __global uint *n)
{
    uint at = atomic_inc(n);
    out[at] = 1;
    uint to = atomic_inc(n);
    out[2 * to] = 1;
    out[2 * to + 1] = 1;
}
__kernel void not_next(__global uint *out, __global uint *n)
{
    uint at = atomic_inc(n);
    out[at] = 1;
    out[at + 1] = 2;
}
__kernel void append_only_next(__global uint *out, __global uint *n)
{
    uint at = atomic_inc(n) + 1;
    out[at] = 1;
}
__kernel void not_whole(__global uint *out, __global uint *n)
{
    uint at = atomic_add(n, 2);
    out[at] = 1;
}
__kernel void not_by_argument(__global uint *out, __global uint *n, uint by)
{
    uint at = atomic_add(n, by);
    out[at] = 1;
}
__kernel void not_all_members(__global hit *out, __global uint *n)
{
    uint at = atomic_inc(n);
    out[at].x = 1.0f;
    out[at].id = 3;
}
__kernel void not_always(__global const uint *in, __global uint *out, __global uint *n)
{
    uint at = atomic_inc(n);
    if (in[get_global_id(0)])
        out[at] = 1;
}
__kernel void not_both_always(__global const uint *in, __global uint *out, __global uint *other, __global uint *n)
{
    uint at = atomic_inc(n);
    out[at] = 1;
    if (in[get_global_id(0)])
        other[at] = 1;
}
__kernel void not_both_sites(__global const uint *in, __global uint *out, __global uint *other, __global uint *n)
{
    if (in[get_global_id(0)] & 1) {
        uint at = atomic_inc(n);
        out[at] = 1;
        other[at] = 1;
    } else {
        out[atomic_inc(n)] = 2;
    }
}
__kernel void not_broken_off(__global const uint *in, __global uint *out, __global uint *n)
{
    for (int i = 0; i < 4; i++) {
        uint at = atomic_inc(n);
        if (in[i])
            break;
        out[at] = 1;
    }
}
__kernel void not_returned_from(__global const uint *in, __global uint *out, __global uint *n)
{
    uint at = atomic_inc(n);
    if (in[get_global_id(0)])
        return;
    out[at] = 1;
}
__kernel void not_later(__global const uint *in, __global uint *out, __global uint *n)
{
    uint at = 0;
    for (int i = 0; i < 4; i++)
        if (in[i])
            at = atomic_inc(n);
    out[at] = 1;
}
__kernel void not_counted_only(__global const uint *in, __global uint *out, __global uint *n)
{
    uint at = atomic_inc(n);
    out[at] = 1;
    if (in[get_global_id(0)])
        atomic_inc(n);
}
__kernel void not_counter_read(__global uint *out, __global uint *n)
{
    if (n[0] < 100)
        out[atomic_inc(n)] = 1;
}
__kernel void not_popped(__global uint *out, __global uint *n)
{
    out[atomic_dec(n)] = 1;
}
__kernel void not_pushed_and_popped(__global uint *out, __global uint *n)
{
    out[atomic_inc(n)] = 1;
    atomic_dec(n);
}
__kernel void not_exchanged(__global uint *out, __global uint *n)
{
    out[atomic_xchg(n, 5)] = 1;
}
__kernel void not_limited_by_memory(__global uint *out, __global uint *n, __global uint *most)
{
    uint at = atomic_inc(n);
    if (at < most[0])
        out[at] = 1;
}
__kernel void not_limited_by_count(__global uint *out, __global uint *n)
{
    uint at = atomic_inc(&n[0]);
    if (at < n[1])
        out[at] = 1;
}
__kernel void not_limited_by_changing(__global uint *out, __global uint *n, uint most)
{
    most += get_local_id(0);
    uint at = atomic_inc(n);
    if (at < most)
        out[at] = 1;
}
__kernel void not_limited_from_below(__global uint *out, __global uint *n, uint least)
{
    uint at = atomic_inc(n);
    if (at > least)
        out[at] = 1;
}
__kernel void not_limited_else(__global uint *out, __global uint *n, uint most, __global uint *full)
{
    uint at = atomic_inc(n);
    if (at < most)
        out[at] = 1;
    else
        full[0] = 1;
}
__kernel void not_limited_more(__global uint *out, __global uint *n, uint most, __global uint *fits)
{
    uint at = atomic_inc(n);
    if (at < most) {
        out[at] = 1;
        atomic_inc(fits);
    }
}
__kernel void not_limited_value_acts(__global uint *out, __global uint *n, uint most, __global uint *fits)
{
    uint at = atomic_inc(n);
    if (at < most)
        out[at] = atomic_inc(fits);
}
__kernel void not_limited_then_more(__global uint *out, __global uint *n, uint most, __global uint *fits)
{
    uint at = atomic_inc(n);
    if (at >= most)
        return;
    out[at] = 1;
    fits[get_global_id(0)] = 1;
}
__kernel void not_limited_in_a_loop(__global uint *out, __global uint *n, uint most)
{
    for (int i = 0; i < 4; i++) {
        uint at = atomic_inc(n);
        if (at >= most)
            return;
        out[at] = 1;
    }
}
__kernel void not_limited_unlike(__global uint *out, __global uint *n, uint most)
{
    uint at = atomic_inc(n);
    if (at < most)
        out[at] = 1;
    uint to = atomic_inc(n);
    out[to] = 1;
}
__kernel void not_equal(__global uint *out, __global uint *n, uint most)
{
    uint at = atomic_inc(n);
    if (at != most)
        out[at] = 1;
}
__kernel void not_narrow(__global uint *out, __global uint *n)
{
    uchar at = atomic_inc(n);
    out[at] = 1;
}
__kernel void not_masked(__global uint *out, __global uint *n)
{
    uint at = atomic_inc(n);
    out[at & 255] = 1;
}
__kernel void not_per_bucket(__global const uint *in, __global uint *out, __global uint *n)
{
    uint b = in[get_global_id(0)] & 7;
    uint at = atomic_inc(&n[b]);
    out[at] = 1;
}
__kernel void append_from_a_base(__global uint *out, __global uint *n, uint base)
{
    uint at = atomic_inc(n);
    out[base + at] = 1;
}
__kernel void append_moved_list(__global uint *out, __global uint *n, uint base)
{
    __global uint *list = out + base;
    list[atomic_inc(n)] = 1;
}
__kernel void not_changed_list(__global uint *out, __global uint *n, uint base)
{
    out += base;
    out[atomic_inc(n)] = 1;
}
__kernel void not_by_alias(__global uint *out, __global uint *n)
{
    __global uint *other = out;
    out[atomic_inc(n)] = 1;
    other[get_global_id(0)] = 2;
}
__kernel void not_itself(__global uint *out)
{
    out[atomic_inc(out)] = 1;
}
__kernel void not_changed_after(__global uint *out, __global uint *n)
{
    uint at = atomic_inc(n);
    at++;
    out[at] = 1;
}
__kernel void not_address_taken(__global uint *out, __global uint *n)
{
    uint at = atomic_inc(n);
    *&at = 3;
    out[at] = 1;
}
void push_any(__global uint *list, __global uint *n, uint v)
{
    list[atomic_inc(n)] = v;
}
__kernel void append_two_by_helper(__global uint *a, __global uint *b, __global uint *n)
{
    push_any(a, n, 1);
    push_any(b, n + 1, 1);
}
__kernel void not_elsewhere_too(__global uint *out, __global uint *n)
{
    push_any(out, n, 1);
    out[7] = 1;
}
__kernel void not_long(__global uint *out, __global ulong *n)
{
    out[atom_inc(n)] = 1;
}
__kernel void append_volatile_list(volatile __global uint *out, __global uint *n)
{
    out[atomic_inc(n)] = 1;
}
__kernel void not_waiting(__global uint *out, __global uint *n, __global uint *flag)
{
    while (atomic_add(flag, 0) == 0)
        ;
    out[atomic_inc(n)] = 1;
}
__kernel void not_ticket(__global const uint *in, __global uint *out, __global uint *n, __global uint *next, uint all)
{
    uint i;
    while ((i = atomic_inc(next)) < all)
        if (in[i] & 1)
            out[atomic_inc(n)] = i;
}
__kernel void not_group_first(__global uint *out, __global uint *n, __local uint *base)
{
    if (get_local_id(0) == 0)
        base[0] = atomic_add(n, (uint)get_local_size(0));
    barrier(CLK_LOCAL_MEM_FENCE);
    out[base[0] + get_local_id(0)] = 1;
}
__kernel void not_case(__global const uint *in, __global uint *out, __global uint *n)
{
    switch (in[get_global_id(0)]) {
        uint at;
        at = atomic_inc(n);
    case 1:
        out[at] = 1;
    }
}
__kernel void not_selected(__global const uint *in, __global uint *out, __global uint *n)
{
    uint at = in[0] ? atomic_inc(n) : 0;
    out[at] = 1;
}
__kernel void not_short_cut(__global const uint *in, __global uint *out, __global uint *n, uint most)
{
    uint at = atomic_inc(n);
    if (at < most && in[get_global_id(0)])
        out[at] = 1;
}
__kernel void not_pointer_moved(__global hit *out, __global uint *n)
{
    __global hit *h = &out[atomic_inc(n)];
    h->x = 1;
    h->y = 2;
    h->id = 3;
    h++;
}
__kernel void not_pointer_read(__global hit *out, __global uint *n, __global float *sum)
{
    __global hit *h = &out[atomic_inc(n)];
    sum[get_global_id(0)] = h->x;
    h->x = 1;
    h->y = 2;
    h->id = 3;
}
__kernel void not_pointer_all_members(__global hit *out, __global uint *n)
{
    __global hit *h = &out[atomic_inc(n)];
    h->x = 1;
    h->id = 3;
}
__kernel void not_pointer_beyond(__global uint *out, __global uint *n)
{
    __global uint *p = &out[atomic_inc(n)];
    p[0] = 1;
    p[1] = 2;
}
__kernel void not_pointer_kept(__global uint *out, __global uint *n, __global ulong *where)
{
    __global uint *p = &out[atomic_inc(n)];
    *p = 1;
    where[get_global_id(0)] = (ulong)p;
}
__kernel void not_pointer_set_again(__global uint *out, __global uint *n, __global uint *other)
{
    __global uint *p = &out[atomic_inc(n)];
    p = other;
    *p = 1;
}
__kernel void not_pointer_compared(__global uint *out, __global uint *n, __global uint *sum)
{
    __global uint *p = &out[atomic_inc(n)];
    *p = 1;
    if (p == out)
        sum[0] = 1;
}
__kernel void not_pointer_narrow(__global uint *out, __global uint *n)
{
    __global ushort *p = (__global ushort *)&out[atomic_inc(n)];
    *p = 1;
}
__kernel void not_pointer_member(__global hit *out, __global uint *n)
{
    __global float *p = &out[atomic_inc(n)].x;
    *p = 1;
}
__kernel void not_variable_set_again(__global uint *a, __global uint *b, __global uint *n)
{
    __global uint *list = a;
    if (get_global_id(0) & 1)
        list = b;
    list[atomic_inc(n)] = 1;
}
__kernel void not_variable_stepped(__global uint *a, __global uint *n)
{
    __global uint *list = a;
    for (uint i = 0; i < 3; i++)
        *list++ = 1;
    list[atomic_inc(n)] = 1;
}
__kernel void not_variable_own(__global uint *a, __global uint *n)
{
    __global uint *list = a + get_global_id(0);
    list[atomic_inc(n)] = 1;
}
__kernel void append_variable_behind(__global uint *a, __global uint *n)
{
    __global uint *list = a + 1;
    list[atomic_inc(n)] = 1;
}
void set_pointer(__global uint **p, __global uint *to) { *p = to; }
__kernel void not_variable_address(__global uint *a, __global uint *b, __global uint *n)
{
    __global uint *list = a;
    set_pointer(&list, b);
    list[atomic_inc(n)] = 1;
}
__kernel void not_variable_unset(__global uint *a, __global uint *n)
{
    __global uint *list;
    list[atomic_inc(n)] = 1;
}
__kernel void not_variable_of_two_sizes(__global uint *a, __global uint *n)
{
    __global uchar *list = (__global uchar *)a;
    list[atomic_inc(n)] = 1;
    a[atomic_inc(n)] = 2;
}
__kernel void not_counter_set_again(__global uint *out, __global uint *n, __global uint *m)
{
    __global uint *count = n;
    count = get_local_id(0) ? m : n;
    out[atomic_inc(count)] = 1;
}

/* The counter lies in the list's own buffer, or the list begins behind the begin of it. */
__kernel void append_behind_its_counter(__global const uint *in, __global uint *out)
{
    uint i = get_global_id(0);
    if (in[i] & 1)
        out[1 + atomic_inc(&out[0])] = i;
}
__kernel void append_behind_its_counter_limited(__global const uint *in, volatile __global int *out, int most)
{
    if (in[get_global_id(0)] & 1) {
        int at = atomic_inc(out);
        if (at < most) {
            out[1 + 2 * at] = get_global_id(0);
            out[2 + 2 * at] = get_global_id(1);
        }
    }
}
__kernel void append_behind_a_header(__global const uint *in, __global uint *out, uint most)
{
    uint at = atomic_inc(out + 1);
    if (at < most)
        out[at + 4] = in[get_global_id(0)];
}
typedef struct { uint count; uint pad[3]; hit items[MOST]; } hits;
__kernel void append_members(__global const float *in, __global hits *out)
{
    uint i = get_global_id(0);
    if (in[i] > 0.5f) {
        uint at = atomic_inc(&out->count);
        if (at < MOST) {
            out->items[at].x = in[i];
            out->items[at].y = in[i + 1];
            out->items[at].id = i;
        }
    }
}
typedef struct { hit items[MOST]; uint count; } hits_before;
__kernel void append_members_before(__global const float *in, __global hits_before *out)
{
    uint i = get_global_id(0);
    if (in[i] > 0.5f) {
        uint at = atomic_inc(&out->count);
        if (at >= MOST)
            return;
        __global hit *h = &out->items[at];
        h->x = in[i];
        h->y = in[i + 1];
        h->id = i;
    }
}
__kernel void append_before_its_counter(__global uint *out)
{
    uint at = atomic_inc(&out[255]);
    if (at < 255)
        out[at] = 1;
}
__kernel void append_before_its_counter_by_argument(__global uint *out, uint most)
{
    uint at = atomic_inc(&out[255]);
    if (at < most)
        out[at] = 1;
}
typedef struct { uint n; float x[MOST]; float y[MOST]; } arrays;
__kernel void append_arrays(__global const float *in, __global arrays *a)
{
    uint at = atomic_inc(&a->n);
    if (at < MOST) {
        a->x[at] = in[get_global_id(0)];
        a->y[at] = 1.0f;
    }
}
__kernel void append_two_counters(__global const uint *in, __global uint *odd, __global uint *even)
{
    uint i = get_global_id(0);
    if (in[i] & 1)
        odd[1 + atomic_inc(odd)] = i;
    else
        even[1 + atomic_inc(even)] = i;
}
__kernel void append_crosswise(__global const uint *in, __global uint *odd, __global uint *even)
{
    uint i = get_global_id(0);
    if (in[i] & 1)
        odd[1 + atomic_inc(even)] = i;
    else
        even[1 + atomic_inc(odd)] = i;
}
__kernel void append_two_in_one(__global const uint *in, __global uint *out)
{
    uint i = get_global_id(0);
    if (in[i] & 1) {
        uint at = atomic_inc(&out[0]);
        if (at < 100)
            out[2 + at] = i;
    } else {
        uint at = atomic_inc(&out[1]);
        if (at < 100)
            out[102 + at] = i;
    }
}
__kernel void append_lines(__global uchar *bytes, int offset, __global int *n, int most)
{
    __global float2 *lines = (__global float2 *)(bytes + offset);
    __global int *count = n + 1;
    int at = atomic_inc(count);
    if (at < most)
        lines[at] = (float2)(1.0f, 2.0f);
}
void push_to(__global uint *list, __global uint *n, uint v)
{
    list[atomic_inc(n)] = v;
}
__kernel void append_helped_behind(__global uint *out, uint base)
{
    push_to(out + 4, out + 1, 1);
    push_to(&out[4], &out[1], 2);
}
__kernel void append_helped_by_argument(__global uint *out, uint base, __global uint *n)
{
    push_to(out + base, n, 1);
}
typedef struct { uint id; uint mix[3]; } result;
__kernel void append_array_in_element(__global result *out, __global uint *n)
{
    uint at = atomic_inc(n);
    out[at].id = 1;
    out[at].mix[0] = 2;
    out[at].mix[2] = 4;
    out[at].mix[1] = 3;
}
__kernel void append_cast(__global uchar *bytes, __global uint *n)
{
    ((__global float2 *)bytes)[atomic_inc(n)] = (float2)(1.0f, 2.0f);
}
__kernel void not_over_its_counter(__global uint *out)
{
    out[2 * atomic_inc(&out[0])] = 1;
}
__kernel void not_over_a_later_counter(__global uint *out)
{
    out[atomic_inc(&out[255])] = 1;
}
__kernel void not_up_to_its_counter(__global uint *out)
{
    uint at = atomic_inc(&out[255]);
    if (at <= 255)
        out[at] = 1;
}
__kernel void not_pairs_over_its_counter(__global uint *out)
{
    uint at = atomic_inc(&out[255]);
    if (at < 128) {
        out[2 * at] = 1;
        out[2 * at + 1] = 2;
    }
}
__kernel void not_header_read(__global uint *out)
{
    uint at = atomic_inc(out);
    if (at < out[1])
        out[at + 4] = 1;
}
__kernel void not_header_written(__global uint *out)
{
    out[4 + atomic_inc(out)] = 1;
    out[1] = 7;
}
__kernel void not_counted_beside(__global uint *out)
{
    out[4 + atomic_inc(out)] = 1;
    atomic_inc(&out[2]);
}
__kernel void not_count_read(__global uint *out)
{
    if (out[0] < 100)
        out[1 + atomic_inc(out)] = 1;
}
__kernel void not_item_read(__global uint *out, __global uint *sum)
{
    out[1 + atomic_inc(out)] = 1;
    sum[get_global_id(0)] = out[5];
}
__kernel void not_item_is_number(__global uint *out)
{
    uint at = atomic_inc(out);
    out[1 + at] = at;
}
__kernel void not_clamped(__global uint *out)
{
    out[min(255u, atomic_inc(out) + 1u)] = 1;
}
__kernel void not_shifted_in_the_limit_wide(__global uint *out, __global uint *n, ulong most)
{
    ulong at = atomic_inc(n) + 1;
    if (at < most)
        out[at] = 1;
}
__kernel void not_by_two_arguments(__global uint *out, __global uint *n, uint a, uint b)
{
    out[atomic_inc(n) + a + b] = 1;
}
__kernel void not_by_a_changing_argument(__global uint *out, __global uint *n, uint a)
{
    a += get_local_id(0);
    out[atomic_inc(n) + a] = 1;
}
__kernel void not_by_an_item(__global uint *out, __global uint *n)
{
    uint a = get_global_id(0);
    out[atomic_inc(n) + a] = 1;
}
__kernel void not_limited_by_two(__global uint *out, __global uint *n, uint a, uint most)
{
    uint at = atomic_inc(n);
    if (at + a < most)
        out[at] = 1;
}
__kernel void not_narrow_offset(__global uint *out, __global uint *n, uchar a)
{
    out[(uchar)(a + 255) + atomic_inc(n)] = 1;
}
typedef struct { uint count; struct { uint first; uint items[MOST]; }; } unnamed;
__kernel void not_in_a_nameless_member(__global unnamed *out)
{
    out->items[atomic_inc(&out->count)] = 1;
}
__kernel void not_counter_in_a_nameless_member(__global uint *list, __global unnamed *out)
{
    list[atomic_inc(&out->items[0])] = 1;
}
__kernel void not_a_member_of_each(__global hits *out)
{
    out[atomic_inc(&out->count)].pad[0] = 1;
}
__kernel void not_all_of_an_array(__global result *out, __global uint *n)
{
    uint at = atomic_inc(n);
    out[at].id = 1;
    out[at].mix[0] = 2;
    out[at].mix[1] = 3;
}
__kernel void not_a_counter_of_many(__global const uint *in, __global uint *out)
{
    uint b = in[get_global_id(0)] & 3;
    out[4 + atomic_inc(&out[b])] = 1;
}
__kernel void not_both_arrays(__global const uint *in, __global arrays *a)
{
    uint at = atomic_inc(&a->n);
    a->x[at] = 1.0f;
    if (in[get_global_id(0)])
        a->y[at] = 1.0f;
}
__kernel void not_two_counters_of_one_list(__global uint *out, __global uint *n)
{
    out[atomic_inc(&n[0])] = 1;
    out[atomic_inc(&n[1])] = 2;
}
__kernel void not_up_to_the_next_list(__global uint *out)
{
    out[2 + atomic_inc(&out[0])] = 1;
    out[1000 + atomic_inc(&out[1])] = 2;
}
__kernel void not_a_little_further_than_the_next_list(__global uint *out)
{
    uint at = atomic_inc(&out[0]);
    if (at <= 998)
        out[2 + at] = 1;
    out[1000 + atomic_inc(&out[1])] = 2;
}

/* What is computed under the limit. */
float twice(float x)
{
    float y[2];
    for (int i = 0; i < 2; i++)
        y[i] = x;
    return y[0] + y[1];
}
float length_of(__global const float *v, uint i)
{
    float sum = 0;
    for (uint k = 0; k < 3; k++)
        sum += v[3 * i + k] * twice(v[3 * i + k]);
    return sqrt(sum);
}
void half_of(float x, float *out)
{
    *out = x / 2;
}
float counting(float x, __global uint *calls)
{
    atomic_inc(calls);
    return x;
}
__kernel void append_limited_computed(__global const float *in, __global hit *out, __global uint *n, uint most)
{
    uint at = atomic_inc(n);
    if (at < most) {
        float2 p;
        p.x = length_of(in, get_global_id(0));
        p.y = twice(p.x);
        float sum = 0;
        for (int i = 0; i < 4; i++)
            if (p.x > i)
                sum += in[i];
        out[at].x = sum;
        out[at].y = p.y;
        out[at].id = (uint)p.x;
    }
}
__kernel void append_behind_the_guard_computed(__global const float *in, __global float *out, __global uint *n, uint most)
{
    for (int j = 0; j < 4; j++) {
        uint at = atomic_inc(n);
        if (at >= most)
            continue;
        float sum = 0;
        for (int i = 0; i < 4; i++)
            sum += in[i];
        out[at] = twice(sum);
    }
}
__kernel void not_computed_outside(__global const float *in, __global float *out, __global uint *n, uint most)
{
    float sum = 0;
    for (int j = 0; j < 4; j++) {
        uint at = atomic_inc(n);
        if (at < most) {
            sum += in[j];
            out[at] = sum;
        }
    }
}
__kernel void not_computed_before_the_guard(__global const float *in, __global float *out, __global uint *n, uint most)
{
    float sum = 0;
    for (int j = 0; j < 4; j++) {
        uint at = atomic_inc(n);
        if (at >= most)
            continue;
        sum += in[j];
        out[at] = sum;
    }
}
__kernel void not_computed_in_a_parameter(__global const float *in, __global float *out, __global uint *n, uint most, float sum)
{
    for (int j = 0; j < 4; j++) {
        uint at = atomic_inc(n);
        if (at < most) {
            sum += in[j];
            out[at] = sum;
        }
    }
}
__kernel void not_computed_by_a_pointer(__global float *out, __global uint *n, uint most)
{
    uint at = atomic_inc(n);
    if (at < most) {
        float x;
        half_of(1.0f, &x);
        out[at] = x;
    }
}
__kernel void not_computed_and_counted(__global float *out, __global uint *n, uint most, __global uint *calls)
{
    uint at = atomic_inc(n);
    if (at < most)
        out[at] = counting(1.0f, calls);
}
__kernel void not_computed_in_local_memory(__global float *out, __global uint *n, uint most)
{
    __local float tmp[4];
    uint at = atomic_inc(n);
    if (at < most) {
        tmp[get_local_id(0) & 3] = 1;
        out[at] = 1;
    }
}
__kernel void not_computed_of_the_number(__global float *out, __global uint *n, uint most)
{
    uint at = atomic_inc(n);
    if (at < most) {
        float x;
        x = at;
        out[at] = x;
    }
}
__kernel void not_computed_and_broken_off(__global const float *in, __global float *out, __global uint *n, uint most)
{
    uint at = atomic_inc(n);
    if (at < most) {
        float x = 0;
        if (in[0] > 1)
            return;
        out[at] = x;
    }
}
__kernel void not_stored_in_a_branch(__global const float *in, __global float *out, __global uint *n, uint most)
{
    uint at = atomic_inc(n);
    if (at < most) {
        float x = 0;
        if (in[0] > 1)
            out[at] = x;
    }
}
__kernel void not_stored_in_a_loop(__global float *out, __global uint *n, uint most)
{
    uint at = atomic_inc(n);
    if (at < most)
        for (int i = 0; i < 0; i++)
            out[at] = 1;
}

/* Helpers that are called for several lists. */
void push_twice(__global uint *list, __global uint *n, uint most, uint v)
{
    push(list, n, most, v);
    push(list, n, most, v + 1);
}
__kernel void append_deeply_helped(__global const uint *in, __global uint *odd, __global uint *even, __global uint *n,
                                   uint most, uint most_even)
{
    uint i = get_global_id(0);
    if (in[i] & 1)
        push_twice(odd, n, most, i);
    else
        push(even, n + 1, most_even, i);
}
__kernel void append_helped_in_one_buffer(__global const uint *in, __global uint *out, uint most)
{
    uint i = get_global_id(0);
    if (in[i] & 1)
        push(out + 2, out, most, i);
    else
        push_any(out + 1024, out + 1, i);
}
__kernel void not_helped_with_one_counter(__global uint *a, __global uint *b, __global uint *n)
{
    push_any(a, n, 1);
    push_any(b, n, 1);
}
__kernel void not_helped_with_two_limits(__global uint *a, __global uint *n, uint most, uint other)
{
    push(a, n, most, 1);
    push(a, n, other, 1);
}
__kernel void not_helped_with_a_number(__global uint *a, __global uint *n)
{
    push(a, n, get_global_id(0), 1);
}
__kernel void not_helped_to_a_choice(__global uint *a, __global uint *b, __global uint *n)
{
    push_any(a, n, 1);
    push_any(get_local_id(0) ? a : b, n + 1, 1);
}
__kernel void not_helped_and_read(__global uint *a, __global uint *b, __global uint *n, __global uint *sum)
{
    push_any(a, n, 1);
    push_any(b, n + 1, 1);
    sum[get_global_id(0)] = b[3];
}
__kernel void not_helped_with_the_counter_for_a_list(__global uint *a, __global uint *n)
{
    push_any(a, n, 1);
    push_any(n, a, 1);
}
__kernel void append_helped_with_a_constant(__global uint *a, __global uint *b, __global uint *n, uint most)
{
    push(a, n, MOST, 1);
    push(a, n, 1000, 2);
    push(b, n + 1, most, 3);
}
__kernel void not_helped_with_two_constants(__global uint *a, __global uint *n)
{
    push(a, n, MOST, 1);
    push(a, n, MOST + 1, 2);
}
__kernel void not_helped_with_less_than_nothing(__global uint *a, __global uint *n)
{
    push(a, n, -1, 1);
}
