// Branches by what the device's compiler defines: the translator must have taken the same ones.
//! kernel macros global 16 local 4
//! buffer int 64 zero
//! expect hidden
__kernel void macros(__global int *out)
{
    int v = (int)get_global_size(0);
#if __OPENCL_VERSION__ >= 200 && __OPENCL_C_VERSION__ >= 200
    v += 1;
#endif
#ifdef __NV_CL_C_VERSION
    v += __NV_CL_C_VERSION;
#elif defined(POCL_DEVICE_ADDRESS_BITS)
    v += POCL_DEVICE_ADDRESS_BITS;
#endif
#ifdef cl_khr_fp64
    v += 4;
#endif
#if defined(cl_khr_fp16) || defined(cl_amd_fp64) || defined(cl_intel_subgroups)
    v += 8;
#endif
#ifndef __IMAGE_SUPPORT__
    v += 16;
#endif
#if defined(__ENDIAN_LITTLE__) && __ENDIAN_LITTLE__ == 1
    v += 32;
#endif
#ifdef __opencl_c_generic_address_space
    v += 64;
#endif
#ifdef __opencl_c_fp64
    v += 128;
#endif
    out[get_global_id(0)] = v;
}
