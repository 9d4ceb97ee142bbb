/* SPDX-License-Identifier: MIT */
/* Where else an application gets function addresses from: clGetExtensionFunctionAddress*, and the loader's layers. */
#include "shim/api/api.h"
#include "common/reasons.h"

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

/* ---- functions of extensions that reach past us ----
 * To ask for one is nothing: loaders ask for all there are. Once one is called nothing is split any more, and all bytes
 * are at home. */

/* Why nothing is split any more once a function has been called. Null: it may be called. That is what neither sets a
 * kernel's argument nor touches the bytes of a memory object that we follow: it asks or counts; makes what we don't
 * know, whose launches stay whole; or is about objects of other APIs, shared virtual memory, semaphores, or a command
 * buffer that has been made. By the Khronos registry. */
static const char *why_given_up(const char *name)
{
    /* Command buffers keep kernels with the memory objects of the first device, and are replayed past us. */
    static const char commands[] = GS_R_COMMAND_BUFFERS, pointer[] = GS_R_POINTER_BY_EXTENSION;
    static const struct {
        const char *begin, *reason;
    } known[] = {{"clCreateCommandBuffer", commands},
                 {"clEnqueueCommandBuffer", commands},
                 {"clSetKernelArgMemPointer", pointer},
                 {"clSetKernelArgSVMPointer", pointer},
                 {"clSetKernelArgDevicePointer", pointer}};
    static const char *const harmless[] = {"clGet",
                                           "clRetain",
                                           "clRelease",
                                           "clIcd",
                                           "clLogMessages",
                                           "clTerminateContext",
                                           "clSetMemObjectDestructor",
                                           "clSetPerfHint",
                                           "clCreate",
                                           "clImportMemory",
                                           "clDeviceMemAlloc",
                                           "clHostMemAlloc",
                                           "clSharedMemAlloc",
                                           "clMem",
                                           "clSVM",
                                           "clEnqueueAcquire",
                                           "clEnqueueRelease",
                                           "clEnqueueMem",
                                           "clEnqueueMigrateMem",
                                           "clEnqueueSVM",
                                           "clEnqueueSignalSemaphores",
                                           "clEnqueueWaitSemaphores",
                                           "clCommand",
                                           "clFinalizeCommandBuffer",
                                           "clRemapCommandBuffer",
                                           "clUpdateMutableCommands"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(name, known[i].begin, strlen(known[i].begin)) == 0)
            return known[i].reason;
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (strncmp(name, harmless[i], strlen(harmless[i])) == 0)
            return NULL;
    return GS_R_UNKNOWN_FUNCTION;
}

/* Ours in the place of the driver's, where the driver has one. */
static void *replace(void *theirs, const char *name)
{
    void *ours = theirs ? gs_own_function(name) : NULL;
    if (!ours && gs_settings()->pooled) /* extensions reach past the stand-ins */
        return NULL;
    const char *reason = theirs && !ours ? why_given_up(name) : NULL;
    return ours ? ours : reason ? gs_stand_in(theirs, reason) : theirs;
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
        return gs_query_value(&version, sizeof version, param_value_size, param_value, param_value_size_ret);
    if (param_name == CL_LAYER_NAME)
        return gs_query_value(name, sizeof name, param_value_size, param_value, param_value_size_ret);
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
