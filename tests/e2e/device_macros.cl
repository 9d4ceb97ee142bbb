// Macros that the translator's clang defines by itself and the device's compiler may not, or otherwise; and the reverse.
//! kernel macros global 16 local 4
//! buffer int 64 zero
//! expect hidden
__kernel void macros(__global int *out)
{
    int v = (int)get_global_size(0);
#ifdef __opencl_c_ext_fp32_global_atomic_add
    v += 1;
#endif
#if defined(cl_ext_float_atomics) || defined(cl_khr_subgroup_ballot)
    v += 2;
#endif
#if defined(cl_khr_integer_dot_product) && defined(cl_khr_extended_bit_ops)
    v += 4;
#endif
#if defined(__SPIR__) || defined(__SPIR64__) || defined(__SPIRV__)
    v += 8;
#endif
#if defined(__clang_major__) && __clang_major__ >= 19
    v += 16;
#elif defined(__clang_major__)
    v += __clang_major__ * 64;
#endif
#ifdef __x86_64__
    v += 32;
#endif
#if defined(__linux__) || defined(__aarch64__) || defined(__NVPTX__) || defined(__AMDGCN__)
    v += 64;
#endif
#if defined(__GNUC__) && __GNUC__ > 3
    v += 128;
#endif
#ifdef __opencl_c_subgroups
    v += 256;
#endif
    out[get_global_id(0)] = v;
}
