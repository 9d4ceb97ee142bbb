// Expressions that clang's interface gives no name, as it gives none to conversions: of several children, none of which
// is the value.
//! kernel index_default global 256 local 16
//! buffer uint 1024 zero
//! value uint 0
__kernel void index_default(__global uint *a, uint q)
{
    uint i = get_global_id(0);
    a[q ?: i + 300] = i;
}

//! kernel pointer_default global 256 local 16
//! buffer uint 256 zero
//! buffer uint 256 zero
//! value uint 0
__kernel void pointer_default(__global uint *a, __global uint *b, uint q)
{
    uint i = get_global_id(0);
    __global uint *p = (q ? a : 0) ?: b;
    p[i] = i;
}

//! kernel chosen global 256 local 16
//! buffer uint 1024 zero
//! value uint 0
__kernel void chosen(__global uint *a, uint q)
{
    uint i = get_global_id(0);
    a[__builtin_choose_expr(1, i + 500, q)] = i;
}

//! kernel offset_of global 256 local 16
//! buffer uint 1024 zero
__kernel void offset_of(__global uint *a)
{
    uint i = get_global_id(0);
    a[i + __builtin_offsetof(struct { int x; int y[80]; }, y[70])] = i;
}

//! kernel foreign_store global 256 local 16
//! buffer uint 1024 zero
//! expect refused whole
__kernel void foreign_store(__global uint *a)
{
    uint i = get_global_id(0);
    __atomic_store_n(&a[i + 3], i, 0);
}

//! kernel foreign_sum global 256 local 16
//! buffer uint 16 zero
//! expect refused whole
__kernel void foreign_sum(__global uint *a)
{
    __sync_fetch_and_add(&a[3], (uint)get_global_id(0));
}
