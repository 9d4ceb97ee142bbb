/* SPDX-License-Identifier: MIT */
/* A program's states, by p->lock: nothing; translated (summary); prepared (compiled, or found not worth compiling).
 * From any of these `refusal` may follow, from which only a new build leads back. preparing: by a thread of ours. */
#include "shim/plan/prepare.h"

#include <limits.h>
#include <stdio.h>

#include "common/cache.h"
#include "common/log.h"
#include "shim/process/threads.h"
#include "shim/plan/plan.h"
#include "shim/plan/upward.h"
#include "common/reasons.h"
#include "translator/summary/same_code.h"

enum { LINE_BYTES = 160 };

static void free_owned(const void *p)
{
    free((void *)(uintptr_t)p);
}

void gs_program_drop_units(struct gs_program *p)
{
    for (size_t i = 0; i < p->n_units; i++) {
        const struct gs_translate_unit *u = &p->units[i];
        for (size_t h = 0; h < u->n_headers; h++) {
            free_owned(u->headers[h].name);
            free_owned(u->headers[h].text);
        }
        free_owned(u->headers);
        free_owned(u->source);
        free_owned(u->options);
    }
    free(p->units);
    p->units = NULL;
    p->n_units = 0;
}

static void forget_translation(struct gs_program *p)
{
    for (unsigned i = 0; i < GS_MAX_DEVICES; i++) {
        GS_RELEASE(Program, p->translated[i]);
        p->translated[i] = NULL;
    }
    gs_summary_free(p->summary);
    p->summary = NULL;
    p->prepared = false;
}

static bool is_relaxed(const struct gs_program *p)
{
    bool relaxed =
        gs_reordering_option(p->options) || gs_reordering_option(p->link_options) || gs_reordering_pragma(p->summary);
    for (size_t i = 0; i < p->n_units && !relaxed; i++)
        relaxed = gs_reordering_option(p->units[i].options);
    return relaxed;
}

/* Can both texts' compiled code be compared? NVIDIA's driver shows it. Not if devices differ, since compare_code asks
 * the first alone; nor in pooled memory, which needs the translation in any case. */
static bool is_compared(const struct gs_program *p)
{
    return gs_group()->nvidia && !gs_group()->unlike && !p->o.ctx->pooled && is_relaxed(p);
}

/* The cache's entry of a comparison: behind the head a letter for each kernel, 's' if the code is the same. */
static const char code_head[] = "gpusparc-code 2 ";
enum { CODE_HEAD = sizeof code_head - 1, CODE_NAME = 8 + GS_HASH_HEX_BYTES };

static void name_code(struct gs_program *p, const char *driver, char name[CODE_NAME])
{
    char text[512];
    snprintf(text, sizeof text, "%s%llx %s %s", code_head, (unsigned long long)gs_program_id_locked(p),
             p->summary->headers, driver ? driver : "");
    gs_hash_hex(text, strlen(text), stpcpy(name, "code-"));
}

/* Takes an earlier process's comparison from the cache. Without one all kernels count as the same until compiled. */
static void recall_code(struct gs_program *p, const char *driver)
{
    char name[CODE_NAME];
    size_t bytes = 0;
    name_code(p, driver, name);
    char *kept = gs_cache_read(name, &bytes);
    const bool known = bytes == CODE_HEAD + p->summary->n_kernels && memcmp(kept, code_head, CODE_HEAD) == 0;
    for (uint32_t i = 0; i < p->summary->n_kernels; i++)
        p->summary->kernels[i].reorders &= known && kept[CODE_HEAD + i] != 's';
    free(kept);
}

/* Compares the compiled code of the application's text and of our translation, kernel by kernel: where both are the
 * same, floating-point sums keep their order. */
static void compare_code(struct gs_program *p)
{
    const size_t n = p->summary->n_kernels;
    char name[CODE_NAME], *driver = gs_device_text(p->o.ctx->dev[0], CL_DRIVER_VERSION);
    char *kept = calloc(1, sizeof code_head + n);
    unsigned char *own = NULL, *ours = NULL;
    struct gs_code a, b;
    gs_binary_read(p->o.ctx, p->o.handle, &own, &a.bytes);
    gs_binary_read(p->o.ctx, p->translated[0], &ours, &b.bytes);
    a.text = (char *)own;
    b.text = (char *)ours;
    gs_summary_reorders(p->summary, true);
    const bool both = kept && a.bytes && b.bytes; /* gpusparc-compile doesn't build the application's */
    for (size_t i = 0; i < n && both; i++) {
        struct gs_kernel_summary *k = &p->summary->kernels[i];
        k->reorders = k->hidden && !gs_same_code(&a, &b, k->name, k->n_args);
        kept[CODE_HEAD + i] = k->reorders ? 'o' : 's';
    }
    if (both) {
        name_code(p, driver, name);
        gs_cache_write(name, memcpy(kept, code_head, CODE_HEAD), CODE_HEAD + n);
    }
    free(kept);
    free(driver);
    free(own);
    free(ours);
}

/* Is there a kernel that may run in parts or in several launches? Else nothing is compiled. */
static bool is_useful(const struct gs_program *p)
{
    bool useful = false;
    for (uint32_t i = 0; i < p->summary->n_kernels && !useful; i++) {
        const struct gs_kernel_summary *k = &p->summary->kernels[i];
        if (k->reorders && !gs_settings()->allow_reorder)
            continue;
        useful = !k->refusal || (p->o.ctx->pooled && k->only_atomics);
        for (uint32_t a = 0; a < k->n_args && !useful; a++)
            useful = k->args[a].atomic == GS_ATOMIC_OTHER;
    }
    return useful;
}

/* Has the translator translate the program; on failure p->refusal says why. Inside the driver only to ask it. */
static void ask_translator(struct gs_program *p)
{
    if (!gs_threads_enter()) {
        p->refusal = GS_R_TRANSLATING; /* the process ends: nobody reads this */
        return;
    }
    struct gs_translate_unit whole = {.source = p->source, .options = p->options ? p->options : ""};
    struct gs_translate_unit *units = p->n_units ? p->units : &whole;
    const size_t n = p->n_units ? p->n_units : 1;
    cl_device_id dev = p->o.ctx->dev[0];
    cl_uint bits = 64;
    cl_bool images = CL_FALSE;
    char platform[256] = "", path[PATH_MAX];
    gs_real()->clGetDeviceInfo(dev, CL_DEVICE_ADDRESS_BITS, sizeof bits, &bits, NULL);
    gs_real()->clGetDeviceInfo(dev, CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, NULL);
    gs_real()->clGetPlatformInfo(gs_group()->platform, CL_PLATFORM_NAME, sizeof platform - 1, platform, NULL);
    char *extensions = gs_device_text(dev, CL_DEVICE_EXTENSIONS),
         *version = gs_device_text(dev, CL_DEVICE_OPENCL_C_VERSION);
    char *vendor = gs_device_text(dev, CL_DEVICE_VENDOR), *device = gs_device_text(dev, CL_DEVICE_VERSION);
    char *driver = gs_device_text(dev, CL_DRIVER_VERSION);
    const bool complete = extensions && version && vendor && device;
    for (size_t i = 0; complete && i < n; i++)
        units[i].macros = gs_device_macros(p->o.ctx, units[i].options);
    gs_threads_leave();
    const struct gs_translate_request request = {
        .units = units,
        .n_units = n,
        .device = {extensions, version, vendor, platform, bits, images == CL_TRUE, device},
        .windows = p->moved,
    };
    const char *given = secure_getenv("GPUSPARC_TRANSLATOR");
    snprintf(path, sizeof path, "%s/gpusparc-translate", gs_library_dir());
    uint64_t bytes = 0;
    if (!complete)
        p->refusal = GS_R_NO_MEMORY;
    else if (gs_translate(&request, given && *given ? given : path, (int)gs_settings()->translate_timeout_ms,
                          &p->summary, p->why, sizeof p->why) < 0)
        p->refusal = p->why;
    else if (p->summary->refusal)
        p->refusal = p->summary->refusal;
    else if (p->summary->n_units != n)
        p->refusal = GS_R_ANSWER;
    for (size_t i = 0; !p->refusal && i < n; i++)
        bytes += strlen(p->summary->units[i]);
    if (!p->refusal)
        gs_summary_reorders(p->summary, !p->o.ctx->pooled && is_relaxed(p));
    if (!p->refusal && is_compared(p))
        recall_code(p, driver);
    if (!p->refusal)
        atomic_store(&p->text_bytes, is_useful(p) ? bytes : 0);
    for (size_t i = 0; i < n; i++) {
        free_owned(units[i].macros);
        units[i].macros = NULL;
    }
    free(extensions);
    free(version);
    free(vendor);
    free(device);
    free(driver);
}

/* Where pointers can't be moved, or what the compiler makes of sums might change, whole replicas will do. */
static void translate(struct gs_program *p)
{
    p->moved = p->o.ctx->pooled || atomic_load(&gs_process.large);
    ask_translator(p);
    if (!p->moved || p->o.ctx->pooled || !(p->refusal || is_relaxed(p)))
        return;
    forget_translation(p);
    p->refusal = NULL;
    p->moved = false;
    ask_translator(p);
}

/* A translated program that is being compiled: of all places, or PoCL's of one. */
struct target {
    struct gs_program *of;
    unsigned place;
    cl_uint n;
    const cl_device_id *dev;
    char tail[64]; /* stands behind the program's text, so that PoCL keeps those of two places apart */
    cl_int err;
    char line[LINE_BYTES]; /* the driver's words if it refuses the unit */
    bool beside;           /* compiled by a thread of its own */
    pthread_t thread;
};

/* Copies the log's first line with an error, or its first line, to `line` (of `bytes` bytes): without leading blanks,
 * with '?' for characters beyond ASCII; "" if there is none. log may be NULL. */
static void find_line(const char *log, char *line, size_t bytes)
{
    const char *at = log ? strcasestr(log, "error") : NULL;
    size_t n = 0;
    while (at && at > log && at[-1] != '\n')
        at--;
    at = at ? at : log ? log : "";
    at += strspn(at, " \t\r\n");
    for (; *at && *at != '\n' && n + 1 < bytes; at++)
        line[n++] = *at >= ' ' && *at <= '~' ? *at : '?';
    line[n] = '\0';
}

/* Of the first device that has something to say. */
static void say_log(struct target *t, cl_program program)
{
    char *log = NULL;
    for (cl_uint d = 0; d < t->n && !(log && *log); d++) {
        free(log);
        log = gs_build_log(program, t->dev[d]);
    }
    find_line(log, t->line, LINE_BYTES);
    gs_debug("the translated program doesn't compile: %s", log ? log : "");
    gs_dump_refused(t->of, log ? log : "");
    free(log);
}

static cl_program make(struct target *t, const char *text, const char *tail)
{
    const char *texts[] = {text, tail};
    return gs_real()->clCreateProgramWithSource(t->of->o.ctx->o.handle, 2, texts, NULL, &t->err);
}

/* One unit of a program that is linked, with the application's headers, which text that needed no change includes. */
static cl_program compile_unit(struct target *t, size_t unit)
{
    const struct gs_translate_unit *u = &t->of->units[unit];
    cl_program *headers = calloc(u->n_headers + 1, sizeof *headers), program = NULL;
    const char **names = calloc(u->n_headers + 1, sizeof *names);
    t->err = headers && names ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    for (size_t i = 0; i < u->n_headers && !t->err; i++) {
        names[i] = u->headers[i].name;
        headers[i] = make(t, u->headers[i].text, "");
    }
    if (!t->err)
        program = make(t, t->of->summary->units[unit], unit ? "" : t->tail);
    const bool any = u->n_headers > 0;
    if (!t->err)
        t->err = gs_real()->clCompileProgram(program, t->n, t->dev, u->options, (cl_uint)u->n_headers,
                                             any ? headers : NULL, any ? names : NULL, NULL, NULL);
    for (size_t i = 0; headers && i < u->n_headers; i++)
        GS_RELEASE(Program, headers[i]);
    free(headers);
    free(names);
    return program;
}

/* The linked program; with t->err the refused one, or NULL. */
static cl_program link_units(struct target *t)
{
    const struct gs_program *p = t->of;
    cl_program *units = calloc(p->n_units + 1, sizeof *units), result = NULL;
    t->err = units ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    size_t n = 0;
    while (n < p->n_units && !t->err) {
        units[n] = compile_unit(t, n);
        n++;
    }
    if (!t->err)
        result = gs_real()->clLinkProgram(p->o.ctx->o.handle, t->n, t->dev, p->link_options, (cl_uint)n, units, NULL,
                                          NULL, &t->err);
    else if (n)
        result = units[--n];
    for (size_t i = 0; i < n; i++)
        gs_real()->clReleaseProgram(units[i]);
    free(units);
    return result;
}

static cl_program build(struct target *t)
{
    const struct gs_program *p = t->of;
    cl_program program = make(t, p->summary->units[0], t->tail);
    if (!t->err)
        t->err = gs_real()->clBuildProgram(program, t->n, t->dev, p->options ? p->options : "", NULL, NULL);
    return program;
}

static void *compile(void *arg)
{
    struct target *t = arg;
    gs_compile_quietly(true);
    cl_program program = t->of->linked ? link_units(t) : build(t);
    gs_compile_quietly(false);
    if (program && t->err) {
        say_log(t, program);
        gs_real()->clReleaseProgram(program);
        program = NULL;
    }
    t->of->translated[t->place] = program;
    return NULL;
}

/* Compiles for all places, the first place last; servers compile at the same time. */
static cl_int compile_for_all(struct gs_program *p, char line[LINE_BYTES])
{
    struct target of[GS_MAX_DEVICES];
    struct gs_context *ctx = p->o.ctx;
    const bool each = gs_group()->pocl;
    const unsigned n = each ? ctx->n : 1;
    bool failed = false;
    for (unsigned i = n; i-- > 0;) {
        struct target *t = &of[i];
        *t = (struct target){.of = p, .place = i, .n = each ? 1 : ctx->n, .dev = &ctx->dev[i]};
        if (each)
            snprintf(t->tail, sizeof t->tail, "\n__constant int gpusparc_part_%u = %u;\n", i, i);
        t->beside = i && gs_group()->remote && gs_threads_start("gs-compile", &t->thread, compile, t);
        if (!t->beside && !failed) {
            gs_threads_compile_by_own(compile, t);
            failed = t->err;
        }
    }
    for (unsigned i = 0; i < n; i++)
        if (of[i].beside)
            pthread_join(of[i].thread, NULL);
    for (unsigned i = n; i-- > 0;)
        if (of[i].err) {
            memcpy(line, of[i].line, LINE_BYTES);
            return of[i].err;
        }
    return CL_SUCCESS;
}

/* Translates the program, with its lock held. Is compiling of any use? */
static bool translate_program(struct gs_program *p)
{
    if (!p->refusal && !p->summary)
        translate(p);
    if (!p->refusal && p->from_binary && strcmp(p->headers, p->summary->headers) != 0)
        p->refusal = GS_R_HEADERS;
    return !p->refusal && is_useful(p);
}

/* Prepares a program that is translated (begun at `begin_ns`), with its lock held: compiles it, if it is useful. A
 * thread of ours is inside the driver meanwhile, a thread of the application during the whole launch. */
static void compile_program(struct gs_program *p, bool useful, uint64_t begin_ns)
{
    p->prepared = true;
    if (!useful)
        return;
    const uint64_t translated = gs_now_ns();
    gs_threads_compile(true);
    char line[LINE_BYTES] = "";
    const cl_int err = compile_for_all(p, line);
    gs_threads_compile(false);
    if (err) {
        snprintf(p->why, sizeof p->why, GS_R_DOES_NOT_COMPILE, err, *line ? line : "the driver doesn't say why");
        p->refusal = p->why;
    } else if (is_compared(p))
        compare_code(p);
    const uint64_t end = gs_now_ns();
    atomic_store(&p->prepare_ns, end - begin_ns);
    gs_above_plan.compiled(p);
    gs_debug("a program was translated in %llu us and compiled for %u devices in %llu us",
             (unsigned long long)(translated - begin_ns) / 1000, p->o.ctx->n,
             (unsigned long long)(end - translated) / 1000);
}

static void *prepare_in_thread(void *arg)
{
    struct gs_program *p = arg;
    pthread_mutex_lock(&p->lock);
    const uint64_t begin_ns = gs_now_ns();
    const bool useful = !p->prepared && translate_program(p), inside = gs_threads_enter();
    if (inside && !p->prepared && (!useful || gs_above_plan.pays(p))) /* what doesn't pay by now is left for later */
        compile_program(p, useful, begin_ns);
    pthread_mutex_unlock(&p->lock);
    cl_context context = p->o.ctx->o.handle;
    atomic_store(&p->preparing, false);
    if (!inside)
        return NULL;
    gs_drop(&p->o);
    gs_real()->clReleaseContext(context);
    gs_threads_leave();
    return NULL;
}

bool gs_prepared(struct gs_program *p)
{
    if (atomic_load(&p->preparing) || pthread_mutex_trylock(&p->lock) != 0)
        return false;
    const bool prepared = p->prepared;
    pthread_mutex_unlock(&p->lock);
    return prepared;
}

static void await_thread(const struct gs_program *p, uint64_t most_ns)
{
    const uint64_t begin_ns = gs_now_ns();
    while (atomic_load(&p->preparing) && gs_now_ns() - begin_ns < most_ns)
        nanosleep(&(struct timespec){0, 100000}, NULL);
}

void gs_prepare_by_thread(struct gs_program *p, uint64_t most_ns)
{
    /* Unless a thread is at it. The thread keeps the program and the driver's context. */
    if (!atomic_exchange(&p->preparing, true)) {
        const bool retained = gs_real()->clRetainContext(p->o.ctx->o.handle) == CL_SUCCESS;
        gs_hold(&p->o);
        if (!retained || !gs_threads_start("gs-translate", NULL, prepare_in_thread, p)) {
            gs_drop(&p->o);
            if (retained)
                gs_real()->clReleaseContext(p->o.ctx->o.handle);
            atomic_store(&p->preparing, false);
        }
    }
    await_thread(p, most_ns);
}

void gs_program_clear(struct gs_program *p)
{
    await_thread(p, UINT64_MAX);
    GS_LOCKED(&p->lock);
    forget_translation(p);
    gs_kinds_clear(p);
    atomic_store(&p->id, 0);
    atomic_store(&p->prepare_ns, 0);
    atomic_store(&p->built_ns, 0);
    atomic_store(&p->later, 0);
    if (!p->from_binary) {
        gs_program_drop_units(p);
        free(p->options);
        p->options = NULL;
    }
}

void gs_program_free(struct gs_program *p)
{
    forget_translation(p);
    gs_program_drop_units(p);
    while (p->kinds)
        gs_kinds_clear(p);
}

const struct gs_kernel_summary *gs_prepare(struct gs_kernel *k, bool compile, const char **reason)
{
    struct gs_program *p = k->program;
    GS_LOCKED(&p->lock);
    if (compile && !p->prepared) {
        const uint64_t begin_ns = gs_now_ns();
        compile_program(p, translate_program(p), begin_ns);
    }
    if (!p->refusal && !p->summary)
        translate(p);
    const struct gs_kernel_summary *s = p->refusal ? NULL : gs_summary_kernel(p->summary, k->kind->name);
    s = s && s->n_args == k->n_args ? s : NULL;
    *reason = p->refusal ? p->refusal : s ? NULL : GS_R_UNKNOWN_KERNEL;
    return s;
}

const char *gs_translated_headers(struct gs_program *p)
{
    GS_LOCKED(&p->lock);
    if (!p->summary && !p->refusal && !p->prepared)
        translate(p);
    return p->summary && !p->refusal ? p->summary->headers : NULL;
}

cl_kernel gs_spare_kernel(struct gs_kernel *k, unsigned place, cl_int *err)
{
    cl_kernel found = atomic_exchange(&k->spare[place], NULL);
    const cl_program *of = k->program->translated; /* the place's, or the one of all */
    *err = CL_SUCCESS;
    return found ? found : gs_real()->clCreateKernel(of[of[place] ? place : 0], k->kind->name, err);
}

void gs_spare_kernel_give(struct gs_kernel *k, unsigned place, cl_kernel spare)
{
    const cl_kernel old = atomic_exchange(&k->spare[place], spare);
    GS_RELEASE(Kernel, old);
}
