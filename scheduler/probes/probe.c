/* SPDX-License-Identifier: MIT */
/* What the probe workers share. */
#include "scheduler/probes/probe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/log.h"

enum { MAX_DEVICES = 64, MAX_PLATFORMS = 16 };

bool probe_ok(cl_int rc, const char *what)
{
    if (rc == CL_SUCCESS)
        return true;
    gs_error("the device refused to %s (OpenCL error %d)", what, rc);
    return false;
}

/* All devices, GPUs before others. */
static unsigned list_devices(cl_device_id *id)
{
    cl_platform_id platform[MAX_PLATFORMS];
    cl_uint n_platforms = 0;
    unsigned n = 0;
    if (clGetPlatformIDs(MAX_PLATFORMS, platform, &n_platforms) != CL_SUCCESS)
        return 0;
    n_platforms = n_platforms < MAX_PLATFORMS ? n_platforms : MAX_PLATFORMS;
    const cl_device_type types[] = {CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_ACCELERATOR};
    for (int t = 0; t < 2; t++)
        for (cl_uint p = 0; p < n_platforms && n < MAX_DEVICES; p++) {
            cl_uint found = 0;
            if (clGetDeviceIDs(platform[p], types[t], MAX_DEVICES - n, id + n, &found) == CL_SUCCESS)
                n += found < MAX_DEVICES - n ? found : MAX_DEVICES - n;
        }
    return n;
}

static void text_info(cl_device_id id, cl_device_info what, char *out, size_t size)
{
    out[0] = '\0';
    clGetDeviceInfo(id, what, size - 1, out, NULL);
    out[size - 1] = '\0';
}

bool probe_reset(struct probe_device *d)
{
    cl_int rc;
    if (d->queue)
        clReleaseCommandQueue(d->queue);
    if (d->context)
        clReleaseContext(d->context);
    d->queue = NULL;
    d->context = clCreateContext(NULL, 1, &d->id, NULL, NULL, &rc);
    if (!probe_ok(rc, "make a context"))
        return false;
    d->queue = clCreateCommandQueue(d->context, d->id, CL_QUEUE_PROFILING_ENABLE, &rc);
    return probe_ok(rc, "make a queue");
}

static void on_notice(void *arg, int level, const char *text)
{
    (void)arg;
    if (level == GS_NOTICE_WARNING)
        gs_warn("%s", text);
    else
        gs_debug("%s", text);
}

static bool join_daemon(struct probe_device *d)
{
    struct gs_client_options o = {.no_task = true, .gpus = d->index + 1, .notice = on_notice};
    if (d->index >= GS_MAX_GPUS) /* the daemon knows no such GPU */
        return true;
    int rc = gs_client_open(&d->client, &o);
    if (rc)
        gs_error("the probe could not ask for the daemon: %s; --force measures without it", strerror(-rc));
    return rc == 0;
}

bool probe_take(struct probe_device *d)
{
    static const uint64_t second = 1000000000;
    struct gs_request request = {0};
    if (!d->client || gs_client_request(d->client, GS_MASK(GS_RESOURCE_GPU(d->index)), 0, &request))
        return true;
    while (gs_client_wait(d->client, &request, second, &d->grant) == -ETIMEDOUT) {
        if (!d->waited)
            gs_warn("waiting: other applications use this GPU (see gpusparc status); --force measures all the same");
        d->waited = true;
        if (probe_interrupted) {
            gs_client_cancel(d->client, &request);
            return false;
        }
    }
    return d->held = true;
}

void probe_give(struct probe_device *d)
{
    if (d->held)
        gs_client_release(d->client, &d->grant);
    d->held = false;
}

bool probe_open(struct probe_device *d, unsigned index, bool force)
{
    cl_device_id id[MAX_DEVICES];
    unsigned n = list_devices(id);
    memset(d, 0, sizeof(*d));
    if (index >= n) {
        gs_error("there is no device %u: OpenCL shows %u of them", index, n);
        return false;
    }
    cl_platform_id platform;
    d->index = index;
    d->id = id[index];
    text_info(d->id, CL_DEVICE_NAME, d->name, sizeof(d->name));
    text_info(d->id, CL_DRIVER_VERSION, d->driver, sizeof(d->driver));
    text_info(d->id, CL_DEVICE_EXTENSIONS, d->extensions, sizeof(d->extensions));
    clGetDeviceInfo(d->id, CL_DEVICE_PLATFORM, sizeof(platform), &platform, NULL);
    clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof(d->platform) - 1, d->platform, NULL);
    clGetDeviceInfo(d->id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(d->compute_units), &d->compute_units, NULL);
    clGetDeviceInfo(d->id, CL_DEVICE_MAX_CLOCK_FREQUENCY, sizeof(d->frequency_mhz), &d->frequency_mhz, NULL);
    clGetDeviceInfo(d->id, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(d->max_group), &d->max_group, NULL);
    d->is_nvidia = strstr(d->platform, "NVIDIA") != NULL;
    d->is_pocl = strstr(d->platform, "Portable Computing Language") != NULL;
    return (force || join_daemon(d)) && probe_reset(d);
}

void probe_close(struct probe_device *d)
{
    if (d->queue)
        clReleaseCommandQueue(d->queue);
    if (d->context)
        clReleaseContext(d->context);
    d->queue = NULL;
    d->context = NULL;
    probe_give(d);
    if (d->client)
        gs_client_close(d->client);
    d->client = NULL;
}

enum probe_clock probe_clock_of(const struct probe_device *d, bool across_groups)
{
    if (d->is_nvidia)
        return across_groups ? PROBE_CLOCK_PTX_GLOBAL : PROBE_CLOCK_PTX_SM;
    if (strstr(d->extensions, "cl_khr_kernel_clock"))
        return PROBE_CLOCK_KHR;
    return d->is_pocl ? PROBE_CLOCK_POCL : PROBE_CLOCK_NONE;
}

const char *probe_clock_name(enum probe_clock clock)
{
    static const char *const names[] = {"none", "cl_khr_kernel_clock", "PTX %clock64", "PTX %globaltimer",
                                        "processor cycle counter"};
    return names[clock];
}

cl_program probe_build(const struct probe_device *d, const char *text, enum probe_clock clock, const char *options)
{
    cl_int rc;
    char all[300];
    cl_program p = clCreateProgramWithSource(d->context, 1, &text, NULL, &rc);
    if (!probe_ok(rc, "take a program"))
        return NULL;
    snprintf(all, sizeof(all), "-DPROBE_CLOCK=%d %s %s", (int)clock, d->is_nvidia ? "-DPROBE_NVIDIA" : "", options);
    if (clBuildProgram(p, 1, &d->id, all, NULL, NULL) == CL_SUCCESS)
        return p;
    size_t n = 0;
    clGetProgramBuildInfo(p, d->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &n);
    char *log = calloc(1, n + 1);
    if (log)
        clGetProgramBuildInfo(p, d->id, CL_PROGRAM_BUILD_LOG, n, log, NULL);
    gs_error("the device's compiler refused the probe's kernels: %.3000s", log ? log : "");
    free(log);
    clReleaseProgram(p);
    return NULL;
}

cl_kernel probe_kernel(cl_program program, const char *name)
{
    cl_int rc;
    cl_kernel k = program ? clCreateKernel(program, name, &rc) : NULL;
    return program && probe_ok(rc, "make a kernel") ? k : NULL;
}

cl_mem probe_buffer(const struct probe_device *d, size_t bytes)
{
    cl_int rc;
    cl_mem m = clCreateBuffer(d->context, CL_MEM_READ_WRITE, bytes ? bytes : 1, NULL, &rc);
    return probe_ok(rc, "give memory") ? m : NULL;
}

volatile sig_atomic_t probe_interrupted;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    probe_interrupted = 1;
}

void probe_catch_interrupt(void)
{
    struct sigaction a = {.sa_handler = on_interrupt, .sa_flags = (int)(SA_RESTART | SA_RESETHAND)};
    sigaction(SIGINT, &a, NULL);
    sigaction(SIGTERM, &a, NULL);
}

double probe_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool progress_shown;

void probe_progress(const char *what, uint64_t done, uint64_t all)
{
    static double last;
    double now = probe_seconds();
    if (!isatty(STDERR_FILENO) || now - last < 0.1)
        return;
    last = now;
    progress_shown = true;
    fprintf(stderr, "\r%s: %llu of %llu (%.0f %%)\033[K", what, (unsigned long long)done, (unsigned long long)all,
            all ? 100.0 * (double)done / (double)all : 100.0);
}

void probe_progress_end(void)
{
    if (progress_shown)
        fputs("\r\033[K", stderr);
    progress_shown = false;
}

bool probe_number(const char *option, const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
    char *end = NULL;
    errno = 0;
    unsigned long long v = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
    if (end && !*end && !errno && v >= least && v <= most) {
        *value = v;
        return true;
    }
    gs_error("--%s wants a number from %llu to %llu, not '%s'", option, (unsigned long long)least,
             (unsigned long long)most, text);
    return false;
}

bool probe_range(const char *option, const char *text, unsigned most, unsigned *first, unsigned *last)
{
    char begin[16];
    const char *dots = strstr(text, "..");
    uint64_t a, b;
    size_t n = dots ? (size_t)(dots - text) : strlen(text);
    if (n >= sizeof(begin))
        n = 0;
    memcpy(begin, text, n);
    begin[n] = '\0';
    if (!probe_number(option, begin, 1, most, &a) || !probe_number(option, dots ? dots + 2 : begin, a, most, &b))
        return false;
    *first = (unsigned)a;
    *last = (unsigned)b;
    return true;
}

json_t *probe_describe(const struct probe_device *d, const char *note)
{
    char when[40];
    time_t now = time(NULL);
    struct tm t;
    strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &t));
    return json_pack("{s:s, s:s, s:s, s:i, s:s, s:s}", "device", d->name, "platform", d->platform, "driver", d->driver,
                     "compute_units", (int)d->compute_units, "time", when, "note", note ? note : "");
}
