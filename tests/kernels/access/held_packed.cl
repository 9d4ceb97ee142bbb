// Words that lie across words: nothing is asked of them.
//! kernel k
//! global 64
//! local 8
//! buffer int 64 zero
//! buffer uchar 320 random 20
//! buffer int 64 random 9
struct __attribute__((packed)) entry {
    uchar tag;
    uint index;
};
__kernel void k(__global int *out, __global const struct entry *entries, __global const int *value)
{
    const int i = get_global_id(0);
    out[i] = value[entries[i].index & 63] + value[entries[i].tag];
}
