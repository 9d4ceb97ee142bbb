/* SPDX-License-Identifier: MIT */
/* libgpusparc-log.so, for `gpusparc run --log`: loaded before libgpusparc.so, it hands on every OpenCL call of the
 * application, and writes a line for each that returns. So logging costs the shim itself nothing. Where the shim is a
 * layer of the OpenCL loader (OPENCL_LAYERS), the log is the layer above.
 *
 * The file is shared by all processes of a run: each line is one write to its end. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/clock.h"
#include "shim/driver/real.h"

enum { LINE = 1024, SHOWN_STRING = 80 };

struct gs_log_call {
    uint64_t begin_ns, end_ns;
    bool outermost;
    size_t n;        /* of the text */
    char kernel[64]; /* the kernel's name, if the call is about one */
    char text[LINE];
};

static struct _cl_icd_dispatch below;
static pthread_once_t found = PTHREAD_ONCE_INIT;
static atomic_bool in_use; /* by calls that came by name */
static bool is_layer;
static _Thread_local unsigned depth; /* of calls: a driver may call OpenCL, too */
static atomic_int out = -1;
static uint64_t start_ns;

/* Opens the log, never as one of the standard descriptors 0 to 2. */
__attribute__((constructor)) static void open_file(void)
{
    const char *path = secure_getenv("GPUSPARC_LOG");
    start_ns = gs_now_ns();
    if (!path || !*path)
        return;
    if (strcmp(path, "-") == 0) {
        out = STDERR_FILENO;
        return;
    }
    const int low = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    out = low < 0 || low > STDERR_FILENO ? low : fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (out < 0)
        dprintf(STDERR_FILENO, "gpusparc: the log can't be written to %s: %s\n", path, strerror(errno));
    if (low >= 0 && low != out)
        close(low);
}

static void find_below(void)
{
    if (is_layer)
        return;
#define GS_LOGGED(name) *(void **)&below.name = dlsym(RTLD_NEXT, #name);
#include "calls.inc"
#undef GS_LOGGED
}

static const struct _cl_icd_dispatch *gs_log_begin(struct gs_log_call *c)
{
    atomic_store_explicit(&in_use, true, memory_order_relaxed);
    pthread_once(&found, find_below);
    c->outermost = depth++ == 0;
    c->n = 0;
    c->begin_ns = gs_now_ns();
    return &below;
}

/* Before the call, which may be the kernel's last release. */
static void gs_log_name(struct gs_log_call *c, cl_kernel kernel)
{
    c->kernel[0] = 0;
    if (c->outermost && kernel && below.clGetKernelInfo)
        below.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof c->kernel, c->kernel, NULL);
    c->begin_ns = gs_now_ns();
}

__attribute__((format(printf, 2, 3))) static void gs_log_add(struct gs_log_call *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const int n = vsnprintf(c->text + c->n, LINE - c->n, fmt, ap);
    va_end(ap);
    c->n += n > 0 ? (size_t)n : 0;
    c->n = c->n < LINE - 1 ? c->n : LINE - 1;
}

/* True: the line is to be written; the caller adds the arguments, and then calls gs_log_end. */
static bool gs_log_ended(struct gs_log_call *c, const char *function)
{
    depth--;
    if (!c->outermost || out < 0)
        return false;
    c->end_ns = gs_now_ns();
    const unsigned long long us = (c->begin_ns - start_ns) / 1000;
    gs_log_add(c, "gpusparc: %d.%d %llu.%06llu %s(", (int)getpid(), (int)gettid(), us / 1000000, us % 1000000,
               function);
    return true;
}

static void gs_log_pointer(struct gs_log_call *c, const char *label, const void *p)
{
    gs_log_add(c, p ? "%s%p" : "%sNULL", label, p);
}

/* One line and no control characters: a terminal would obey them. */
static void gs_log_string(struct gs_log_call *c, const char *label, const char *s)
{
    gs_log_add(c, s ? "%s\"" : "%sNULL", label);
    if (!s)
        return;
    for (size_t i = 0; s[i] && i < SHOWN_STRING; i++)
        gs_log_add(c, "%c", (unsigned char)s[i] < ' ' || s[i] == 0x7f ? ' ' : s[i]);
    gs_log_add(c, "\"%s", strlen(s) > SHOWN_STRING ? "..." : "");
}

static void gs_log_sizes(struct gs_log_call *c, const char *label, const size_t *v, cl_uint n)
{
    gs_log_add(c, v ? "%s" : "%sNULL", label);
    for (cl_uint i = 0; v && i < n && i < 3; i++)
        gs_log_add(c, "%s%zu", i ? "x" : "", v[i]);
}

static void gs_log_kernel(struct gs_log_call *c, const char *label, cl_kernel kernel)
{
    gs_log_pointer(c, label, kernel);
    gs_log_add(c, *c->kernel ? " %s" : "%s", c->kernel);
}

/* A small argument's bytes, as a number. */
static void gs_log_value(struct gs_log_call *c, const void *value, size_t bytes)
{
    unsigned long long v = 0;
    if (!value || bytes > sizeof v)
        return;
    memcpy(&v, value, bytes);
    gs_log_add(c, " (%#llx)", v);
}

static const char *error_name(cl_int code)
{
    static const struct {
        cl_int code;
        const char *name;
    } names[] = {
        {0, "CL_SUCCESS"},
#include "errors.inc"
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].code == code)
            return names[i].name;
    return "an unknown error";
}

/* made: what the function gives back, unless that is the code. */
static void gs_log_end(struct gs_log_call *c, const void *const *made, cl_int code)
{
    const int saved = errno;
    /* Of 1 us, by whole numbers: the application's locale may part others by a comma. */
    const unsigned long long tenths = (c->end_ns - c->begin_ns) / 100;
    char tail[160], value[32] = "", took[32];
    if (made)
        snprintf(value, sizeof value, *made ? "%p, " : "NULL, ", *made);
    char number[16] = "";
    if (code)
        snprintf(number, sizeof number, " (%d)", (int)code);
    snprintf(took, sizeof took, tenths < 1000 ? "%llu.%llu" : "%llu", tenths / 10, tenths % 10);
    snprintf(tail, sizeof tail, ") = %s%s%s, %s us\n", value, error_name(code), number, took);
    const size_t space = LINE - strlen(tail) - 1;
    if (c->n > space)
        memcpy(c->text + space - 3, "...", 3);
    c->n = c->n > space ? space : c->n;
    gs_log_add(c, "%s", tail);
    if (write(out, c->text, c->n) < 0 && atomic_exchange(&out, -1) > STDERR_FILENO)
        dprintf(STDERR_FILENO, "gpusparc: the log ends here, it can't be written: %s\n", strerror(errno));
    errno = saved;
}

static void *gs_log_own(const char *name, void *theirs);

#include "calls.inc"

/* Ours in the place of what the functions below have by that name. */
static void *gs_log_own(const char *name, void *theirs)
{
    static const struct {
        const char *name;
        void (*function)(void);
    } own[] = {
#define GS_LOGGED(name) {#name, (void (*)(void))name},
#include "calls.inc"
#undef GS_LOGGED
    };
    for (size_t i = 0; theirs && name && i < sizeof own / sizeof *own; i++)
        if (strcmp(own[i].name, name) == 0)
            memcpy(&theirs, &own[i].function, sizeof theirs);
    return theirs;
}

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info param_name, size_t param_value_size, void *param_value,
                                               size_t *param_value_size_ret)
{
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    return param_name == CL_LAYER_API_VERSION
               ? gs_query_value(&version, sizeof version, param_value_size, param_value, param_value_size_ret)
               : CL_INVALID_VALUE;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint num_entries, const cl_icd_dispatch *target_dispatch,
                                            cl_uint *num_entries_ret, const cl_icd_dispatch **layer_dispatch_ret)
{
    static struct _cl_icd_dispatch table;
    const cl_uint most = sizeof table / sizeof(void *), n = num_entries < most ? num_entries : most;
    if (!target_dispatch || !num_entries_ret || !layer_dispatch_ret)
        return CL_INVALID_VALUE;
    memcpy(&table, target_dispatch, n * sizeof(void *));
    *num_entries_ret = n;
    *layer_dispatch_ret = &table;
    if (atomic_load(&in_use)) /* the application's calls have come through us already */
        return CL_SUCCESS;
    is_layer = true;
    memcpy(&below, target_dispatch, n * sizeof(void *));
#define GS_LOGGED(name)                                                                                                \
    if (table.name)                                                                                                    \
        table.name = name;
#include "calls.inc"
#undef GS_LOGGED
    return CL_SUCCESS;
}
