/* SPDX-License-Identifier: MIT */
/* A layer between gpusparc and the driver that shows each device AS_DEVICES times (2): on a machine with one GPU it is
 * seen that parts, transfers and merges come to the right bytes with that GPU's driver, and what they take of the host.
 * The copies' commands wait for each other, so no time gained by several GPUs is seen, nor does memory grow.
 * A context, queue or program of copies is the driver's of their device, and says that it is of the copies. */
#include "layer.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

enum { MOST = 16, MOST_HANDLES = 1 << 14 };

/* A copy begins as all handles do, with the driver's functions. */
static struct copy {
    void *dispatch;
    cl_device_id of;
} copies[MOST];
static unsigned n_copies;

/* Which devices a context, a queue or a program has been made with; none for handles that are unknown here. A handle is
 * never forgotten: a later one at its address takes its row. */
struct devices {
    cl_uint n;
    cl_device_id list[MOST];
};
static struct {
    void *handle;
    struct devices devices;
} made[MOST_HANDLES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static cl_device_id real_of(cl_device_id device)
{
    const struct copy *copy = (const struct copy *)(void *)device;
    return copy >= copies && copy < copies + MOST ? copy->of : device;
}

static size_t row_of(const void *handle)
{
    size_t i = ((uintptr_t)handle >> 4) % MOST_HANDLES;
    while (made[i].handle && made[i].handle != handle)
        i = (i + 1) % MOST_HANDLES;
    return i;
}

static void note(void *handle, cl_uint n, const cl_device_id *list)
{
    pthread_mutex_lock(&lock);
    const size_t i = row_of(handle);
    made[i].handle = handle;
    made[i].devices.n = n < MOST ? n : MOST;
    memcpy(made[i].devices.list, list, made[i].devices.n * sizeof *list);
    pthread_mutex_unlock(&lock);
}

static struct devices devices_of(const void *handle)
{
    pthread_mutex_lock(&lock);
    const struct devices devices = made[row_of(handle)].devices;
    pthread_mutex_unlock(&lock);
    return devices;
}

/* The devices that a list is of, each once; to is as long as the list. */
static cl_uint once(cl_uint n, const cl_device_id *list, cl_device_id *to)
{
    cl_uint k = 0;
    for (cl_uint i = 0; i < n; i++) {
        const cl_device_id device = real_of(list[i]);
        cl_uint j = 0;
        while (j < k && to[j] != device)
            j++;
        to[j] = device;
        k = j == k ? k + 1 : k;
    }
    return k;
}

static cl_device_id copy_of(cl_device_id device, unsigned number)
{
    unsigned i = 0;
    pthread_mutex_lock(&lock);
    for (unsigned before = 0; i < n_copies; i++)
        if (copies[i].of == device && ++before == number)
            break;
    if (i == n_copies && i < MOST)
        copies[n_copies++] = (struct copy){.dispatch = *(void **)(void *)device, .of = device};
    pthread_mutex_unlock(&lock);
    return i < MOST ? (cl_device_id)(void *)&copies[i] : NULL;
}

static cl_int CL_API_CALL device_ids(cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id *devices,
                                     cl_uint *number)
{
    const char *asked = getenv("AS_DEVICES");
    const unsigned times = asked ? (unsigned)strtoul(asked, NULL, 10) : 2;
    cl_device_id there[MOST];
    cl_uint n = 0;
    if ((devices && !room) || (!devices && !number))
        return CL_INVALID_VALUE;
    const cl_int err = below.clGetDeviceIDs(platform, type, MOST, there, &n);
    if (err || n * times > MOST)
        return err ? err : CL_OUT_OF_HOST_MEMORY;
    for (cl_uint i = 0; i < n * times && devices && i < room; i++)
        devices[i] = i % times ? copy_of(there[i / times], i % times) : there[i / times];
    if (number)
        *number = n * times;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info what, size_t room, void *value, size_t *size)
{
    return below.clGetDeviceInfo(real_of(device), what, room, value, size);
}

static cl_int CL_API_CALL retain(cl_device_id device)
{
    return below.clRetainDevice(real_of(device));
}

static cl_int CL_API_CALL release(cl_device_id device)
{
    return below.clReleaseDevice(real_of(device));
}

static cl_int CL_API_CALL sub_devices(cl_device_id device, const cl_device_partition_property *how, cl_uint room,
                                      cl_device_id *devices, cl_uint *number)
{
    return below.clCreateSubDevices(real_of(device), how, room, devices, number);
}

static cl_int CL_API_CALL both_timers(cl_device_id device, cl_ulong *of_device, cl_ulong *of_host)
{
    return below.clGetDeviceAndHostTimer(real_of(device), of_device, of_host);
}

static cl_int CL_API_CALL host_timer(cl_device_id device, cl_ulong *of_host)
{
    return below.clGetHostTimer(real_of(device), of_host);
}

static cl_context CL_API_CALL context(const cl_context_properties *properties, cl_uint n, const cl_device_id *list,
                                      void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user,
                                      cl_int *err)
{
    cl_device_id of[MOST];
    if (n > MOST || !list)
        return below.clCreateContext(properties, n, list, notify, user, err);
    cl_context created = below.clCreateContext(properties, once(n, list, of), of, notify, user, err);
    if (created)
        note(created, n, list);
    return created;
}

static cl_context CL_API_CALL context_of_type(const cl_context_properties *properties, cl_device_type type,
                                              void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
                                              void *user, cl_int *err)
{
    cl_context created = below.clCreateContextFromType(properties, type, notify, user, err);
    if (created)
        note(created, 0, NULL);
    return created;
}

static cl_int CL_API_CALL context_info(cl_context of, cl_context_info what, size_t room, void *value, size_t *size)
{
    const struct devices devices = devices_of(of);
    if (devices.n > 0 && what == CL_CONTEXT_NUM_DEVICES)
        return answer(&devices.n, sizeof devices.n, room, value, size);
    if (devices.n > 0 && what == CL_CONTEXT_DEVICES)
        return answer(devices.list, devices.n * sizeof *devices.list, room, value, size);
    return below.clGetContextInfo(of, what, room, value, size);
}

static cl_command_queue CL_API_CALL queue(cl_context in, cl_device_id device, cl_command_queue_properties how,
                                          cl_int *err)
{
    cl_command_queue created = below.clCreateCommandQueue(in, real_of(device), how, err);
    if (created)
        note(created, 1, &device);
    return created;
}

static cl_command_queue CL_API_CALL queue_with(cl_context in, cl_device_id device, const cl_queue_properties *how,
                                               cl_int *err)
{
    cl_command_queue created = below.clCreateCommandQueueWithProperties(in, real_of(device), how, err);
    if (created)
        note(created, 1, &device);
    return created;
}

static cl_int CL_API_CALL queue_info(cl_command_queue of, cl_command_queue_info what, size_t room, void *value,
                                     size_t *size)
{
    const struct devices devices = devices_of(of);
    if (devices.n > 0 && what == CL_QUEUE_DEVICE)
        return answer(devices.list, sizeof *devices.list, room, value, size);
    return below.clGetCommandQueueInfo(of, what, room, value, size);
}

static cl_int CL_API_CALL default_queue(cl_context in, cl_device_id device, cl_command_queue with)
{
    return below.clSetDefaultDeviceCommandQueue(in, real_of(device), with);
}

static cl_program CL_API_CALL program_of_source(cl_context in, cl_uint n, const char **texts, const size_t *lengths,
                                                cl_int *err)
{
    cl_program created = below.clCreateProgramWithSource(in, n, texts, lengths, err);
    const struct devices devices = devices_of(in);
    if (created)
        note(created, devices.n, devices.list);
    return created;
}

static cl_program CL_API_CALL program_of_binary(cl_context in, cl_uint n, const cl_device_id *list,
                                                const size_t *lengths, const unsigned char **binaries, cl_int *status,
                                                cl_int *err)
{
    cl_device_id of[MOST];
    size_t lengths_once[MOST];
    const unsigned char *binaries_once[MOST];
    cl_int status_once[MOST] = {0};
    if (n > MOST || !list || !lengths || !binaries)
        return below.clCreateProgramWithBinary(in, n, list, lengths, binaries, status, err);
    const cl_uint k = once(n, list, of);
    for (cl_uint i = n; i-- > 0;) { /* the first copy's binary */
        cl_uint j = 0;
        while (of[j] != real_of(list[i]))
            j++;
        lengths_once[j] = lengths[i];
        binaries_once[j] = binaries[i];
    }
    cl_program created =
        below.clCreateProgramWithBinary(in, k, of, lengths_once, binaries_once, status ? status_once : NULL, err);
    for (cl_uint i = 0; i < n && status; i++)
        for (cl_uint j = 0; j < k; j++)
            if (of[j] == real_of(list[i]))
                status[i] = status_once[j];
    if (created)
        note(created, n, list);
    return created;
}

/* What is said for each of a program's devices is what the driver says of the one that a copy is of. */
static cl_int CL_API_CALL program_info(cl_program of, cl_program_info what, size_t room, void *value, size_t *size)
{
    const struct devices devices = devices_of(of);
    cl_device_id list[MOST];
    size_t sizes[MOST];
    unsigned char *binaries[MOST] = {NULL};
    const bool for_each = what == CL_PROGRAM_BINARY_SIZES || what == CL_PROGRAM_BINARIES;
    if (devices.n > 0 && what == CL_PROGRAM_NUM_DEVICES)
        return answer(&devices.n, sizeof devices.n, room, value, size);
    if (devices.n > 0 && what == CL_PROGRAM_DEVICES)
        return answer(devices.list, devices.n * sizeof *devices.list, room, value, size);
    if (devices.n == 0 || !for_each)
        return below.clGetProgramInfo(of, what, room, value, size);
    cl_int err = below.clGetProgramInfo(of, CL_PROGRAM_BINARY_SIZES, sizeof sizes, sizes, NULL);
    const cl_uint k = once(devices.n, devices.list, list);
    size_t of_all[MOST];
    unsigned char **to = value;
    if (size)
        *size = devices.n * (what == CL_PROGRAM_BINARIES ? sizeof *to : sizeof *sizes);
    for (cl_uint i = 0; i < devices.n && !err; i++)
        for (cl_uint j = 0; j < k; j++)
            if (list[j] == real_of(devices.list[i])) {
                of_all[i] = sizes[j];
                if (what == CL_PROGRAM_BINARIES && value && to[i] && !binaries[j])
                    binaries[j] = to[i];
            }
    if (err || !value)
        return err;
    if (what == CL_PROGRAM_BINARY_SIZES)
        return answer(of_all, devices.n * sizeof *of_all, room, value, NULL);
    err = below.clGetProgramInfo(of, what, k * sizeof *binaries, binaries, NULL);
    for (cl_uint i = 0; i < devices.n && !err; i++)
        for (cl_uint j = 0; j < k; j++)
            if (list[j] == real_of(devices.list[i]) && to[i] && to[i] != binaries[j])
                memcpy(to[i], binaries[j], sizes[j]);
    return err;
}

static cl_int CL_API_CALL build(cl_program program, cl_uint n, const cl_device_id *list, const char *options,
                                void(CL_CALLBACK *done)(cl_program, void *), void *user)
{
    cl_device_id of[MOST];
    return list && n <= MOST ? below.clBuildProgram(program, once(n, list, of), of, options, done, user)
                             : below.clBuildProgram(program, n, list, options, done, user);
}

static cl_int CL_API_CALL compile(cl_program program, cl_uint n, const cl_device_id *list, const char *options,
                                  cl_uint n_headers, const cl_program *headers, const char **names,
                                  void(CL_CALLBACK *done)(cl_program, void *), void *user)
{
    cl_device_id of[MOST];
    const bool listed = list && n <= MOST;
    return below.clCompileProgram(program, listed ? once(n, list, of) : n, listed ? of : list, options, n_headers,
                                  headers, names, done, user);
}

static cl_program CL_API_CALL link_programs(cl_context in, cl_uint n, const cl_device_id *list, const char *options,
                                            cl_uint n_programs, const cl_program *programs,
                                            void(CL_CALLBACK *done)(cl_program, void *), void *user, cl_int *err)
{
    cl_device_id of[MOST];
    const bool listed = list && n <= MOST;
    cl_program created = below.clLinkProgram(in, listed ? once(n, list, of) : n, listed ? of : list, options,
                                             n_programs, programs, done, user, err);
    const struct devices devices = devices_of(in);
    if (created && listed)
        note(created, n, list);
    else if (created)
        note(created, devices.n, devices.list);
    return created;
}

static cl_int CL_API_CALL build_info(cl_program of, cl_device_id device, cl_program_build_info what, size_t room,
                                     void *value, size_t *size)
{
    return below.clGetProgramBuildInfo(of, real_of(device), what, room, value, size);
}

static cl_int CL_API_CALL work_group_info(cl_kernel of, cl_device_id device, cl_kernel_work_group_info what,
                                          size_t room, void *value, size_t *size)
{
    return below.clGetKernelWorkGroupInfo(of, real_of(device), what, room, value, size);
}

static cl_int CL_API_CALL sub_group_info(cl_kernel of, cl_device_id device, cl_kernel_sub_group_info what,
                                         size_t in_room, const void *in, size_t room, void *value, size_t *size)
{
    return below.clGetKernelSubGroupInfo(of, real_of(device), what, in_room, in, room, value, size);
}

static void layer_start(void)
{
    layer.clGetDeviceIDs = device_ids;
    layer.clGetDeviceInfo = device_info;
    layer.clRetainDevice = retain;
    layer.clReleaseDevice = release;
    layer.clCreateSubDevices = sub_devices;
    layer.clGetDeviceAndHostTimer = both_timers;
    layer.clGetHostTimer = host_timer;
    layer.clCreateContext = context;
    layer.clCreateContextFromType = context_of_type;
    layer.clGetContextInfo = context_info;
    layer.clCreateCommandQueue = queue;
    layer.clCreateCommandQueueWithProperties = queue_with;
    layer.clGetCommandQueueInfo = queue_info;
    layer.clSetDefaultDeviceCommandQueue = default_queue;
    layer.clCreateProgramWithSource = program_of_source;
    layer.clCreateProgramWithBinary = program_of_binary;
    layer.clGetProgramInfo = program_info;
    layer.clBuildProgram = build;
    layer.clCompileProgram = compile;
    layer.clLinkProgram = link_programs;
    layer.clGetProgramBuildInfo = build_info;
    layer.clGetKernelWorkGroupInfo = work_group_info;
    layer.clGetKernelSubGroupInfo = sub_group_info;
}
