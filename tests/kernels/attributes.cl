// Attributes of kernels before and behind the declarator stay where they are.
//! kernel first global 48 local 6
//! buffer int 48 zero
//! expect hidden group
//! kernel second global 48 local 4
//! buffer int 48 zero
//! value int 7
//! expect hidden group
//! kernel third global 48 local 8
//! buffer int 48 zero
//! expect plain
#define REQUIRED __attribute__((reqd_work_group_size(6, 1, 1)))
__kernel REQUIRED __attribute__((vec_type_hint(int4))) void first(__global int *out)
{
    out[get_global_id(0)] = (int)(get_group_id(0) + get_local_size(0));
}
__kernel void __attribute__((work_group_size_hint(4, 1, 1))) second(__global int *restrict out __attribute__((aligned(4))),
                                                                    const int by);
__kernel void __attribute__((work_group_size_hint(4, 1, 1))) second(__global int *restrict out __attribute__((aligned(4))),
                                                                    const int by)
{
    out[get_global_id(0)] = by + (int)get_num_groups(0);
}
__attribute__((reqd_work_group_size(8, 1, 1))) kernel void third(global int *out)
{
    out[get_global_id(0)] = 3;
}
