/* SPDX-License-Identifier: MIT */
/* See prepare.h, section dump.c. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>

#include "common/log.h"
#include "common/stream.h"
#include "shim/plan/prepare.h"

enum { NAME_BYTES = 13 };

char *gs_build_log(cl_program program, cl_device_id dev)
{
    size_t n = 0;
    char *log = NULL;
    if (gs_real()->clGetProgramBuildInfo(program, dev, CL_PROGRAM_BUILD_LOG, 0, NULL, &n) == CL_SUCCESS && n)
        log = calloc(1, n + 1);
    if (log)
        gs_real()->clGetProgramBuildInfo(program, dev, CL_PROGRAM_BUILD_LOG, n, log, NULL);
    return log;
}

/* With the program's lock. */
static void name_program(struct gs_program *p, char name[NAME_BYTES])
{
    snprintf(name, NAME_BYTES, "%012" PRIx64, gs_program_id_locked(p) >> 16);
}

/* NULL: the file can't be written, which is said once. */
static FILE *open_file(const char *name, const char *suffix, const char *mode)
{
    static atomic_bool said;
    char path[PATH_MAX];
    const int n = snprintf(path, sizeof path, "%s/%s%s", gs_settings()->dump, name, suffix);
    FILE *f = n < (int)sizeof path ? fopen(path, mode) : NULL;
    if (!f && !atomic_exchange(&said, true))
        gs_error("%s can't be written: %s", path, strerror(n < (int)sizeof path ? errno : ENAMETOOLONG));
    return f;
}

static void close_file(FILE *f, const char *name, const char *suffix)
{
    const int err = gs_close_written(f);
    if (err)
        gs_error("%s%s in %s can't be written: %s", name, suffix, gs_settings()->dump, strerror(-err));
}

/* If there are several units, the file's name has the unit's number. */
static void write_unit(const struct gs_program *p, const char *name, size_t unit, const char *ending, const char *text)
{
    char number[24] = "", suffix[48];
    if (p->n_units > 1)
        snprintf(number, sizeof number, ".%zu", unit);
    snprintf(suffix, sizeof suffix, "%s%s", number, ending);
    FILE *f = text ? open_file(name, suffix, "we") : NULL;
    if (!f)
        return;
    fputs(text, f);
    close_file(f, name, suffix);
}

static void print_kernels(FILE *f, const struct gs_program *p)
{
    if (p->refusal || !p->summary) {
        fprintf(f, "not translated: %s\n", p->refusal ? p->refusal : "the driver hasn't built it");
        return;
    }
    fprintf(f, "translated: %s\n", p->summary->changed ? "yes" : "its text need not be changed");
    for (uint32_t i = 0; i < p->summary->n_kernels; i++) {
        const struct gs_kernel_summary *k = &p->summary->kernels[i];
        if (!k->refusal)
            fprintf(f, "kernel %s: can be split%s\n", k->name, k->hidden ? ", with a hidden argument" : "");
        else
            fprintf(f, "kernel %s: %u:%u: %s\n", k->name, k->refusal_site.line, k->refusal_site.column, k->refusal);
    }
}

void gs_dump_built(struct gs_program *p, cl_int err)
{
    char name[NAME_BYTES];
    if (!gs_settings()->dump)
        return;
    if (!err)
        gs_translated_headers(p);
    GS_LOCKED(&p->lock);
    name_program(p, name);
    if (!p->n_units)
        write_unit(p, name, 0, ".cl", p->source);
    for (size_t i = 0; i < p->n_units; i++)
        write_unit(p, name, i, ".cl", p->units[i].source);
    for (size_t i = 0; p->summary && !p->refusal && i < p->summary->n_units; i++)
        write_unit(p, name, i, ".translated.cl", p->summary->units[i]);
    FILE *f = open_file(name, ".log", "we");
    if (!f)
        return;
    fprintf(f, "program of: %s\noptions: %s\n", program_invocation_name, p->options ? p->options : "");
    for (size_t i = 0; i < p->n_units; i++)
        fprintf(f, "options of unit %zu: %s\n", i, p->units[i].options);
    char *log = gs_build_log(p->o.handle, p->o.ctx->dev[0]);
    fprintf(f, err ? "built by the application: it failed (error %d)\n" : "built by the application: yes\n", (int)err);
    fprintf(f, log && *log ? "the driver's log:\n%s\n" : "the driver's log: empty\n", log);
    free(log);
    print_kernels(f, p);
    close_file(f, name, ".log");
}

void gs_dump_refused(struct gs_program *p, const char *driver_log)
{
    char name[NAME_BYTES];
    if (!gs_settings()->dump)
        return;
    name_program(p, name);
    FILE *f = open_file(name, ".log", "ae");
    if (!f)
        return;
    fprintf(f, "the translation doesn't compile on every device of the group; the driver's log:\n%s\n", driver_log);
    close_file(f, name, ".log");
}
