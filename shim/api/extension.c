/* SPDX-License-Identifier: MIT */
/* Where else an application gets function addresses from: clGetExtensionFunctionAddress*, and the loader's layers. */
#include "shim/api/api.h"

/* All of our functions under their names. */
static const struct {
    const char *name;
    void (*function)(void);
    size_t offset;
} own[] = {
#define GS_FUNCTION(name, version) {#name, (void (*)(void))name, offsetof(struct _cl_icd_dispatch, name)},
#include "functions.inc"
#undef GS_FUNCTION
};

/* Extensions that became core functions with the same parameters. */
static const struct {
    const char *name, *core;
} aliases[] = {
    {"clCreateCommandQueueWithPropertiesKHR", "clCreateCommandQueueWithProperties"},
    {"clCreateProgramWithILKHR", "clCreateProgramWithIL"},
};

/* The address as dlsym and its like give it: POSIX says that the two are alike, ISO C doesn't. */
static void *as_pointer(void (*function)(void))
{
    void *p;
    memcpy(&p, &function, sizeof p);
    return p;
}

void *gs_own_function(const char *name)
{
    for (size_t i = 0; name && i < sizeof aliases / sizeof *aliases; i++)
        if (strcmp(aliases[i].name, name) == 0)
            name = aliases[i].core;
    for (size_t i = 0; name && i < sizeof own / sizeof *own; i++)
        if (strcmp(own[i].name, name) == 0)
            return as_pointer(own[i].function);
    return NULL;
}

/* Ours in the place of the driver's, where the driver has one. */
static void *replace(void *theirs, const char *name)
{
    void *ours = theirs ? gs_own_function(name) : NULL;
    /* Command buffers keep kernels with the memory objects of the first device, and are replayed past us. */
    if (theirs && !ours && (strncmp(name, "clCommand", 9) == 0 || strncmp(name, "clCreateCommandBuffer", 21) == 0))
        gs_give_up("the application uses command buffers");
    /* By an address in shared memory, and the like. */
    if (theirs && !ours && strncmp(name, "clSetKernelArg", 14) == 0)
        gs_give_up("the application sets arguments by an extension");
    return ours ? ours : theirs;
}

CL_API_ENTRY void *CL_API_CALL clGetExtensionFunctionAddress(const char *func_name)
{
    return replace(gs_real_extension(NULL, func_name), func_name);
}

CL_API_ENTRY void *CL_API_CALL clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char *func_name)
{
    return replace(gs_real_extension(platform, func_name), func_name);
}

/* The layer interface of cl_loader_layers, version 1.0. */
CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info param_name, size_t param_value_size, void *param_value,
                                               size_t *param_value_size_ret)
{
    static const char name[] = "gpusparc";
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    if (param_name == CL_LAYER_API_VERSION)
        return gs_answer(&version, sizeof version, param_value_size, param_value, param_value_size_ret);
    if (param_name == CL_LAYER_NAME)
        return gs_answer(name, sizeof name, param_value_size, param_value, param_value_size_ret);
    return CL_INVALID_VALUE;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint num_entries, const cl_icd_dispatch *target_dispatch,
                                            cl_uint *num_entries_ret, const cl_icd_dispatch **layer_dispatch_ret)
{
    static struct _cl_icd_dispatch table;
    const cl_uint most = sizeof table / sizeof(void *);
    if (!target_dispatch || !num_entries_ret || !layer_dispatch_ret)
        return CL_INVALID_VALUE;
    memcpy(&table, target_dispatch, (num_entries < most ? num_entries : most) * sizeof(void *));
    /* Preloaded as well: the calls have come through us already, and the layer hands them on as they are. */
    if (gs_real_use(target_dispatch, num_entries))
        for (size_t i = 0; i < sizeof own / sizeof *own; i++)
            if (own[i].offset < num_entries * sizeof(void *))
                memcpy((char *)&table + own[i].offset, &own[i].function, sizeof own[i].function);
    *num_entries_ret = num_entries < most ? num_entries : most;
    *layer_dispatch_ret = &table;
    return CL_SUCCESS;
}
