// Calls in branches of #if, taken and not, with -D and with the compiler's own macros.
//! options -DWITH_GROUPS -D FACTOR=3 -DTEXT=get_group_id
//! kernel branches global 40 local 4
//! buffer int 40 zero
//! expect hidden group
#ifdef WITH_GROUPS
int which(int a) { return (int)get_group_id(0) * FACTOR + a; }
#else
int which(int a, int b) { return (int)get_local_id(0) + a + b; }
#endif
#if __OPENCL_VERSION__ >= 110 && defined(__OPENCL_C_VERSION__)
#define START (int)get_global_offset(0)
#else
#define START 0
#endif
#if 0
this is not even OpenCL C, isn't it
#elif FACTOR == 3
#define CHOSEN(x) which(x)
#else
#define CHOSEN(x) which(x, 1)
#endif
__kernel void branches(__global int *out
#ifdef NEVER_DEFINED
                       , __global int *more
#endif
)
{
    int i = (int)get_global_id(0);
    out[i] = CHOSEN(i) + START
#ifdef cl_khr_fp64
             + (int)TEXT(0)
#else
             + (int)get_num_groups(0)
#endif
        ;
}
