/* SPDX-License-Identifier: MIT */
/* What every sample needs and none is about: options, the device, errors, times, the kernels' text, pictures. */
#ifndef SAMPLE_H
#define SAMPLE_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A number (value) or a text (text) that the user may give as --NAME; the table ends in an empty entry. */
struct sample_option {
    const char *name, *help;
    long *value, min, max;
    const char **text;
};

enum sample_phase { SAMPLE_WRITE, SAMPLE_KERNEL, SAMPLE_READ, SAMPLE_TOTAL, SAMPLE_PHASES };

static struct {
    const char *name, *wanted_device, *output_path;
    bool no_check, times;
    long iterations, iteration;
    cl_platform_id platform;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_mem buffers[64];
    cl_kernel kernels[32];
    cl_program programs[16];
    unsigned buffer_count, kernel_count, program_count;
    void **kept; /* what sample_alloc gave out */
    size_t kept_count;
    FILE *output;
    double (*ms)[SAMPLE_PHASES]; /* one row for each iteration */
    double start_ms, lap_ms;
    uint64_t random;
} sample;

#define CHECK(call) sample_check((call), #call, __FILE__, __LINE__)
/* Sets all arguments of a kernel: ARGS(kernel, A(buffer), A(count), LOCAL(bytes)). */
#define ARGS(kernel, ...) sample_args(kernel, (const struct sample_arg[]){__VA_ARGS__, {0}}, __FILE__, __LINE__)
#define A(value)                                                                                                       \
    {                                                                                                                  \
        sizeof(value), &(value)                                                                                        \
    }
#define LOCAL(bytes)                                                                                                   \
    {                                                                                                                  \
        bytes, NULL                                                                                                    \
    }
#define LAUNCH(kernel, dimensions, global, local)                                                                      \
    CHECK(clEnqueueNDRangeKernel(sample.queue, kernel, dimensions, NULL, global, local, 0, NULL, NULL))

__attribute__((noreturn, format(printf, 2, 3))) static inline void sample_die(int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s: ", sample.name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(status);
}

static inline void sample_check(cl_int error, const char *call, const char *file, int line)
{
    const char *slash = strrchr(file, '/');
    if (error != CL_SUCCESS)
        sample_die(1, "%s:%d: error %d from %s", slash ? slash + 1 : file, line, error, call);
}

struct sample_arg {
    size_t bytes;
    const void *value;
};

static inline void sample_args(cl_kernel kernel, const struct sample_arg *arg, const char *file, int line)
{
    for (cl_uint i = 0; arg[i].bytes; i++)
        sample_check(clSetKernelArg(kernel, i, arg[i].bytes, arg[i].value), "clSetKernelArg", file, line);
}

/* Zeroes; sample_end frees them. */
static inline void *sample_alloc(size_t bytes)
{
    void *p = calloc(1, bytes ? bytes : 1);
    void **kept = (void **)realloc(sample.kept, (sample.kept_count + 1) * sizeof(*kept));
    if (!p || !kept)
        sample_die(1, "no memory for %zu bytes", bytes);
    kept[sample.kept_count++] = p;
    sample.kept = kept;
    return p;
}

/* The same sequence in every run (xorshift64*). */
static inline uint32_t sample_random(void)
{
    sample.random ^= sample.random >> 12;
    sample.random ^= sample.random << 25;
    sample.random ^= sample.random >> 27;
    return (uint32_t)((sample.random * 0x2545f4914f6cdd1d) >> 32);
}

static inline float sample_uniform(float low, float high)
{
    return low + (high - low) * ((float)(sample_random() >> 8) / 16777216.0f);
}

static inline size_t sample_round_up(size_t n, size_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

static inline void sample_help(const char *what, const struct sample_option *options)
{
    printf("Usage: %s [OPTION...]\n%s\n\n", sample.name, what);
    for (const struct sample_option *o = options; o->name; o++)
        if (o->value)
            printf("  --%-15s %s (default %ld)\n", o->name, o->help, *o->value);
        else
            printf("  --%-15s %s (default %s)\n", o->name, o->help, *o->text);
    puts("  --iterations N    write, compute and read so often (default 1)\n"
         "  --device N        the Nth OpenCL device of the machine, or cpu, or gpu (default: the platform's own)\n"
         "  --no-check        don't compute the result again on the CPU\n"
         "  --output FILE     write the result's bytes to FILE\n"
         "  --times           print the median times of the phases as a line of JSON\n"
         "  --help            print this");
    exit(0);
}

static inline long sample_number(const char *name, const char *text, long min, long max)
{
    char *end;
    long n = text ? strtol(text, &end, 10) : 0;
    if (!text || end == text || *end || n < min || n > max)
        sample_die(2, "--%s wants a number from %ld to %ld, not '%s'", name, min, max, text ? text : "");
    return n;
}

static inline void sample_options(int argc, char **argv, const char *what, const struct sample_option *options)
{
    for (int i = 1; i < argc; i++) {
        const char *name = strncmp(argv[i], "--", 2) == 0 ? argv[i] + 2 : "";
        const struct sample_option *o = options;
        while (o->name && strcmp(o->name, name) != 0)
            o++;
        const bool alone = strcmp(name, "no-check") == 0 || strcmp(name, "times") == 0;
        const char *next = i + 1 < argc ? argv[i + 1] : NULL;
        sample.no_check |= strcmp(name, "no-check") == 0;
        sample.times |= strcmp(name, "times") == 0;
        if (strcmp(name, "help") == 0)
            sample_help(what, options);
        else if (o->name && o->value)
            *o->value = sample_number(name, next, o->min, o->max);
        else if (strcmp(name, "iterations") == 0)
            sample.iterations = sample_number(name, next, 1, 1000000);
        else if (!alone && !next)
            sample_die(2, "'%s' is no option, or wants a value; see --help", argv[i]);
        else if (o->name)
            *o->text = next;
        else if (strcmp(name, "device") == 0)
            sample.wanted_device = next;
        else if (strcmp(name, "output") == 0)
            sample.output_path = next;
        else if (!alone)
            sample_die(2, "there is no option '%s'; see --help", argv[i]);
        i += !alone;
    }
}

/* The device of that number among all platforms' devices of a type. */
static inline bool sample_find_device(cl_device_type type, cl_uint index)
{
    cl_uint platforms = 0, devices;
    cl_platform_id platform[16];
    cl_device_id device[64];
    if (clGetPlatformIDs(16, platform, &platforms) != CL_SUCCESS || platforms == 0)
        sample_die(1, "there is no OpenCL platform on this machine");
    for (cl_uint p = 0; p < platforms && p < 16; p++) {
        if (clGetDeviceIDs(platform[p], type, 64, device, &devices) != CL_SUCCESS)
            continue;
        if (index < devices && index < 64) {
            sample.platform = platform[p];
            sample.device = device[index];
            return true;
        }
        index -= devices;
    }
    return false;
}

static inline void sample_choose_device(void)
{
    const char *wanted = sample.wanted_device ? sample.wanted_device : "default";
    const bool cpu = strcmp(wanted, "cpu") == 0, gpu = strcmp(wanted, "gpu") == 0;
    const bool any = !cpu && !gpu && strcmp(wanted, "default") != 0;
    const cl_device_type type =
        cpu ? CL_DEVICE_TYPE_CPU : (gpu ? CL_DEVICE_TYPE_GPU : (any ? CL_DEVICE_TYPE_ALL : CL_DEVICE_TYPE_DEFAULT));
    const cl_uint index = any ? (cl_uint)sample_number("device", wanted, 0, 1000) : 0;
    /* Mesa's rusticl calls none of its devices the default one. */
    if (!sample_find_device(type, index) &&
        (type != CL_DEVICE_TYPE_DEFAULT || !sample_find_device(CL_DEVICE_TYPE_ALL, 0)))
        sample_die(1, "there is no OpenCL device '%s'", wanted);
}

/* Reads the options and opens the device, a context and an in-order queue. */
static inline void sample_open(int argc, char **argv, const char *what, const struct sample_option *options)
{
    const char *slash = strrchr(argv[0], '/');
    cl_int error;
    sample.name = slash ? slash + 1 : argv[0];
    sample.iterations = 1;
    sample.random = 0x9e3779b97f4a7c15;
    sample_options(argc, argv, what, options);
    sample.ms = (double(*)[SAMPLE_PHASES])sample_alloc((size_t)sample.iterations * sizeof(*sample.ms));
    if (sample.output_path && !(sample.output = fopen(sample.output_path, "wb")))
        sample_die(1, "cannot write to '%s'", sample.output_path);
    sample_choose_device();
    sample.context = clCreateContext(NULL, 1, &sample.device, NULL, NULL, &error);
    CHECK(error);
    sample.queue = clCreateCommandQueue(sample.context, sample.device, 0, &error);
    CHECK(error);
}

/* The whole text of a file that lies beside the executable, with a 0 after it. */
static inline char *sample_file(const char *name, size_t *bytes)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
    path[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(path, '/');
    snprintf(slash ? slash + 1 : path, sizeof(path) - (size_t)(slash ? slash + 1 - path : 0), "%s", name);
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0)
        sample_die(1, "cannot read '%s'", path);
    *bytes = (size_t)ftell(f);
    rewind(f);
    char *text = (char *)sample_alloc(*bytes + 1);
    if (fread(text, 1, *bytes, f) != *bytes)
        sample_die(1, "cannot read '%s'", path);
    fclose(f);
    return text;
}

static inline void sample_build(cl_program program, const char *options)
{
    if (clBuildProgram(program, 1, &sample.device, options, NULL, NULL) == CL_SUCCESS)
        return;
    char log[16384] = "";
    clGetProgramBuildInfo(program, sample.device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL);
    sample_die(1, "the kernels don't build:\n%s", log);
}

static inline cl_program sample_program(const char *file, const char *options)
{
    size_t bytes;
    cl_int error;
    char *text = sample_file(file, &bytes);
    cl_program program = clCreateProgramWithSource(sample.context, 1, (const char **)&text, &bytes, &error);
    CHECK(error);
    sample.programs[sample.program_count++] = program;
    sample_build(program, options);
    return program;
}

static inline cl_kernel sample_kernel(cl_program program, const char *name)
{
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, name, &error);
    CHECK(error);
    sample.kernels[sample.kernel_count++] = kernel;
    return kernel;
}

/* sample_end releases it. */
static inline cl_mem sample_keep(cl_mem buffer)
{
    return sample.buffers[sample.buffer_count++] = buffer;
}

static inline cl_mem sample_buffer(cl_mem_flags flags, size_t bytes)
{
    cl_int error;
    cl_mem buffer = clCreateBuffer(sample.context, flags, bytes, NULL, &error);
    CHECK(error);
    return sample_keep(buffer);
}

static inline void sample_write(cl_mem buffer, const void *from, size_t bytes)
{
    CHECK(clEnqueueWriteBuffer(sample.queue, buffer, CL_FALSE, 0, bytes, from, 0, NULL, NULL));
}

static inline void sample_read(cl_mem buffer, void *to, size_t bytes)
{
    CHECK(clEnqueueReadBuffer(sample.queue, buffer, CL_TRUE, 0, bytes, to, 0, NULL, NULL));
}

static inline double sample_clock_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* `while (sample_next())` runs its body once for each iteration. */
static inline bool sample_next(void)
{
    if (sample.iteration++ >= sample.iterations)
        return false;
    sample.start_ms = sample.lap_ms = sample_clock_ms();
    return true;
}

/* Waits for the queue and counts the time since the last lap as this phase's. */
static inline void sample_lap(enum sample_phase phase)
{
    CHECK(clFinish(sample.queue));
    const double now = sample_clock_ms();
    sample.ms[sample.iteration - 1][phase] += now - sample.lap_ms;
    sample.ms[sample.iteration - 1][SAMPLE_TOTAL] = now - sample.start_ms;
    sample.lap_ms = now;
}

static inline void sample_output(const void *bytes, size_t n)
{
    if (sample.output && fwrite(bytes, 1, n, sample.output) != n)
        sample_die(1, "cannot write to '%s'", sample.output_path);
}

/* Are the two alike, up to `tolerance` relative to the larger of 1 and the expected value? */
static inline bool sample_close(const float *got, const float *want, size_t n, double tolerance)
{
    for (size_t i = 0; i < n; i++) {
        const double error = fabs((double)got[i] - (double)want[i]);
        if (!(error <= tolerance * fmax(1.0, fabs((double)want[i])))) {
            fprintf(stderr, "%s: [%zu] is %.9g, expected %.9g\n", sample.name, i, (double)got[i], (double)want[i]);
            return false;
        }
    }
    return true;
}

static inline bool sample_same(const void *got, const void *want, size_t bytes)
{
    const unsigned char *g = (const unsigned char *)got, *w = (const unsigned char *)want;
    size_t i = 0;
    while (i < bytes && g[i] == w[i])
        i++;
    if (i < bytes)
        fprintf(stderr, "%s: byte %zu is %u, expected %u\n", sample.name, i, g[i], w[i]);
    return i == bytes;
}

static inline int sample_by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline double sample_median_ms(enum sample_phase phase)
{
    const size_t n = (size_t)sample.iterations;
    double *v = (double *)sample_alloc(n * sizeof(*v));
    for (size_t i = 0; i < n; i++)
        v[i] = sample.ms[i][phase];
    qsort(v, n, sizeof(*v), sample_by_value);
    const double median = n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
    return median;
}

static inline void sample_release_all(void)
{
    for (unsigned i = sample.buffer_count; i > 0; i--)
        clReleaseMemObject(sample.buffers[i - 1]);
    for (unsigned i = 0; i < sample.kernel_count; i++)
        clReleaseKernel(sample.kernels[i]);
    for (unsigned i = 0; i < sample.program_count; i++)
        clReleaseProgram(sample.programs[i]);
    clReleaseCommandQueue(sample.queue);
    clReleaseContext(sample.context);
    for (size_t i = 0; i < sample.kept_count; i++)
        free(sample.kept[i]);
    free(sample.kept);
}

/* Prints the verdict on a problem of this size and lets go of everything; returns the exit status. */
__attribute__((format(printf, 2, 3))) static inline int sample_end(bool pass, const char *size, ...)
{
    va_list args;
    va_start(args, size);
    printf("%s ", sample.name);
    vprintf(size, args);
    va_end(args);
    printf(" %s\n", sample.no_check ? "UNCHECKED" : (pass ? "PASS" : "FAIL"));
    if (sample.times)
        printf(
            "{\"write_ms\": %.4f, \"kernel_ms\": %.4f, \"read_ms\": %.4f, \"total_ms\": %.4f, \"iterations\": %ld}\n",
            sample_median_ms(SAMPLE_WRITE), sample_median_ms(SAMPLE_KERNEL), sample_median_ms(SAMPLE_READ),
            sample_median_ms(SAMPLE_TOTAL), sample.iterations);
    if (sample.output && fclose(sample.output) != 0)
        sample_die(1, "cannot write to '%s'", sample.output_path);
    sample_release_all();
    return sample.no_check || pass ? 0 : 1;
}

#endif
