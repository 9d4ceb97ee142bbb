/* SPDX-License-Identifier: MIT */
#include "shim/plan/part_kernel.h"

/* Of the place's program, or the one of all. */
static cl_kernel make_kernel(const struct gs_kernel *k, unsigned place, cl_int *err)
{
    const cl_program *of = k->program->translated;
    return gs_real()->clCreateKernel(of[of[place] ? place : 0], k->name, err);
}

cl_kernel gs_part_kernel(struct gs_kernel *k, unsigned p, cl_int *err)
{
    *err = CL_SUCCESS;
    if (!k->part[p])
        k->part[p] = make_kernel(k, p, err);
    return k->part[p];
}

cl_kernel gs_spare_kernel(struct gs_kernel *k, unsigned place, cl_int *err)
{
    cl_kernel found = atomic_exchange(&k->spare[place], NULL);
    *err = CL_SUCCESS;
    return found ? found : make_kernel(k, place, err);
}

void gs_spare_kernel_give(struct gs_kernel *k, unsigned place, cl_kernel spare)
{
    const cl_kernel old = atomic_exchange(&k->spare[place], spare);
    if (old)
        gs_real()->clReleaseKernel(old);
}
