// Functions of one name for several types.
//! kernel overloads global 32 local 4
//! buffer float 64 zero
//! expect hidden group
__attribute__((overloadable)) float pick(float a) { return a + (float)get_group_id(0); }
__attribute__((overloadable)) float pick(int a) { return (float)a * 2.0f; }
float __attribute__((overloadable)) pick(float a, int b);
float __attribute__((overloadable)) pick(float a, int b) { return pick(a) + pick(b); }
__kernel void overloads(__global float *out)
{
    int i = (int)get_global_id(0);
    out[2 * i] = pick((float)i);
    out[2 * i + 1] = pick((float)i, i) + pick(i);
}
