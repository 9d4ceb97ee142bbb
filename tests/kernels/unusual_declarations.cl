// Declarations that are written in less usual ways.
//! kernel unusual global 32 local 4
//! buffer int 64 zero
//! expect hidden group
#define ATTR __attribute__((always_inline))
#define PARAMS (int a, int b)
#define FUNCTION(name, params) int name params
#define KERNEL kernel
#define NOTHING
ATTR int first(int a) { return a + (int)get_group_id(0); }
int second(int) ATTR;
int second(int a) { return first(a) + 1; }
FUNCTION(third, (int a, int b)) { return first(a) + b; }
int (fourth)(int a) { return second(a); }
int2 fifth(int2 v, float4 w[2]) { return v + (int2)(first(v.x), (int)w[1].y); }
const __global int *sixth(const __global int *p, const int by) { return p + by * (int)(get_group_id(0) * 0 + 1); }
int NOTHING seventh NOTHING (int a) NOTHING { return first(a); }
KERNEL void unusual(global int *restrict out);
KERNEL void unusual(global int *restrict out)
{
    float4 w[2] = {(float4)(1, 2, 3, 4), (float4)(5, 6, 7, 8)};
    int i = (int)get_global_id(0);
    int2 v = fifth((int2)(i, 3), w);
    out[2 * i] = first(second(third(i, fourth(2)))) + v.x;
    out[2 * i + 1] = v.y + (int)(sixth(out, 3) - out) + seventh(first(first(1)));
}
