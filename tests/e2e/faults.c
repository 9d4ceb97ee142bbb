/* SPDX-License-Identifier: MIT */
/* A layer of the OpenCL loader below gpusparc that lets calls of the driver fail, as FAULT says:
 *
 *   FUNCTION:N:CODE          the N-th call returns CODE and does nothing
 *   FUNCTION:N:CODE:forever  so do all calls of it from the N-th on
 *   FUNCTION:N:CODE:lost     so do all calls of any function that makes or enqueues something from then on
 *   FUNCTION:N:CODE:late     the N-th call is accepted, and the command ends with CODE a little later
 *
 * FAULT_COUNTS names a file that gets `FUNCTION COUNT` lines at the end of the process: what there is to fail. */
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl_icd.h>
#include <CL/cl_layer.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_FUNCTIONS = 256, MOST_WAITS = 512, LATE_NS = 3000000 };
enum kind { ONCE, FOREVER, LOST, LATE };

static struct _cl_icd_dispatch below;
static atomic_uint calls[MOST_FUNCTIONS];
static atomic_bool lost;
static struct {
    int function; /* -1: none */
    unsigned n;
    cl_int code;
    enum kind kind;
} fault = {.function = -1};
static _Thread_local cl_int late_code; /* of the command that is about to be enqueued */

/* What becomes of a command that is to fail while it runs: it waits for an event that gets an error. */
struct fault_late {
    cl_event gate;
    cl_int code;
    cl_event waits[MOST_WAITS];
};

static cl_int fault_now(int function, int is_command);
static void fault_late_begin(struct fault_late *late, cl_command_queue queue, cl_uint *n, const cl_event **wait);
static void fault_late_end(struct fault_late *late);

#include "faults.inc"

static cl_int fault_now(int function, int is_command)
{
    const unsigned call = atomic_fetch_add(&calls[function], 1) + 1;
    const char *name = fault_names[function];
    late_code = CL_SUCCESS;
    if (atomic_load(&lost) && (strncmp(name, "clEnqueue", 9) == 0 || strncmp(name, "clCreate", 8) == 0 ||
                               strcmp(name, "clFinish") == 0 || strcmp(name, "clFlush") == 0))
        return fault.code;
    if (function != fault.function || call < fault.n || (call > fault.n && fault.kind != FOREVER))
        return CL_SUCCESS;
    if (fault.kind == LATE) {
        late_code = is_command ? fault.code : CL_SUCCESS;
        return CL_SUCCESS;
    }
    if (fault.kind == LOST)
        atomic_store(&lost, 1);
    return fault.code;
}

static void fault_late_begin(struct fault_late *late, cl_command_queue queue, cl_uint *n, const cl_event **wait)
{
    cl_context context;
    cl_int err;
    late->gate = NULL;
    late->code = late_code;
    late_code = CL_SUCCESS;
    if (!late->code || *n + 1 > MOST_WAITS ||
        below.clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL) != CL_SUCCESS)
        return;
    late->gate = below.clCreateUserEvent(context, &err);
    if (err)
        return;
    for (cl_uint i = 0; i < *n; i++)
        late->waits[i] = (*wait)[i];
    late->waits[(*n)++] = late->gate;
    *wait = late->waits;
}

struct gate {
    cl_event event;
    cl_int code;
};

static void *fail_later(void *arg)
{
    const struct timespec a_little = {0, LATE_NS};
    struct gate *g = arg;
    nanosleep(&a_little, NULL);
    below.clSetUserEventStatus(g->event, g->code);
    below.clReleaseEvent(g->event);
    free(g);
    return NULL;
}

/* The command waits now. (A call that blocks is let fail from the start: nobody could fail it later.) */
static void fault_late_end(struct fault_late *late)
{
    pthread_t thread;
    struct gate *g = late->gate ? malloc(sizeof *g) : NULL;
    if (!g)
        return;
    *g = (struct gate){late->gate, late->code};
    if (pthread_create(&thread, NULL, fail_later, g) == 0)
        pthread_detach(thread);
    else
        fail_later(g);
}

static void write_counts(void)
{
    const char *path = getenv("FAULT_COUNTS");
    FILE *f = path ? fopen(path, "w") : NULL;
    for (size_t i = 0; f && i < sizeof fault_names / sizeof *fault_names; i++)
        if (calls[i])
            fprintf(f, "%s %u\n", fault_names[i], calls[i]);
    if (f)
        fclose(f);
}

static void read_fault(const char *text)
{
    char name[64], kind[16] = "";
    int code;
    if (!text || sscanf(text, "%63[^:]:%u:%d:%15s", name, &fault.n, &code, kind) < 3)
        return;
    fault.code = code;
    fault.kind = strcmp(kind, "forever") == 0 ? FOREVER
                 : strcmp(kind, "lost") == 0  ? LOST
                 : strcmp(kind, "late") == 0  ? LATE
                                              : ONCE;
    for (size_t i = 0; i < sizeof fault_names / sizeof *fault_names; i++)
        if (strcmp(fault_names[i], name) == 0)
            fault.function = (int)i;
}

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info param_name, size_t param_value_size, void *param_value,
                                               size_t *param_value_size_ret)
{
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    if (param_name != CL_LAYER_API_VERSION || (param_value && param_value_size < sizeof version))
        return CL_INVALID_VALUE;
    if (param_value)
        memcpy(param_value, &version, sizeof version);
    if (param_value_size_ret)
        *param_value_size_ret = sizeof version;
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint num_entries, const cl_icd_dispatch *target_dispatch,
                                            cl_uint *num_entries_ret, const cl_icd_dispatch **layer_dispatch_ret)
{
    static struct _cl_icd_dispatch table;
    const cl_uint most = sizeof table / sizeof(void *);
    if (!target_dispatch || !num_entries_ret || !layer_dispatch_ret)
        return CL_INVALID_VALUE;
    memcpy(&below, target_dispatch, (num_entries < most ? num_entries : most) * sizeof(void *));
    table = below;
    read_fault(getenv("FAULT"));
    fault_install(&table);
    atexit(write_counts);
    *num_entries_ret = num_entries < most ? num_entries : most;
    *layer_dispatch_ret = &table;
    return CL_SUCCESS;
}
