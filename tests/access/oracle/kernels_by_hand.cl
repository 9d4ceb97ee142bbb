/* SPDX-License-Identifier: MIT */
/* Kernels written by hand, of kinds that real ones have and that random ones lack: foreign.py runs them with random
 * launches and arguments. */
#define K(name) __kernel void name(__global int *o, __global const int *in, int n, int m, uint u)
#define G int g = get_global_id(0)
typedef struct {
    int at, end;
} range;
typedef struct {
    int a[3];
    short s;
} arrs;
typedef union {
    uint i;
    ushort h[2];
    uchar b[4];
    float f;
} pun;
typedef int row[8];
enum { TWO = 2, NEG = -3 };
bool step(int *k, int n)
{
    (*k)++;
    return *k < n;
}
int stored(__global int *p, int v) { return *p = v; }
__global int *at(__global int *p, int i) { return p + i; }
__global int *at2(__global int *p, int i, int n)
{
    if (i < n) return p + i;
    return p + 512 + i;
}
int loopsum(int i, int n)
{
    int s = 0;
    for (int k = 0; k < n && k < 9; k++) s += k == i ? 2 : 1;
    return s;
}
int lead(__global int *p, int i, int n)
{
    for (int k = 0; k < 8; k++) {
        if (k == n) return k;
        p[i * 8 + k] = k;
    }
    return -1;
}
void both(__global int *p, __global int *q, int i)
{
    p[i] = 1;
    if (q != p) q[i + 512] = 2;
}
int bump(int v)
{
    v *= 2;
    return v + 1;
}
K(wrap_uchar)
{
    G;
    for (uchar k = n; k < 250; k += 7) o[g * 256 + k] = 1;
}
K(wrap_uchar_ne)
{
    G;
    for (uchar k = n; k != 250; k += 2) {
        o[(g & 63) * 256 + k] = 1;
        if (k == m) break;
    }
}
K(uint_wrap_bound)
{
    G;
    for (uint k = u; k < u + 10; k++) o[g * 64 + (k & 63)] = 1;
}
K(uint_down)
{
    G;
    for (uint k = u & 63; k < 64; k -= 3) o[g * 64 + k] = 1;
}
K(cast_cond)
{
    G;
    for (int k = 0; (uint)k < u && k < 64; k++) o[g * 64 + k] = 1;
    for (int k = n & 63; (uchar)k < 40; k += 3) o[g * 64 + (k & 63)] = 2;
}
K(mask_bound)
{
    G;
    for (int k = n & 31; (k & 7) != 5; k++) o[g * 64 + k] = 1;
    for (int k = n & 31; k % 5 != 4; k++) o[g * 64 + k] = 2;
}
K(div_bound)
{
    G;
    for (int k = 0; k / 3 < (n & 7); k++) o[g * 32 + k] = 1;
    for (int k = 0; k >> 2 <= (m & 3); k++) o[g * 32 + k] = 2;
}
K(cond_ternary)
{
    G;
    for (int k = 0; g < n ? k < 9 : k < (m & 15); k++) o[g * 16 + k] = 1;
}
K(cond_store)
{
    G, k = 0;
    while ((o[g * 32 + k] = k) < (n & 31)) k++;
}
K(cond_store2)
{
    G;
    if ((o[g] = n) > 3 && (o[g + 1024] = 1)) o[g + 2048] = 3;
}
K(cond_store3)
{
    G;
    for (int k = 0; k < (n & 15) && (o[g * 16 + k] = 1, k != m); k++)
        ;
}
K(cond_store4)
{
    G, k = 0;
    do k++;
    while ((o[g * 32 + k] = k) < (n & 15));
}
K(cond_store5)
{
    G;
    for (int k = 0; k < 16 && (k < n || (o[g * 16 + k] = 1)); k++) o[8192 * 2 + g * 16 + k] = 2;
}
K(inc_store)
{
    G;
    int k;
    for (k = 0; k < (n & 15); o[g * 16 + k++] = k)
        ;
    o[g * 16 + 15] = k;
}
K(inc_guard)
{
    G;
    for (int k = 0; k<16; k++, k> n ? (o[g * 16 + (k & 15)] = 2) : 0)
        if (k & 1) continue;
        else o[g * 16 + k] = 1;
}
K(index_store)
{
    G;
    o[(o[g] = 1, g + 1024)] = 2;
    o[2048 + (g < n ? (o[g + 4096] = 3, g) : 7)] = 4;
}
K(side_cond)
{
    G, k = 0;
    if (k++ < n) o[g * 4 + k] = 1;
    if (k++ < m && k++ > 1) o[g * 4 + (k & 3)] = 2;
}
K(call_cond)
{
    G, k = -1;
    while (step(&k, n & 15)) o[g * 16 + k] = 1;
    o[g * 16 + 15] = k;
}
K(call_args)
{
    G, k = n & 3;
    stored(o + g * 8 + k++, k);
    stored(&o[g * 8 + k], stored(o + 8192 + g, 3));
}
K(fn_pointer)
{
    G;
    *at(o, g * 2) = 1;
    at(o + 2048, g)[m & 3] = 2;
    *at2(o + 4096, g, n) = 3;
}
K(fn_loop)
{
    G;
    o[g * 16 + loopsum(g, n)] = 1;
    o[16384 + g * 16 + loopsum(3, m)] = 2;
}
K(fn_return_loop)
{
    G, r = lead(o, g, n);
    if (r < 0) o[16384 + g] = 1;
    else o[16384 + 2048 + g * 8 + r] = 2;
}
K(fn_alias)
{
    G;
    both(o, o, g);
    both(o + 2048, o + 4096, g);
}
K(fn_value)
{
    G;
    o[bump(g)] = g;
    o[4096 + bump(bump(g))] = 1;
}
K(range_case)
{
    G;
    switch (g % 9) {
    case 0 ... 2: o[g] = 1;
    case 5: o[g + 1024] = 2; break;
    case 7 ... 8:
        if (g < n) break;
    default: o[g + 2048] = 3;
    }
}
K(switch_before)
{
    G;
    switch (m) {
        o[g] = 1;
    case 1: o[g + 1024] = 2; {
        case 3: o[g + 2048] = 3;
        }
        break;
    case NEG: o[g + 4096] = 4;
    }
}
K(switch_nested)
{
    G;
    switch (n & 3) {
    case 0:
        switch (g & 1) {
        case 0: o[g] = 1; break;
        default: o[g + 1024] = 2;
        }
    case 1: o[g + 2048] = 3; break;
    case TWO: return;
    }
    o[g + 4096] = 4;
}
K(switch_loop)
{
    G;
    for (int k = 0; k < 8; k++) {
        switch ((k + n) & 3) {
        case 0: continue;
        case 1: o[g * 16 + k] = 1; break;
        case 2: {
            if (g < m) goto out;
        }
        default: o[g * 16 + 8 + k] = 2;
        }
    }
out:
    o[16384 + g] = 1;
}
K(switch_long)
{
    G;
    switch ((long)n - 5) {
    case -1: o[g] = 1; break;
    case 0x100000000: o[g + 1] = 2; break;
    case 2:
        for (int k = 0; k < 4; k++) {
            if (k == m) break;
            o[2048 + g * 4 + k] = 3;
        }
    default: o[g + 8192] = 4;
    }
}
K(switch_char)
{
    G;
    switch ((uchar)(g + n)) {
    case 255: o[g] = 1; break;
    case 3: o[g + 1024] = 2; break;
    default:
        if ((char)(g + n) < 0) o[g + 2048] = 3;
    }
}
K(stmt_expr)
{
    G;
    int k = ({
        int t = g;
        if (t > n) t = n;
        t;
    });
    o[k & 1023] = 1;
    o[1024 + ({
          o[2048 + g] = 2;
          g;
      })] = 3;
}
K(elvis)
{
    G;
    o[((g - n) ?: 5) & 1023] = 1;
    o[1024 + (g & 1 ?: 3) + g * 4] = 2;
}
K(compound)
{
    G;
    int2 v = (int2){g, n};
    o[v.x * 2 + (v.y & 1)] = 1;
    int a[4] = {g, 1};
    o[4096 + a[0] + a[3]] = 2;
    range r = {.end = g};
    o[8192 + r.at + r.end] = 3;
}
K(tables)
{
    G;
    const int t[2][3] = {{0, 2, 4}, {1, 3}};
    o[g * 8 + t[g & 1][n & 1]] = 1;
    o[g * 8 + 4 + t[1][2]] = 2;
    row r = {1, 2};
    o[16384 + g * 8 + r[m & 7]] = 3;
}
K(table_set)
{
    G;
    int t[8];
    for (int k = 0; k < 8; k++) t[k] = g * 8 + 7 - k;
    if (g < n) t[m & 7] = g * 8;
    o[t[0]] = 1;
    o[t[3]] = 2;
    o[16384 + t[m & 7]] = 3;
}
K(puns)
{
    G;
    pun p;
    p.i = g;
    p.h[1] = 1;
    o[p.i & 4095] = 1;
    p.i = n;
    p.b[0] = g;
    o[4096 + (p.i & 511)] = 2;
    p.f = 1.0f;
    o[8192 + g + (p.i >> 30)] = 3;
}
K(reinterpret)
{
    G;
    o[as_uchar4(g * 3).y * 256 + (g & 255)] = 1;
    o[4096 + as_uint((float)(g & 7)) % 64 + g] = 2;
    o[8192 + convert_uchar(g)] = 3;
    o[9000 + convert_char_sat(g)] = 4;
    o[10000 + (int)(g * 1.5f)] = 5;
}
K(intfuncs)
{
    G;
    o[rotate((uint)g, 2u)] = 1;
    o[4200 + popcount(g)] = 2;
    o[4300 + clz(g)] = 3;
    o[4400 + hadd(g, n & 63)] = 4;
    o[6000 + abs_diff(g, n & 1023)] = 5;
    o[8000 + add_sat((uchar)g, (uchar)200)] = 6;
    o[8400 + (int)mul_hi((uint)g << 20, 1u << 14)] = 7;
    o[9000 + sub_sat((uint)g, u & 255)] = 8;
    o[11000 + bitselect(g, n, 3) % 4096] = 9;
}
K(signs)
{
    G;
    if (g - 5 < u) o[g] = 1;
    if ((short)(g + n) > (ushort)m) o[g + 1024] = 2;
    if (-1 < (long)u - g) o[g + 2048] = 3;
    if ((char)g > 100) o[g + 4096] = 4;
    if (g >= (uchar)n) o[g + 8192] = 5;
}
K(ushort_index)
{
    G;
    o[(ushort)(g - 5)] = 1;
    o[(uchar)(g * 5) + 256] = 2;
    ushort s = g * 100;
    s >>= 4;
    o[1024 + s] = 3;
    short t = g << 10;
    o[8192 + (t >> 6)] = 4;
}
K(dims)
{
    int s = 0;
    for (int d = 0; d < 3; d++) s = s * get_global_size(d) + get_global_id(d) - get_global_offset(d);
    o[s] = 1;
    o[2048 + get_local_id(0) + get_group_id(0) * get_local_size(0)] = 2;
    o[4096 + get_global_id(7) + get_global_id(n & 1)] = 3;
    if (get_work_dim() > 1) o[8192 + s] = 4;
}
K(param_pointer)
{
    G;
    o += g * 4;
    if (n > 3) o += 1;
    *o = 1;
    o[1] = 2;
    o++;
    *o++ = 5;
    *--o = 3;
}
K(pointer_steps)
{
    G;
    __global int *p = o + g * 8, *q = p + 8;
    *p++ = 1;
    *++p = 2;
    p[-1] = 3;
    p += n & 1;
    (*p)++;
    ++*p;
    if (p - (o + g * 8) == 2) p[1] = 4;
    while (q > p + 2) *--q = 5;
}
K(pointer_loop)
{
    G;
    for (__global int *p = o + g * 16, *e = p + (n & 15); p != e; p++) {
        if (*p == m) continue;
        *p = 1;
    }
}
K(pointer_swap)
{
    G;
    __global int *a = o, *b = o + 4096;
    for (int k = 0; k < 4; k++) {
        a[g] = k;
        __global int *t = a;
        a = b;
        b = t;
        if (k == n) break;
    }
    a[g + 8192] = 1;
}
K(index_odd)
{
    G;
    g[o] = 1;
    (o + 1024)[g] = 2;
    *(&o[g + 2048]) = 3;
    (&o[4096])[g] = 4;
    *(o + 8192 + g) = 5;
    (*(__global row *)(o + 16384 + g * 8))[n & 7] = 6;
    ((__global row *)(o + 24576))[g][m & 7] = 7;
}
K(chained)
{
    G, a, b;
    a = b = o[g] = n;
    o[g + 1024] = o[g + 2048] = a + b;
    a = g;
    b = a += 2;
    o[4096 + b] = 1;
    int c = (a = 5, a + g);
    o[8192 + c] = 2;
    a = g;
    a += a++ ? 1 : 0;
    o[12288 + a] = 3;
}
K(shadow)
{
    G;
    int k = g;
    {
        int k = n & 15;
        o[k] = 1;
        {
            int g = 3;
            o[32 + g + k] = 2;
        }
    }
    for (int g = 0; g < 3; g++) o[64 + k * 4 + g] = 3;
    o[8192 + g] = 4;
}
K(induct2)
{
    G, j = 0, t = 0;
    for (int k = 0; k < (n & 7); k++) {
        j += 2;
        t += j;
        o[g * 64 + j] = 1;
        o[65536 / 4 + g * 64 + t % 64] = 2;
    }
    o[32768 + g * 16 + j] = 3;
}
K(nested_count)
{
    G;
    int c = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) o[g * 16 + c++] = i;
    o[g * 16 + c] = n;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < i; j++) o[8192 * 2 + g * 16 + c++] = 1;
    }
}
K(while_flag)
{
    G, k = 0;
    bool go = n > 0;
    while (go) {
        o[g * 16 + k] = 1;
        k++;
        go = k < n && k < 16;
    }
    int left = n & 15;
    while (left) {
        o[16384 + g * 16 + left] = 1;
        left--;
    }
    while (left-- > -4) o[16384 + g * 16 - left] = 2;
}
K(do_flags)
{
    G, k = 0;
    bool done;
    do {
        o[g * 16 + k] = 1;
        done = ++k >= (n & 15);
    } while (!done);
    do {
        if (k == m) break;
        o[16384 + g * 32 + k] = 2;
    } while (k++ < 12 && k != n);
}
K(flag_eq)
{
    G;
    if ((g < n) == (g < m)) o[g] = 1;
    if ((g < n) != (g > m)) o[g + 1024] = 2;
    if ((g < n) + (g < m) == 1) o[g + 2048] = 3;
    if ((g < n) * 4 > 3) o[g + 4096] = 4;
    o[8192 + g * (g < n)] = 5;
    o[12288 + g - (g < m ? 0 : 1)] = 6;
}
K(vec_guard)
{
    int2 p = (int2)(get_global_id(0), get_global_id(1)), s = (int2)(n, m);
    if (all(p < s)) o[p.y * 64 + p.x] = 1;
    if (any(p == s)) o[8192 + p.y * 64 + p.x] = 2;
    p += 1;
    p.yx = p;
    o[16384 + p.x * 64 + p.y] = 3;
    int4 q = (int4)(p, s);
    q.odd = q.even;
    o[32768 + (q.y & 31) * 64 + (q.w & 31)] = 4;
}
K(vec_store)
{
    G;
    __global int4 *v = (__global int4 *)o;
    v[g].xy = (int2)(n);
    if (g < n) v[g].zw = (int2)(m);
    v[g + 1024].s3 = 1;
    ((__global int *)&v[g + 2048])[m & 3] = 5;
    v[g + 3072] = (int4)(1);
    vstore3((int3)(1), g, o + 20000);
    vstore2((int2)(1), g * 2, o + 24000);
    vstore4((int4)(2), g, o + 28001);
}
K(vec_short)
{
    G;
    __global short3 *t = (__global short3 *)o;
    t[g] = (short3)(1);
    __global uchar *b = (__global uchar *)(o + 4096);
    vstore3((uchar3)(1), g, b);
    vstore8((uchar8)(1), g, b + 8192 + 1);
    __global char2 *c = (__global char2 *)(o + 16384);
    c[g].x = 1;
    if (g < n) c[g].y = 2;
}
K(struct_store)
{
    G;
    __global arrs *p = (__global arrs *)o;
    p[g].a[n & 1] = 1;
    p[g].s = 2;
    arrs a;
    a.a[0] = 1;
    a.a[1] = g;
    a.a[2] = 3;
    a.s = 4;
    if (g < m) p[g + 512] = a;
    else p[g + 512].a[1] = 6;
}
K(async_guard)
{
    __local int t[64];
    int w = get_group_id(0);
    event_t e = async_work_group_copy(t, in + w * 16, 16, 0);
    wait_group_events(1, &e);
    if (w < n) {
        e = async_work_group_copy((__global int2 *)o + w * 8, (__local int2 *)t, 8, 0);
        wait_group_events(1, &e);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t[0] > 2) o[8192 + w] = 1;
}
K(data_segment)
{
    G;
    for (int e = in [g & 63] & 255; e < (in[(g & 63) + 1] & 255); e++) o[e] = g;
    int b = in[0] & 63;
    o[1024 + b + g] = 1;
    for (int k = b; k < b + 4; k++) o[4096 + g * 80 + k] = 2;
}
K(long_index)
{
    G;
    long k = (long)g - n;
    if (k >= 0 && k < 100) o[k] = 1;
    ulong j = (ulong)(uint)(g - 5);
    if (j < 300) o[1024 + j] = 2;
    size_t s = g;
    s = s * 3 - 3;
    if (s < 1000) o[4096 + s] = 3;
    o[8192 + (size_t)(uchar)(g - 1)] = 4;
}
K(cond_pointer)
{
    G;
    __global int *p = g < n ? o : o + 1024;
    p[g] = 1;
    p = n > 3 ? p + 4096 : p + 8192;
    p[g] = 2;
    *(m > 3 ? &o[20000 + g] : &o[24000 + g * 2]) = 3;
    if (p) p[g + 9000] = 4;
}
K(unsigned_div)
{
    G;
    uint k = g - n;
    o[k % 64] = 1;
    o[128 + k / 64 % 32] = 2;
    o[256 + (uint)(g * 3) / 2] = 3;
    uint d = u & 7;
    if (d) o[4096 + g / d] = 4;
    if (d) o[8192 + g % d + g / d * d] = 5;
}
K(morton)
{
    int x = get_global_id(0) & 15, y = get_global_id(1) & 15, z = 0;
    for (int b = 0; b < 4; b++) z |= ((x >> b) & 1) << (2 * b) | ((y >> b) & 1) << (2 * b + 1);
    o[z] = 1;
    z = (x & 1) | (y & 1) << 1 | (x & ~1) << 1;
    o[1024 + z + (y & ~1) * 64] = 2;
}
K(late_pointer)
{
    __global int *p;
    G;
    if (n > 4) p = o;
    else {
        p = o + 512;
        if (m) p += 4;
    }
    p[g] = 1;
    __global int *q[2];
    q[0] = o + 4096;
    q[1] = o + 8192;
    (g < n ? q[0] : q[1])[g] = 2;
}
K(byte_words)
{
    G;
    __global uchar *b = (__global uchar *)(o + g * 4);
    for (int k = 0; k < (n & 15); k++) b[k] = k;
    *(__global ushort *)(b + 14) = m;
    __global uint *w = (__global uint *)((__global uchar *)o + 32768 + g * 5);
    *w = 1;
    __global char3 *c = (__global char3 *)(o + 16384);
    c[g] = (char3)(1);
}
K(behind_loops)
{
    G;
    int at = g, down = 4696 + g * 9;
    for (int i = 3; i >= 0; i--) at += 16;
    o[at] = 1;
    for (int i = 0; i < (n & 7); i++) at += 8;
    o[2048 + at] = 2;
    for (uint i = (uint)n & 15; i > 3; i -= 3) down--;
    o[down] = 3;
    __global int *p = o + 16384 + g * 32;
    for (uint i = 0; i != (n & 7); i++) p += 2;
    *p = 4;
}
K(behind_break)
{
    G;
    int at = g;
    for (int i = 0; i < (n & 7); i++) {
        at += 8;
        if (i == (m & 3)) break;
    }
    o[at] = 1;
}
K(behind_pointer_break)
{
    G;
    __global int *p = o + g * 32;
    for (int i = 0; i < (n & 7); i++) {
        p += 2;
        if (i == (m & 3)) break;
    }
    *p = 1;
}
K(behind_two_conditions)
{
    G;
    int at = g * 8;
    for (int i = 0; i < 2 + (n & 3) && i < (m & 7); i++) at++;
    o[at] = 1;
}
K(behind_do)
{
    G;
    int at = g * 8, i = 0;
    do at++; while (++i < (n & 3));
    o[at] = 1;
}
K(behind_test)
{
    G;
    int at = g * 8, k = n & 3;
    while (k--) at++;
    o[at + k] = 1;
}
K(behind_inner)
{
    G;
    for (int i = 0; i < 3; i++) {
        int at = g * 16 + i * 2048;
        for (int k = 0; k < g % 3; k++) at++;
        for (int k = i; k < (n & 3); k++) at += 3;
        if (m == 3 && i == 1) return;
        o[at] = 1;
    }
}
