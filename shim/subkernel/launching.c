/* SPDX-License-Identifier: MIT */
#include "shim/subkernel/launching.h"

#include "shim/memory/coherence.h"

cl_int gs_launch_args(struct gs_launching *l, cl_kernel kernel, unsigned place)
{
    cl_int err = CL_SUCCESS;
    for (cl_uint i = 0; i < l->k->n_args && !err; i++) {
        const struct gs_arg *a = &l->k->args[i];
        cl_mem mem = l->mems[i] ? gs_replica_of(l->mems[i], place, &err) : NULL;
        if (!err && a->is_svm)
            err = gs_real()->clSetKernelArgSVMPointer(kernel, i, *(void **)a->bytes);
        else if (!err)
            err = gs_real()->clSetKernelArg(kernel, i, a->size, l->mems[i] ? &mem : a->has_value ? a->bytes : NULL);
    }
    return err;
}
