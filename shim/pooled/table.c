/* SPDX-License-Identifier: MIT */
/* What lies before the driver's functions where memory is pooled: for calls that are handed on (docs/memory.md). */
#include "shim/pooled/commands.h"
#include "shim/driver/upward.h"

static struct _cl_icd_dispatch below;

static cl_int CL_API_CALL finish(cl_command_queue queue)
{
    const cl_int err = below.clFinish(queue), own = gs_pool_finish(queue);
    return err ? err : own;
}

static cl_int CL_API_CALL image_info(cl_mem image, cl_image_info what, size_t space, void *value, size_t *size_ret)
{
    const struct gs_mem *m = gs_find(GS_MEM, image);
    const cl_int err =
        m && m->root->pool && m->image ? gs_pool_image_info(m, what, space, value, size_ret) : GS_POOL_ASK;
    return err == GS_POOL_ASK ? below.clGetImageInfo(image, what, space, value, size_ret) : err;
}

/* Shared virtual memory, pipes, and sharing with other libraries: older libraries have null entries, too. */
static void leave_out(struct _cl_icd_dispatch *table)
{
    static const char *const words[] = {"SVM", "KernelExecInfo", "CreatePipe", "GL", "EGL", "D3D", "DX9"};
    for (size_t i = 0; gs_real_functions[i].name; i++)
        for (size_t w = 0; w < sizeof words / sizeof *words; w++)
            if (strstr(gs_real_functions[i].name, words[w]))
                memset((char *)table + gs_real_functions[i].offset, 0, sizeof(void *));
}

static void install(struct _cl_icd_dispatch *table)
{
    if (!gs_settings()->pooled)
        return;
    below = *table;
    leave_out(table);
    table->clFinish = finish;
    table->clGetImageInfo = image_info;
}

const struct gs_above_pool gs_above_pool = {.loaded = install, .takes = gs_pool_takes, .enqueue = gs_pool_enqueue};
