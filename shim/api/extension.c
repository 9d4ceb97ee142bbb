/* SPDX-License-Identifier: MIT */
/* Where else an application gets function addresses from: clGetExtensionFunctionAddress*, and the loader's layers. */
#include "shim/api/api.h"
#include "common/reasons.h"

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

/* The function's address as data, as dlsym gives it: allowed by POSIX, not by ISO C. */
static void *as_pointer(void (*function)(void))
{
    void *p;
    memcpy(&p, &function, sizeof p);
    return p;
}

/* Our own function of that name; NULL: none. */
static void *own_function(const char *name)
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
 *
 * Asking for one has no effect, since loaders ask for all. Once one is called, its context's bytes stay at home. */

enum by_extension {
    CREATE_COMMANDS,
    ENQUEUE_COMMANDS,
    SET_POINTER_INTEL,
    SET_POINTER_ARM,
    SET_POINTER_EXT,
    BY_EXTENSION
};
static struct {
    void *_Atomic theirs[BY_EXTENSION]; /* the driver's functions, once they have been asked for */
    struct _cl_icd_dispatch layer;      /* ours, where this library is a layer */
} extensions;

/* Command buffers keep kernels with the memory objects of the first device, and are replayed past us. */
static void *CL_API_CALL create_commands(cl_uint n, const cl_command_queue *queues, const void *properties, cl_int *err)
{
    void *(CL_API_CALL * real)(cl_uint, const cl_command_queue *, const void *, cl_int *);
    void *const theirs = atomic_load(&extensions.theirs[CREATE_COMMANDS]);
    memcpy(&real, &theirs, sizeof real);
    for (cl_uint i = 0; queues && i < n; i++) {
        struct gs_queue *q = gs_find(GS_QUEUE, queues[i]);
        if (q && !gs_given_up(q->o.ctx))
            gs_give_up_context(q->o.ctx, GS_R_COMMAND_BUFFERS);
    }
    return real(n, queues, properties, err);
}

static cl_int CL_API_CALL enqueue_commands(cl_uint n, cl_command_queue *queues, void *commands, cl_uint n_wait,
                                           const cl_event *wait, cl_event *event)
{
    cl_int(CL_API_CALL * real)(cl_uint, cl_command_queue *, void *, cl_uint, const cl_event *, cl_event *);
    void *const theirs = atomic_load(&extensions.theirs[ENQUEUE_COMMANDS]);
    memcpy(&real, &theirs, sizeof real);
    gs_touch_given_up();
    return real(n, queues, commands, n_wait, wait, event);
}

/* By an address in shared memory, or one of a memory object. */
static cl_int set_pointer(enum by_extension which, cl_kernel kernel, cl_uint i, uint64_t address)
{
    cl_int(CL_API_CALL * real)(cl_kernel, cl_uint, uint64_t);
    void *const theirs = atomic_load(&extensions.theirs[which]);
    memcpy(&real, &theirs, sizeof real);
    struct gs_kernel *k = gs_find(GS_KERNEL, kernel);
    if (k && !gs_given_up(k->o.ctx))
        gs_give_up_context(k->o.ctx, GS_R_POINTER_BY_EXTENSION);
    return real(kernel, i, address);
}
static cl_int CL_API_CALL set_pointer_intel(cl_kernel kernel, cl_uint i, const void *address)
{
    return set_pointer(SET_POINTER_INTEL, kernel, i, (uintptr_t)address);
}
static cl_int CL_API_CALL set_pointer_arm(cl_kernel kernel, cl_uint i, const void *address)
{
    return set_pointer(SET_POINTER_ARM, kernel, i, (uintptr_t)address);
}
static cl_int CL_API_CALL set_pointer_ext(cl_kernel kernel, cl_uint i, uint64_t address)
{
    return set_pointer(SET_POINTER_EXT, kernel, i, address);
}

static const struct {
    const char *name;
    void (*function)(void);
} by_extension[BY_EXTENSION] = {
    [CREATE_COMMANDS] = {"clCreateCommandBufferKHR", (void (*)(void))create_commands},
    [ENQUEUE_COMMANDS] = {"clEnqueueCommandBufferKHR", (void (*)(void))enqueue_commands},
    [SET_POINTER_INTEL] = {"clSetKernelArgMemPointerINTEL", (void (*)(void))set_pointer_intel},
    [SET_POINTER_ARM] = {"clSetKernelArgSVMPointerARM", (void (*)(void))set_pointer_arm},
    [SET_POINTER_EXT] = {"clSetKernelArgDevicePointerEXT", (void (*)(void))set_pointer_ext},
};

/* Our function to hand out for the driver's; NULL: none. */
static void *watched(void *theirs, const char *name)
{
    for (int i = 0; i < BY_EXTENSION; i++) {
        void *known = NULL;
        if (strcmp(by_extension[i].name, name) != 0)
            continue;
        if (atomic_compare_exchange_strong(&extensions.theirs[i], &known, theirs) || known == theirs)
            return as_pointer(by_extension[i].function);
        return gs_stand_in(theirs, GS_R_TWO_PLATFORMS);
    }
    return NULL;
}

/* Does the name begin like functions that neither set a kernel's argument nor touch bytes that we follow? Such
 * functions ask or count; make objects unknown to us, whose launches stay whole; or are about other APIs' objects,
 * shared virtual memory, semaphores, or a finished command buffer. From the Khronos registry. */
static bool is_harmless(const char *name)
{
    static const char begin[] =
        "clGet clRetain clRelease clIcd clLogMessages clTerminateContext clSetMemObjectDestructor clSetPerfHint "
        "clCreateAccelerator clCreateBufferNV clCreateBufferWithProperties clCreateEventFrom clCreateFrom "
        "clCreateProgramWith clCreateSemaphore clCreateSubDevices clImportMemory clDeviceMemAlloc clHostMemAlloc "
        "clSharedMemAlloc clMemFree clMemBlockingFree clSVMAlloc clSVMFree clEnqueueAcquire clEnqueueRelease "
        "clEnqueueMem clEnqueueMigrateMem clEnqueueSVM clEnqueueSignalSemaphores clEnqueueWaitSemaphores "
        "clCommand clFinalizeCommandBuffer clRemapCommandBuffer clUpdateMutableCommands ";
    for (const char *at = begin; *at; at += strcspn(at, " ") + 1)
        if (strncmp(name, at, strcspn(at, " ")) == 0)
            return true;
    return false;
}

/* Ours in the place of the driver's, where the driver has one. */
static void *replace(void *theirs, const char *name)
{
    void *ours = theirs ? own_function(name) : NULL;
    if (!ours && gs_settings()->pooled) /* extensions reach past the stand-ins */
        return NULL;
    if (theirs && !ours)
        ours = watched(theirs, name);
    if (theirs && !ours && !is_harmless(name))
        ours = gs_stand_in(theirs, GS_R_UNKNOWN_FUNCTION);
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
        return gs_query_value(&version, sizeof version, param_value_size, param_value, param_value_size_ret);
    if (param_name == CL_LAYER_NAME)
        return gs_query_value(name, sizeof name, param_value_size, param_value, param_value_size_ret);
    return CL_INVALID_VALUE;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint num_entries, const cl_icd_dispatch *target_dispatch,
                                            cl_uint *num_entries_ret, const cl_icd_dispatch **layer_dispatch_ret)
{
    struct _cl_icd_dispatch *table = &extensions.layer;
    const cl_uint most = sizeof *table / sizeof(void *);
    if (!target_dispatch || !num_entries_ret || !layer_dispatch_ret)
        return CL_INVALID_VALUE;
    memcpy(table, target_dispatch, (num_entries < most ? num_entries : most) * sizeof(void *));
    /* False: the shim is preloaded too, and calls come through us already; the layer's table stays the driver's. */
    if (gs_real_use(target_dispatch, num_entries))
        for (size_t i = 0; i < sizeof own / sizeof *own; i++)
            if (own[i].offset < num_entries * sizeof(void *))
                memcpy((char *)table + own[i].offset, &own[i].function, sizeof own[i].function);
    *num_entries_ret = num_entries < most ? num_entries : most;
    *layer_dispatch_ret = table;
    return CL_SUCCESS;
}
