/* SPDX-License-Identifier: MIT */
/* gpusparc explain: the plan of a launch that isn't made. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/explain.h"

static const char *find_value(const struct gs_explain *e, const char *name)
{
    for (size_t i = 0; i < e->n_values; i++)
        if (strcmp(e->values[i].name, name) == 0)
            return e->values[i].value;
    return NULL;
}

int gs_explain_bytes(const char *s, uint64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoull(s, &end, 0);
    if (errno || end == s || strchr(s, '-'))
        return -EINVAL;
    unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    end += shift > 0;
    if (strcmp(end, "iB") == 0 || strcmp(end, "B") == 0)
        end += strlen(end);
    if (*end || *out > UINT64_MAX >> shift)
        return -EINVAL;
    *out <<= shift;
    return 0;
}

/* A number in the bytes that a kernel's argument of that type and size has. Vectors: all elements alike. */
static int read_number(const char *s, const char *type, void *bytes, size_t size)
{
    char *end;
    errno = 0;
    if (strstr(type, "float") || strstr(type, "double")) {
        double d = strtod(s, &end);
        float f = (float)d;
        size_t k = strstr(type, "double") ? sizeof d : sizeof f;
        for (size_t at = 0; at + k <= size; at += k)
            memcpy((char *)bytes + at, k == sizeof d ? (void *)&d : (void *)&f, k);
    } else {
        long long i = *s == '-' ? strtoll(s, &end, 0) : (long long)strtoull(s, &end, 0);
        memset(bytes, i < 0 ? 255 : 0, size);
        memcpy(bytes, &i, size < sizeof i ? size : sizeof i);
    }
    return errno || end == s || *end ? -EINVAL : 0;
}

static const struct gs_image any_image = {.band_bytes = 1};

static int set_arg(const struct gs_explain *e, struct gs_explain_launch *l, uint32_t i, char *why, size_t why_bytes)
{
    const struct gs_arg_summary *a = &l->kernel->args[i];
    const char *value = find_value(e, a->name);
    struct gs_arg *arg = &l->args[i];
    int err = 0;
    arg->set = true;
    arg->size = a->size;
    if (a->kind == GS_ARG_VALUE && value) {
        arg->bytes = calloc(1, a->size + 8);
        if (!arg->bytes)
            return -ENOMEM;
        err = read_number(value, a->type, arg->bytes, a->size);
    } else if (a->kind == GS_ARG_VALUE) {
        l->values_missing = true;
    } else if (a->kind == GS_ARG_GLOBAL || a->kind == GS_ARG_CONSTANT || a->kind == GS_ARG_IMAGE) {
        struct gs_mem *m = &l->mems[i];
        m->root = m;
        m->size = GS_EXPLAIN_BUFFER;
        m->image = a->kind == GS_ARG_IMAGE ? &any_image : NULL;
        if (!m->image && value)
            err = gs_explain_bytes(value, &m->size);
        else if (!m->image)
            l->sizes_missing = true;
        arg->is_mem = true;
        l->used[i] = m;
    }
    if (err == -EINVAL)
        snprintf(why, why_bytes, "'%s' is no value for %s %s", value, a->type, a->name);
    return err;
}

/* The ranges by argument, which the plan has by object only. */
static int find_access(struct gs_explain_launch *l)
{
    const uint32_t n = l->kernel->n_args;
    struct gs_arg_value *values = calloc(n + 1, sizeof *values);
    int err = values ? 0 : -ENOMEM;
    for (uint32_t i = 0; i < n && !err; i++) {
        values[i].bytes = l->args[i].bytes;
        values[i].size = l->args[i].size;
        values[i].buffer_bytes = l->used[i] ? l->used[i]->size : 0;
        values[i].is_image = l->used[i] && l->used[i]->image;
    }
    for (unsigned p = 0; p < l->plan.n_parts && !err; p++)
        err = gs_summary_eval(l->kernel, &l->plan.launch, &l->plan.box[p], values, l->access + (size_t)p * n);
    free(values);
    return err;
}

/* Its turns with --memory pooled. One allocation has a quarter of a device at most, which drivers of GPUs say. */
static int find_turns(const struct gs_explain *e, struct gs_explain_launch *l, const struct gs_geometry *launch)
{
    const struct gs_turns_input in = {.kernel = l->kernel,
                                      .n_args = l->kernel->n_args,
                                      .launch = launch,
                                      .args = l->args,
                                      .mems = l->used,
                                      .devices = e->parts,
                                      .space = {gs_pool_space_of(e->memory), e->memory / 4}};
    return gs_turns_make(&l->turns, &in) == CL_OUT_OF_HOST_MEMORY ? -ENOMEM : 0;
}

uint64_t gs_explain_largest_turn(const struct gs_explain_launch *l)
{
    uint64_t most = 0, largest;
    for (unsigned i = 0; i < l->turns.n; i++) {
        const uint64_t bytes = gs_turn_bytes(&l->turns.v[i], &largest);
        most = bytes > most ? bytes : most;
    }
    return most;
}

int gs_explain_plan(const struct gs_explain *e, const struct gs_kernel_summary *kernel, struct gs_explain_launch *out,
                    char *why, size_t why_bytes)
{
    const uint32_t n = kernel->n_args;
    *out = (struct gs_explain_launch){.kernel = kernel};
    out->args = calloc(n + 1, sizeof *out->args);
    out->mems = calloc(n + 1, sizeof *out->mems);
    out->used = calloc(n + 1, sizeof *out->used);
    out->access = calloc((size_t)GS_MAX_DEVICES * n + 1, sizeof *out->access);
    if (!out->args || !out->mems || !out->used || !out->access)
        return -ENOMEM;
    int err = 0;
    for (uint32_t i = 0; i < n && !err; i++)
        err = set_arg(e, out, i, why, why_bytes);
    struct gs_geometry launch = e->launch;
    for (unsigned d = 0; d < 3 && !e->has_local && kernel->reqd[0]; d++)
        launch.local[d] = kernel->reqd[d];
    launch.null_local = !e->has_local && !kernel->reqd[0];
    const struct gs_plan_input in = {.kernel = kernel,
                                     .launch = &launch,
                                     .args = out->args,
                                     .mems = out->used,
                                     .n_parts = e->parts,
                                     .may_race = e->may_race,
                                     .may_reorder = e->may_reorder};
    if (!err)
        err = gs_plan_make(&out->plan, &in);
    if (!err && !out->plan.reason)
        err = find_access(out);
    if (!err && e->memory)
        err = find_turns(e, out, &launch);
    return err;
}

void gs_explain_plan_free(struct gs_explain_launch *l)
{
    if (!l->kernel)
        return;
    for (uint32_t i = 0; l->args && i < l->kernel->n_args; i++)
        free(l->args[i].bytes);
    for (size_t i = 0; l->access && i < (size_t)GS_MAX_DEVICES * l->kernel->n_args; i++)
        gs_arg_access_free(&l->access[i]);
    gs_plan_free(&l->plan);
    gs_turns_free(&l->turns);
    free(l->args);
    free(l->mems);
    free(l->used);
    free(l->access);
}

static const char *writes_in_words(const struct gs_use *u)
{
    static const char *const reduced[] = {
        [GS_ATOMIC_ADD] = "reduced: add", [GS_ATOMIC_MIN] = "reduced: min", [GS_ATOMIC_MAX] = "reduced: max",
        [GS_ATOMIC_AND] = "reduced: and", [GS_ATOMIC_OR] = "reduced: or",   [GS_ATOMIC_XOR] = "reduced: xor",
    };
    return u->writes == GS_REDUCED    ? reduced[u->op]
           : u->writes == GS_COMPARED ? "merged by comparison"
                                      : "each part owns what it writes";
}

const char *gs_explain_writes(const struct gs_explain_launch *l, uint32_t arg)
{
    for (size_t u = 0; u < l->plan.n_uses; u++)
        if (l->plan.uses[u].root == l->used[arg] && l->used[arg] && l->kernel->args[arg].may_write)
            return writes_in_words(&l->plan.uses[u]);
    return NULL;
}

/* Was it built with an option that permits work-groups of several sizes? */
static bool may_be_uneven(const struct gs_explain *e)
{
    const char *version = strstr(e->build_options, "-cl-std=CL");
    return version && version[strlen("-cl-std=CL")] >= '2' && !strstr(e->build_options, "-cl-uniform-work-group-size");
}

const char *gs_explain_invalid(const struct gs_explain *e, const struct gs_explain_launch *l, char *why,
                               size_t why_bytes)
{
    const struct gs_geometry *g = &e->launch;
    const uint32_t *reqd = l->kernel->reqd;
    uint64_t items = 1;
    *why = 0;
    for (unsigned d = 0; d < 3 && !*why; d++) {
        const uint64_t local = e->has_local ? g->local[d] : reqd[0] ? reqd[d] : 1;
        items *= local;
        if (reqd[0] && local != reqd[d])
            snprintf(
                why, why_bytes,
                "any driver refuses it: its work-groups have %llu work-items in dimension %u, the kernel requires %u "
                "(CL_INVALID_WORK_GROUP_SIZE)",
                (unsigned long long)local, d, reqd[d]);
        else if (g->global[d] % local && (reqd[0] || !may_be_uneven(e)))
            snprintf(
                why, why_bytes,
                "any driver refuses it: %llu work-items in dimension %u can't be divided into work-groups of %llu%s "
                "(CL_INVALID_WORK_GROUP_SIZE)",
                (unsigned long long)g->global[d], d, (unsigned long long)local,
                reqd[0] ? "" : "; programs built with -cl-std=CL2.0 or later may");
        else if (e->most_items && items > e->most_items)
            snprintf(why, why_bytes,
                     "this device's driver refuses it: a work-group has at most %zu work-items there "
                     "(CL_INVALID_WORK_GROUP_SIZE)",
                     e->most_items);
    }
    for (uint32_t i = 0; i < l->kernel->n_args && !*why; i++)
        if (l->used[i] && !l->used[i]->image && !l->used[i]->size)
            snprintf(why, why_bytes,
                     "any driver refuses it: no buffer has 0 bytes, as %s would (CL_INVALID_BUFFER_SIZE)",
                     l->kernel->args[i].name);
    return *why ? why : NULL;
}

const char *gs_explain_error(const char *refusal, struct gs_site *site)
{
    static const char begin[] = "its text can't be read: ";
    static char file[256];
    unsigned unit = 1, line, column;
    int n = 0;
    if (strncmp(refusal, begin, strlen(begin)) != 0)
        return NULL;
    const char *at = refusal + strlen(begin);
    file[0] = 0;
    if (sscanf(at, "%u:%u: %n", &line, &column, &n) != 2 &&
        sscanf(at, "text %u of %*u:%u:%u: %n", &unit, &line, &column, &n) != 3 &&
        sscanf(at, "%255[^:]:%u:%u: %n", file, &line, &column, &n) != 3)
        return NULL;
    *site = (struct gs_site){.unit = unit - 1, .file = file, .line = line, .column = column};
    return n ? at + n : NULL;
}
