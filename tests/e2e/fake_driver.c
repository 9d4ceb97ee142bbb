/* SPDX-License-Identifier: MIT */
/* A driver for two GPUs (or three) that don't exist, with the functions that a simple application, and gpusparc for its
 * sake, calls. Commands end at once; transfers move bytes, kernels do nothing and take FAKE_KERNEL_NS (default 2000) by
 * their profiles. FAKE_LOG=FILE gets a line for each call that is about commands: its name (and how many bytes are
 * mapped) and its queue's number; and `mark` for each clGetPlatformInfo of CL_PLATFORM_PROFILE, by which an application
 * tells its iterations apart. Without it the driver costs next to nothing, so that what a call takes is the
 * interposer's own. With FAKE_ITEM_NS=N kernels take that for each work-item, and the time passes: commands begin after
 * what they wait for, a device runs its kernels one after the other, and to start takes 50 ms; CL_PLATFORM_PROFILE is
 * `idle` where all have ended. With FAKE_ROUNDS=I argument I, a uint, says how many times that a work-item takes. With
 * FAKE_NAME is the platform's. FAKE_WAVE=N a device takes as long for one work-item as for N; a
 * marker takes FAKE_MARKER_NS. With FAKE_SLOWER=N the
 * second device has another name and takes N times as long, and the log says for each launch `work`, its device (0, 1,
 * ...), its work-items, the ns that it takes, and its offset and size by dimension; with N/M there is a third one;
 * NxCOUNT,M is N for its first COUNT kernels and then M. With FAKE_EVICT=KIB a command, and what makes a buffer or lets
 * it go, goes through so much code, and so much memory, as a real driver's does: what was in the processor's nearest
 * caches is then gone. With
 * FAKE_BUILD_MS a build by another thread than the process's first takes so long; with FAKE_END_MS exit() takes so long
 * to take the driver apart, and the process ends with status 70 where a command comes meanwhile or later. */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct _cl_platform_id {
    int unused;
};
struct _cl_device_id {
    cl_ulong end_ns;    /* of its last kernel; time_lock */
    const char *slower; /* what FAKE_SLOWER says of it, from now on; NULL: nothing */
    unsigned long kernels;
};
struct _cl_context {
    int unused;
};
struct _cl_program {
    char *text;
};
static const char some_text[] = "__kernel void known(__global int *o) { }";
struct _cl_command_queue {
    atomic_uint refs;
    cl_device_id device;
    unsigned number;
    bool profiling;
    cl_event last; /* where time passes: its last command, retained; time_lock */
};
struct _cl_mem {
    atomic_uint refs;
    cl_mem_flags flags;
    char *bytes;
    void(CL_CALLBACK *gone)(cl_mem m, void *data);
    void *data;
};
struct _cl_kernel {
    char name[64];
    cl_uint n_args;
    cl_uint rounds;
};
struct _cl_event {
    atomic_uint refs;
    atomic_int status;
    bool profiling;
    cl_ulong begin_ns;
    _Atomic cl_ulong end_ns; /* OPEN_NS: not known, as it is a user event, or waits for one */
    cl_command_queue queue;  /* NULL: it is a user event */
    /* While it isn't: */
    cl_event next;
    cl_ulong took_ns;
    bool kernel;
    cl_uint n_waits;
    cl_event *waits; /* retained */
};
#define OPEN_NS UINT64_MAX

enum { DEVICES = 3 };
static cl_uint n_devices = 2;
static struct _cl_platform_id the_platform;
static struct _cl_device_id the_devices[DEVICES];
static struct _cl_context the_context;
static const char version[] = "OpenCL 1.2 fake";
static FILE *log_file;
static cl_ulong kernel_ns = 2000;
static double item_ns;
static const char *rounds_arg;
static cl_ulong wave = 1, marker_ns = 1;
static bool unlike;

/* Where time passes. No mutex: programs count those that a call locks. */
static atomic_flag time_lock = ATOMIC_FLAG_INIT; /* the commands whose ends aren't known, oldest first */
static cl_event open_first, *open_last = &open_first;
static cl_ulong last_end_ns; /* of all commands whose ends are known */

/* ---- what a driver does to the caches ---- */

enum { LINE = 64, PAGE = 4096, LINES_PER_PAGE = PAGE / LINE };
static size_t evict_lines;
static char *evict_data;
static void (*evict_code)(void);

/* Line i of those that are gone through: each on another page than the one before, which adjacent lines' prefetching
 * doesn't foresee. */
static size_t place_of_line(size_t i)
{
    const size_t pages = (evict_lines + LINES_PER_PAGE - 1) / LINES_PER_PAGE;
    return i % pages * PAGE + (i / pages * 5 + i % pages * 3) % LINES_PER_PAGE * LINE;
}

/* From line i of the code to the next; from the last one back to the caller. */
static void write_jump(char *code, size_t i)
{
    char *at = code + place_of_line(i);
    const bool last = i + 1 == evict_lines;
    const int32_t distance = last ? 0 : (int32_t)(place_of_line(i + 1) - place_of_line(i));
#if defined(__x86_64__)
    const int32_t relative = distance - 5;
    at[0] = (char)(last ? 0xc3 : 0xe9);
    memcpy(at + 1, &relative, sizeof relative);
#elif defined(__aarch64__)
    const uint32_t jump = last ? 0xd65f03c0u : 0x14000000u | ((uint32_t)(distance / 4) & 0x3ffffffu);
    memcpy(at, &jump, sizeof jump);
#else
    abort();
#endif
}

static void set_up_eviction(size_t bytes)
{
    const size_t room = (bytes + PAGE - 1) / PAGE * PAGE;
    evict_lines = room / LINE;
    char *code = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    evict_data = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED || evict_data == MAP_FAILED)
        abort();
    memset(evict_data, 1, room);
    for (size_t i = 0; i < evict_lines; i++)
        write_jump(code, i);
    if (mprotect(code, room, PROT_READ | PROT_EXEC) < 0)
        abort();
    __builtin___clear_cache(code, code + room);
    memcpy(&evict_code, &code, sizeof code);
}

static void evict(void)
{
    for (size_t i = 0; i < evict_lines; i++)
        (void)*(volatile char *)(evict_data + place_of_line(i));
    if (evict_code)
        evict_code();
}

static atomic_bool apart;

static void take_apart(void)
{
    atomic_store(&apart, true);
    usleep((useconds_t)strtoul(getenv("FAKE_END_MS"), NULL, 10) * 1000);
}

__attribute__((constructor)) static void set_up(void)
{
    const char *file = getenv("FAKE_LOG"), *times = getenv("FAKE_SLOWER"), *waves = getenv("FAKE_WAVE"),
               *ns = getenv("FAKE_KERNEL_NS"), *item = getenv("FAKE_ITEM_NS"), *kib = getenv("FAKE_EVICT"),
               *marker = getenv("FAKE_MARKER_NS");
    log_file = file ? fopen(file, "w") : NULL;
    kernel_ns = ns ? strtoull(ns, NULL, 10) : kernel_ns;
    item_ns = item ? strtod(item, NULL) : 0;
    wave = waves ? strtoull(waves, NULL, 10) : 1;
    marker_ns = marker ? strtoull(marker, NULL, 10) : marker_ns;
    unlike = times && *times;
    for (cl_uint i = 1; times && i < DEVICES; i++) {
        the_devices[i].slower = times;
        n_devices = i + 1;
        times = strchr(times, '/');
        times = times ? times + 1 : NULL;
    }
    rounds_arg = getenv("FAKE_ROUNDS");
    rounds_arg = rounds_arg && *rounds_arg ? rounds_arg : NULL;
    if (kib)
        set_up_eviction(strtoull(kib, NULL, 10) * 1024);
    if (getenv("FAKE_END_MS"))
        atexit(take_apart);
}

static void say(const char *call, cl_command_queue queue)
{
    if (log_file)
        fprintf(log_file, "%s %u\n", call, queue ? queue->number : 0);
}

static void *make(size_t bytes, cl_int *err)
{
    void *p = calloc(1, bytes);
    if (err)
        *err = p ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    return p;
}

static cl_int answer(const void *value, size_t bytes, size_t room, void *out, size_t *bytes_ret)
{
    if (bytes_ret)
        *bytes_ret = bytes;
    if (out && room < bytes)
        return CL_INVALID_VALUE;
    if (out)
        memcpy(out, value, bytes);
    return CL_SUCCESS;
}

static cl_int answer_text(const char *text, size_t room, void *out, size_t *bytes_ret)
{
    return answer(text, strlen(text) + 1, room, out, bytes_ret);
}

static cl_ulong now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (cl_ulong)t.tv_sec * 1000000000 + (cl_ulong)t.tv_nsec;
}

static void sleep_until(cl_ulong ns)
{
    const struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    if (item_ns > 0)
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void lock_time(void)
{
    while (atomic_flag_test_and_set_explicit(&time_lock, memory_order_acquire))
        sched_yield();
}

static void unlock_time(void)
{
    atomic_flag_clear_explicit(&time_lock, memory_order_release);
}

/* False: it waits for what isn't known. With time_lock held. */
static bool find_end(cl_event e)
{
    cl_ulong begin = e->begin_ns;
    for (cl_uint i = 0; i < e->n_waits; i++) {
        const cl_ulong end = atomic_load(&e->waits[i]->end_ns);
        if (end == OPEN_NS)
            return false;
        begin = end > begin ? end : begin;
    }
    if (e->kernel) { /* a device runs them one after the other, whatever their queues */
        cl_device_id device = e->queue->device;
        begin = device->end_ns > begin ? device->end_ns : begin;
        device->end_ns = begin + e->took_ns;
    }
    e->begin_ns = begin;
    atomic_store(&e->end_ns, begin + e->took_ns);
    last_end_ns = begin + e->took_ns > last_end_ns ? begin + e->took_ns : last_end_ns;
    return true;
}

/* With time_lock held. */
static void find_ends(void)
{
    for (cl_event e, *at = &open_first; (e = *at);) {
        if (!find_end(e)) {
            at = &e->next;
            continue;
        }
        *at = e->next;
        if (!e->next)
            open_last = at;
        for (cl_uint i = 0; i < e->n_waits; i++)
            clReleaseEvent(e->waits[i]);
        free(e->waits);
        clReleaseEvent(e);
    }
}

static void sleep_until_end(cl_event e)
{
    if (!(item_ns > 0))
        return;
    while (atomic_load(&e->end_ns) == OPEN_NS)
        sleep_until(now_ns() + 20000);
    sleep_until(atomic_load(&e->end_ns));
}

/* It begins after what it waits for, and after what is before it in its queue. */
static bool take_time(cl_event e, cl_command_queue queue, cl_uint n, const cl_event *wait)
{
    if (!(e->waits = calloc(n + 1, sizeof *wait)))
        return false;
    for (cl_uint i = 0; i < n; i++)
        e->waits[e->n_waits++] = wait[i];
    lock_time();
    if (queue->last)
        e->waits[e->n_waits++] = queue->last;
    for (cl_uint i = 0; i < e->n_waits; i++)
        clRetainEvent(e->waits[i]);
    if (queue->last)
        clReleaseEvent(queue->last);
    queue->last = e;
    atomic_fetch_add(&e->refs, 2); /* the queue's, and the list's */
    atomic_store(&e->end_ns, OPEN_NS);
    *open_last = e;
    open_last = &e->next;
    find_ends();
    unlock_time();
    return true;
}

/* A command has been enqueued, and has ended; or will, where time passes. */
static cl_int command(const char *call, cl_command_queue queue, cl_ulong took_ns, cl_uint n, const cl_event *wait,
                      cl_event *event)
{
    say(call, queue);
    if (atomic_load_explicit(&apart, memory_order_relaxed))
        _exit(70);
    evict();
    if (!event && !(item_ns > 0))
        return CL_SUCCESS;
    cl_event e = calloc(1, sizeof *e);
    if (!e)
        return CL_OUT_OF_HOST_MEMORY;
    atomic_init(&e->refs, 1);
    e->queue = queue;
    e->profiling = queue->profiling;
    e->took_ns = took_ns;
    e->begin_ns = now_ns();
    atomic_init(&e->end_ns, e->begin_ns + took_ns);
    e->kernel = strcmp(call, "clEnqueueNDRangeKernel") == 0;
    if (item_ns > 0 && !take_time(e, queue, n, wait))
        abort();
    if (strstr(call, "blocking"))
        sleep_until_end(e);
    if (event)
        *event = e;
    else
        clReleaseEvent(e);
    return CL_SUCCESS;
}

static bool is_idle(void)
{
    lock_time();
    const bool idle = !open_first && last_end_ns <= now_ns();
    unlock_time();
    return idle;
}

/* ---- platform and devices ---- */

cl_int clGetPlatformIDs(cl_uint n, cl_platform_id *platforms, cl_uint *n_ret)
{
    if (n && platforms)
        platforms[0] = &the_platform;
    if (n_ret)
        *n_ret = 1;
    return CL_SUCCESS;
}

cl_int clGetPlatformInfo(cl_platform_id p, cl_platform_info what, size_t room, void *out, size_t *bytes_ret)
{
    if (what == CL_PLATFORM_PROFILE)
        say("mark", NULL);
    if (what == CL_PLATFORM_PROFILE && item_ns > 0 && is_idle())
        return answer_text("idle", room, out, bytes_ret);
    if (what == CL_PLATFORM_NAME && getenv("FAKE_NAME"))
        return answer_text(getenv("FAKE_NAME"), room, out, bytes_ret);
    return answer_text(what == CL_PLATFORM_VERSION ? version : "fake", room, out, bytes_ret);
}

cl_int clGetDeviceIDs(cl_platform_id p, cl_device_type type, cl_uint n, cl_device_id *devices, cl_uint *n_ret)
{
    if (!(type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT)))
        return CL_DEVICE_NOT_FOUND;
    for (cl_uint i = 0; i < n && i < n_devices; i++)
        devices[i] = &the_devices[i];
    if (n_ret)
        *n_ret = n_devices;
    return CL_SUCCESS;
}

cl_int clGetDeviceInfo(cl_device_id d, cl_device_info what, size_t room, void *out, size_t *bytes_ret)
{
    const cl_device_type type = CL_DEVICE_TYPE_GPU;
    const cl_uint units = 100, bits = 64;
    const cl_bool yes = CL_TRUE, no = CL_FALSE;
    const cl_platform_id platform = &the_platform;
    switch (what) {
    case CL_DEVICE_TYPE:
        return answer(&type, sizeof type, room, out, bytes_ret);
    case CL_DEVICE_MAX_COMPUTE_UNITS:
        return answer(&units, sizeof units, room, out, bytes_ret);
    case CL_DEVICE_ADDRESS_BITS:
        return answer(&bits, sizeof bits, room, out, bytes_ret);
    case CL_DEVICE_AVAILABLE:
    case CL_DEVICE_COMPILER_AVAILABLE:
        return answer(&yes, sizeof yes, room, out, bytes_ret);
    case CL_DEVICE_PLATFORM:
        return answer(&platform, sizeof platform, room, out, bytes_ret);
    case CL_DEVICE_VERSION:
        return answer_text(version, room, out, bytes_ret);
    case CL_DEVICE_IMAGE_SUPPORT:
    case CL_DEVICE_HOST_UNIFIED_MEMORY:
        return answer(&no, sizeof no, room, out, bytes_ret);
    case CL_DEVICE_NAME:
        return answer_text(d->slower ? "fake, slower" : "fake", room, out, bytes_ret);
    case CL_DEVICE_VENDOR:
    case CL_DRIVER_VERSION:
    case CL_DEVICE_OPENCL_C_VERSION:
    case CL_DEVICE_EXTENSIONS:
        return answer_text("fake", room, out, bytes_ret);
    default:
        return CL_INVALID_VALUE;
    }
}

/* ---- context, program, kernel ---- */

cl_context clCreateContext(const cl_context_properties *properties, cl_uint n, const cl_device_id *devices,
                           void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *data,
                           cl_int *err)
{
    sleep_until(now_ns() + 50000000);
    *err = CL_SUCCESS;
    return &the_context;
}

cl_int clRetainContext(cl_context c)
{
    return CL_SUCCESS;
}

cl_int clReleaseContext(cl_context c)
{
    return CL_SUCCESS;
}

/* By themselves, as the functions with names of OpenCL's are found elsewhere first. */
static cl_program new_program(cl_uint n, const char **texts, const size_t *bytes, cl_int *err)
{
    cl_program p = make(sizeof *p, err);
    size_t all = 0;
    for (cl_uint i = 0; p && i < n; i++) {
        const size_t more = bytes && bytes[i] ? bytes[i] : strlen(texts[i]);
        p->text = realloc(p->text, all + more + 1);
        memcpy(p->text + all, texts[i], more);
        p->text[all += more] = '\0';
    }
    return p;
}

cl_program clCreateProgramWithSource(cl_context c, cl_uint n, const char **texts, const size_t *bytes, cl_int *err)
{
    return new_program(n, texts, bytes, err);
}

/* However a program is made, it has one kernel. */
static cl_program program_of(cl_context c, cl_int *err)
{
    const char *text = some_text;
    return new_program(1, &text, NULL, err);
}

cl_program clCreateProgramWithBinary(cl_context c, cl_uint n, const cl_device_id *devices, const size_t *bytes,
                                     const unsigned char **binaries, cl_int *status, cl_int *err)
{
    return program_of(c, err);
}

cl_program clCreateProgramWithBuiltInKernels(cl_context c, cl_uint n, const cl_device_id *devices, const char *names,
                                             cl_int *err)
{
    return program_of(c, err);
}

cl_program clCreateProgramWithIL(cl_context c, const void *il, size_t bytes, cl_int *err)
{
    return program_of(c, err);
}

cl_int clCompileProgram(cl_program p, cl_uint n, const cl_device_id *devices, const char *options, cl_uint n_headers,
                        const cl_program *headers, const char **names, void(CL_CALLBACK *notify)(cl_program, void *),
                        void *data)
{
    return CL_SUCCESS;
}

cl_program clLinkProgram(cl_context c, cl_uint n, const cl_device_id *devices, const char *options, cl_uint n_inputs,
                         const cl_program *inputs, void(CL_CALLBACK *notify)(cl_program, void *), void *data,
                         cl_int *err)
{
    return program_of(c, err);
}

cl_int clBuildProgram(cl_program p, cl_uint n, const cl_device_id *devices, const char *options,
                      void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
    const char *ms = gettid() != getpid() ? getenv("FAKE_BUILD_MS") : NULL;
    if (ms)
        usleep((useconds_t)strtoul(ms, NULL, 10) * 1000);
    return CL_SUCCESS;
}

cl_int clGetProgramInfo(cl_program p, cl_program_info what, size_t room, void *out, size_t *bytes_ret)
{
    const cl_context context = &the_context;
    return what == CL_PROGRAM_CONTEXT ? answer(&context, sizeof context, room, out, bytes_ret) : CL_INVALID_VALUE;
}

cl_int clGetProgramBuildInfo(cl_program p, cl_device_id d, cl_program_build_info what, size_t room, void *out,
                             size_t *bytes_ret)
{
    return what == CL_PROGRAM_BUILD_LOG ? answer_text("", room, out, bytes_ret) : CL_INVALID_VALUE;
}

cl_int clReleaseProgram(cl_program p)
{
    free(p->text);
    free(p);
    return CL_SUCCESS;
}

/* By the commas between the parentheses behind the first " NAME(". */
static cl_uint count_args(const char *text, const char *name)
{
    char pattern[80];
    cl_uint n = 1;
    snprintf(pattern, sizeof pattern, " %s(", name);
    const char *at = strstr(text, pattern);
    for (at = at ? at : ")"; *at && *at != ')'; at++)
        n += *at == ',';
    return n;
}

cl_kernel clCreateKernel(cl_program p, const char *name, cl_int *err)
{
    cl_kernel k = make(sizeof *k, err);
    if (k) {
        snprintf(k->name, sizeof k->name, "%s", name);
        k->n_args = count_args(p->text, name);
    }
    return k;
}

cl_int clReleaseKernel(cl_kernel k)
{
    free(k);
    return CL_SUCCESS;
}

cl_int clGetKernelInfo(cl_kernel k, cl_kernel_info what, size_t room, void *out, size_t *bytes_ret)
{
    if (what == CL_KERNEL_NUM_ARGS)
        return answer(&k->n_args, sizeof k->n_args, room, out, bytes_ret);
    return what == CL_KERNEL_FUNCTION_NAME ? answer_text(k->name, room, out, bytes_ret) : CL_INVALID_VALUE;
}

cl_int clSetKernelArg(cl_kernel k, cl_uint i, size_t bytes, const void *value)
{
    say("clSetKernelArg", NULL);
    if (rounds_arg && i == strtoul(rounds_arg, NULL, 10) && bytes == sizeof k->rounds)
        memcpy(&k->rounds, value, sizeof k->rounds);
    return i < k->n_args ? CL_SUCCESS : CL_INVALID_ARG_INDEX;
}

/* ---- queues and memory ---- */

cl_command_queue clCreateCommandQueue(cl_context c, cl_device_id d, cl_command_queue_properties properties, cl_int *err)
{
    static atomic_uint queues;
    cl_command_queue q = make(sizeof *q, err);
    if (q) {
        atomic_init(&q->refs, 1);
        q->device = d;
        q->number = ++queues;
        q->profiling = properties & CL_QUEUE_PROFILING_ENABLE;
    }
    return q;
}

cl_int clRetainCommandQueue(cl_command_queue q)
{
    atomic_fetch_add(&q->refs, 1);
    return CL_SUCCESS;
}

cl_int clReleaseCommandQueue(cl_command_queue q)
{
    if (atomic_fetch_sub(&q->refs, 1) > 1)
        return CL_SUCCESS;
    if (q->last) {
        sleep_until_end(q->last);
        clReleaseEvent(q->last);
    }
    free(q);
    return CL_SUCCESS;
}

cl_int clGetCommandQueueInfo(cl_command_queue q, cl_command_queue_info what, size_t room, void *out, size_t *bytes_ret)
{
    const cl_context context = &the_context;
    return what == CL_QUEUE_CONTEXT ? answer(&context, sizeof context, room, out, bytes_ret) : CL_INVALID_VALUE;
}

cl_int clFlush(cl_command_queue q)
{
    say("clFlush", q);
    return CL_SUCCESS;
}

cl_int clFinish(cl_command_queue q)
{
    say("clFinish", q);
    evict();
    lock_time();
    const cl_event last = q->last;
    if (last)
        clRetainEvent(last);
    unlock_time();
    if (last) {
        sleep_until_end(last);
        clReleaseEvent(last);
    }
    return CL_SUCCESS;
}

static cl_mem new_buffer(cl_mem_flags flags, size_t bytes, void *ptr, cl_int *err)
{
    cl_mem m = make(sizeof *m, err);
    evict();
    if (m) {
        atomic_init(&m->refs, 1);
        m->flags = flags;
        m->bytes = flags & CL_MEM_USE_HOST_PTR ? ptr : make(bytes, err);
    }
    return m;
}

cl_mem clCreateBuffer(cl_context c, cl_mem_flags flags, size_t bytes, void *ptr, cl_int *err)
{
    return new_buffer(flags, bytes, ptr, err);
}

cl_int clSetMemObjectDestructorCallback(cl_mem m, void(CL_CALLBACK *gone)(cl_mem m, void *data), void *data)
{
    m->gone = gone;
    m->data = data;
    return CL_SUCCESS;
}

cl_int clGetMemObjectInfo(cl_mem m, cl_mem_info what, size_t room, void *out, size_t *bytes_ret)
{
    return what == CL_MEM_FLAGS ? answer(&m->flags, sizeof m->flags, room, out, bytes_ret) : CL_INVALID_VALUE;
}

cl_int clRetainMemObject(cl_mem m)
{
    atomic_fetch_add(&m->refs, 1);
    return CL_SUCCESS;
}

cl_int clReleaseMemObject(cl_mem m)
{
    if (atomic_fetch_sub(&m->refs, 1) != 1)
        return CL_SUCCESS;
    evict();
    if (m->gone) {
        say("gone", NULL);
        m->gone(m, m->data);
    }
    if (!(m->flags & CL_MEM_USE_HOST_PTR))
        free(m->bytes);
    free(m);
    return CL_SUCCESS;
}

/* ---- extensions ---- */

static cl_int set_pointer(cl_kernel k, cl_uint i, const void *address)
{
    return clSetKernelArg(k, i, sizeof address, &address);
}

static cl_int set_pointer_of_another_platform(cl_kernel k, cl_uint i, const void *address)
{
    return set_pointer(k, i, address);
}

static cl_mem make_buffer(cl_context c, size_t bytes, cl_int *err)
{
    return new_buffer(CL_MEM_READ_WRITE, bytes, NULL, err);
}

/* Extensions of its own, the last three; a null platform stands for another one. */
static void *find_extension(cl_platform_id p, const char *name)
{
    const struct {
        const char *name;
        void (*function)(void);
    } all[] = {
        {"clSetKernelArgMemPointerINTEL",
         p ? (void (*)(void))set_pointer : (void (*)(void))set_pointer_of_another_platform},
        {"clSetKernelArgFAKE", (void (*)(void))set_pointer},
        {"clCreateProgramWithFAKE", (void (*)(void))program_of},
        {"clCreateBufferNV", (void (*)(void))make_buffer},
    };
    void *function = NULL;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(name, all[i].name) == 0)
            memcpy(&function, &all[i].function, sizeof function);
    return function;
}

void *clGetExtensionFunctionAddressForPlatform(cl_platform_id p, const char *name)
{
    return find_extension(p, name);
}

void *clGetExtensionFunctionAddress(const char *name)
{
    return find_extension(NULL, name);
}

/* ---- commands ---- */

/* So many times as long as the first device its next kernel takes. */
static double times_of(cl_device_id d)
{
    double times = 1;
    char *end = NULL;
    if (!d->slower)
        return 1;
    times = strtod(d->slower, &end);
    if (*end == 'x' && ++d->kernels >= strtoul(end + 1, &end, 10) && *end == ',') {
        d->slower = end + 1;
        d->kernels = 0;
    }
    return times;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint dims, const size_t *offset, const size_t *global,
                              const size_t *local, cl_uint n, const cl_event *wait, cl_event *event)
{
    cl_ulong items = rounds_arg ? k->rounds : 1;
    for (cl_uint d = 0; d < dims; d++)
        items *= global[d];
    const double waves = (double)((items + wave - 1) / wave * wave), took_ns = item_ns * times_of(q->device) * waves;
    char box[128] = "";
    for (cl_uint d = 0, at = 0; d < dims; d++)
        at += (cl_uint)snprintf(box + at, sizeof box - at, " %zu %zu", offset ? offset[d] : 0, global[d]);
    if (unlike && log_file)
        fprintf(log_file, "work %d %llu %.0f%s\n", (int)(q->device - the_devices), (unsigned long long)items, took_ns,
                box);
    return command("clEnqueueNDRangeKernel", q, item_ns > 0 ? (cl_ulong)took_ns : kernel_ns, n, wait, event);
}

cl_int clEnqueueWriteBuffer(cl_command_queue q, cl_mem m, cl_bool blocking, size_t offset, size_t bytes,
                            const void *ptr, cl_uint n, const cl_event *wait, cl_event *event)
{
    memcpy(m->bytes + offset, ptr, bytes);
    return command(blocking ? "clEnqueueWriteBuffer blocking" : "clEnqueueWriteBuffer", q, 1, n, wait, event);
}

cl_int clEnqueueReadBuffer(cl_command_queue q, cl_mem m, cl_bool blocking, size_t offset, size_t bytes, void *ptr,
                           cl_uint n, const cl_event *wait, cl_event *event)
{
    memcpy(ptr, m->bytes + offset, bytes);
    return command(blocking ? "clEnqueueReadBuffer blocking" : "clEnqueueReadBuffer", q, 1, n, wait, event);
}

cl_int clEnqueueCopyBuffer(cl_command_queue q, cl_mem src, cl_mem dst, size_t from, size_t to, size_t bytes, cl_uint n,
                           const cl_event *wait, cl_event *event)
{
    memmove(dst->bytes + to, src->bytes + from, bytes);
    return command("clEnqueueCopyBuffer", q, 1, n, wait, event);
}

cl_int clEnqueueFillBuffer(cl_command_queue q, cl_mem m, const void *pattern, size_t each, size_t offset, size_t bytes,
                           cl_uint n, const cl_event *wait, cl_event *event)
{
    for (size_t i = 0; i < bytes; i += each)
        memcpy(m->bytes + offset + i, pattern, each);
    return command("clEnqueueFillBuffer", q, 1, n, wait, event);
}

void *clEnqueueMapBuffer(cl_command_queue q, cl_mem m, cl_bool blocking, cl_map_flags flags, size_t offset,
                         size_t bytes, cl_uint n, const cl_event *wait, cl_event *event, cl_int *err)
{
    char call[64];
    snprintf(call, sizeof call, "clEnqueueMapBuffer %zu%s", bytes, blocking && item_ns > 0 ? " blocking" : "");
    *err = command(call, q, 1, n, wait, event);
    return m->bytes + offset;
}

cl_int clEnqueueUnmapMemObject(cl_command_queue q, cl_mem m, void *ptr, cl_uint n, const cl_event *wait,
                               cl_event *event)
{
    return command("clEnqueueUnmapMemObject", q, 1, n, wait, event);
}

cl_int clEnqueueMarkerWithWaitList(cl_command_queue q, cl_uint n, const cl_event *wait, cl_event *event)
{
    return command("clEnqueueMarkerWithWaitList", q, marker_ns, n, wait, event);
}

cl_int clEnqueueBarrierWithWaitList(cl_command_queue q, cl_uint n, const cl_event *wait, cl_event *event)
{
    return command("clEnqueueBarrierWithWaitList", q, 1, n, wait, event);
}

/* ---- events ---- */

struct callback {
    cl_event event;
    void(CL_CALLBACK *notify)(cl_event, cl_int, void *);
    void *data;
};

static void *call_back(void *callback)
{
    struct callback *c = callback;
    sleep_until_end(c->event);
    c->notify(c->event, CL_COMPLETE, c->data);
    clReleaseEvent(c->event);
    free(c);
    return NULL;
}

cl_int clSetEventCallback(cl_event e, cl_int status, void(CL_CALLBACK *notify)(cl_event, cl_int, void *), void *data)
{
    pthread_t thread;
    struct callback *c = item_ns > 0 && status == CL_COMPLETE ? malloc(sizeof *c) : NULL;
    if (!c)
        return CL_OUT_OF_RESOURCES;
    *c = (struct callback){e, notify, data};
    clRetainEvent(e);
    if (pthread_create(&thread, NULL, call_back, c) != 0)
        abort();
    pthread_detach(thread);
    return CL_SUCCESS;
}

cl_int clWaitForEvents(cl_uint n, const cl_event *events)
{
    say("clWaitForEvents", NULL);
    for (cl_uint i = 0; i < n; i++)
        sleep_until_end(events[i]);
    return CL_SUCCESS;
}

cl_int clRetainEvent(cl_event e)
{
    atomic_fetch_add(&e->refs, 1);
    return CL_SUCCESS;
}

cl_int clReleaseEvent(cl_event e)
{
    if (atomic_fetch_sub(&e->refs, 1) == 1)
        free(e);
    return CL_SUCCESS;
}

cl_int clGetEventInfo(cl_event e, cl_event_info what, size_t room, void *out, size_t *bytes_ret)
{
    const cl_int set = atomic_load(&e->status);
    const cl_int status = item_ns > 0 && set >= 0 && now_ns() < atomic_load(&e->end_ns) ? CL_RUNNING : set;
    say("clGetEventInfo", NULL);
    if (what == CL_EVENT_COMMAND_QUEUE)
        return answer(&e->queue, sizeof e->queue, room, out, bytes_ret);
    return what == CL_EVENT_COMMAND_EXECUTION_STATUS ? answer(&status, sizeof status, room, out, bytes_ret)
                                                     : CL_INVALID_VALUE;
}

cl_event clCreateUserEvent(cl_context c, cl_int *err)
{
    cl_event e = make(sizeof *e, err);
    if (e) {
        atomic_init(&e->refs, 1);
        atomic_init(&e->status, CL_SUBMITTED);
        atomic_init(&e->end_ns, OPEN_NS);
    }
    say("clCreateUserEvent", NULL);
    return e;
}

cl_int clSetUserEventStatus(cl_event e, cl_int status)
{
    say("clSetUserEventStatus", NULL);
    lock_time();
    atomic_store(&e->status, status);
    atomic_store(&e->end_ns, now_ns());
    find_ends();
    unlock_time();
    return CL_SUCCESS;
}

cl_int clGetEventProfilingInfo(cl_event e, cl_profiling_info what, size_t room, void *out, size_t *bytes_ret)
{
    if (!e->profiling || (item_ns > 0 && atomic_load(&e->end_ns) > now_ns()))
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    const cl_ulong ns = what == CL_PROFILING_COMMAND_END ? atomic_load(&e->end_ns) : e->begin_ns;
    return answer(&ns, sizeof ns, room, out, bytes_ret);
}
