// Work-groups that wait for each other: split, they might wait forever.
//! kernel wait_for_flag global 64 local 8
//! buffer uint 2 zero
//! buffer uint 64 zero
//! expect refused whole together
//! kernel wait_by_atomic global 64 local 8
//! buffer uint 2 zero
//! buffer uint 64 zero
//! expect refused whole together
//! kernel spin_lock global 64 local 8
//! buffer int 1 zero
//! buffer uint 64 zero
//! expect refused whole together
//! kernel global_barrier global 2 local 2
//! buffer int 1 zero
//! buffer uint 64 zero
//! expect refused whole together
void lock(volatile __global int *latch)
{
    while (atomic_cmpxchg(latch, 0, 1) != 0)
        ;
}
void unlock(volatile __global int *latch)
{
    atomic_xchg(latch, 0);
}
int is_set(volatile __global uint *flag)
{
    return *flag != 0;
}
__kernel void wait_for_flag(__global uint *flag, __global uint *out)
{
    if (get_global_id(0) == 0)
        *(volatile __global uint *)flag = 1;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    while (!is_set(flag))
        ;
    out[get_global_id(0)] = 1;
}
__kernel void wait_by_atomic(__global uint *flag, __global uint *out)
{
    uint seen;
    if (get_global_id(0) == 0)
        atomic_or(flag, 1u);
    do {
        seen = atomic_add(flag, 0u);
    } while (seen == 0);
    out[get_global_id(0)] = seen;
}
__kernel void spin_lock(__global int *latch, __global uint *out)
{
    lock(latch);
    out[get_global_id(0)] += 1;
    unlock(latch);
}
__kernel void global_barrier(__global int *arrived, __global uint *out)
{
    if (get_local_id(0) == 0) {
        atomic_inc(arrived);
        for (;;)
            if (atomic_or(arrived, 0) >= (int)get_num_groups(0))
                break;
    }
    out[get_global_id(0)] = 1;
}
