/* SPDX-License-Identifier: MIT */
/* The text form of a summary: written by gpusparc-translate, read by everybody else.
 *
 *   gpusparc-summary VERSION HASH BYTES, then BYTES bytes of body with that hash:
 *   program N_UNITS CHANGED N_KERNELS REFUSAL
 *   unit TEXT                                              N_UNITS times
 *   kernel NAME N_ARGS HIDDEN USES_GROUP REQD×3 REFUSAL SITE ONLY_ATOMICS   N_KERNELS times, each with
 *   arg NAME TYPE KIND SIZE MAY_READ MAY_WRITE ATOMIC ATOMIC_TYPE MIXED SITE ESCAPES UNKNOWN SITE UNKNOWN SITE
 *   access 0, or access 1 and what gs_access_write writes
 *   end */
#include "translator/summary/summary_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "translator/summary/access.h"
#include "translator/summary/access_program.h"

enum { FORMAT = 12 };

/* A summary and the arena that holds all of it. */
struct owned_summary {
    struct gs_summary s;
    struct gs_arena arena;
};

static void put_optional(struct gs_writer *w, const char *s)
{
    gs_put_u64(w, s != NULL);
    if (s)
        gs_put_cstring(w, s);
}

static const char *get_optional(struct gs_reader *r)
{
    return gs_get_bool(r) ? gs_get_string(r, NULL) : NULL;
}

static void put_site(struct gs_writer *w, const struct gs_site *s)
{
    gs_put_cstring(w, s->file ? s->file : "");
    gs_put_u64(w, s->unit);
    gs_put_u64(w, s->line);
    gs_put_u64(w, s->column);
    gs_put_u64(w, s->length);
}

static struct gs_site get_site(struct gs_reader *r)
{
    struct gs_site s = {.file = gs_get_string(r, NULL)};
    s.unit = (uint32_t)gs_get_below(r, UINT32_MAX);
    s.line = (uint32_t)gs_get_below(r, UINT32_MAX);
    s.column = (uint32_t)gs_get_below(r, UINT32_MAX);
    s.length = (uint32_t)gs_get_below(r, UINT32_MAX);
    return s;
}

static void put_arg(struct gs_writer *w, const struct gs_arg_summary *a)
{
    gs_put_word(w, "arg");
    gs_put_cstring(w, a->name);
    gs_put_cstring(w, a->type);
    gs_put_u64(w, a->kind);
    gs_put_u64(w, a->size);
    gs_put_u64(w, a->may_read);
    gs_put_u64(w, a->may_write);
    gs_put_u64(w, a->atomic);
    gs_put_u64(w, a->atomic_type);
    gs_put_u64(w, a->atomic_mixed);
    put_site(w, &a->atomic_site);
    gs_put_u64(w, a->escapes);
    gs_put_cstring(w, a->read_unknown ? a->read_unknown : "");
    put_site(w, &a->read_site);
    gs_put_cstring(w, a->write_unknown ? a->write_unknown : "");
    put_site(w, &a->write_site);
    gs_put_line(w);
}

static void get_arg(struct gs_reader *r, struct gs_arg_summary *a)
{
    gs_get_word(r, "arg");
    a->name = gs_get_string(r, NULL);
    a->type = gs_get_string(r, NULL);
    a->kind = (enum gs_arg_kind)gs_get_below(r, GS_ARG_OTHER + 1);
    a->size = (uint32_t)gs_get_below(r, UINT32_MAX);
    a->may_read = gs_get_bool(r);
    a->may_write = gs_get_bool(r);
    a->atomic = (enum gs_atomic_op)gs_get_below(r, GS_ATOMIC_OTHER + 1);
    a->atomic_type = (enum gs_atomic_type)gs_get_below(r, GS_ATOMIC_F64 + 1);
    a->atomic_mixed = gs_get_bool(r);
    a->atomic_site = get_site(r);
    a->escapes = gs_get_bool(r);
    a->read_unknown = gs_get_string(r, NULL);
    a->read_site = get_site(r);
    a->write_unknown = gs_get_string(r, NULL);
    a->write_site = get_site(r);
}

static void put_kernel(struct gs_writer *w, const struct gs_kernel_summary *k)
{
    gs_put_word(w, "kernel");
    gs_put_cstring(w, k->name);
    gs_put_u64(w, k->n_args);
    gs_put_u64(w, k->hidden);
    gs_put_u64(w, k->uses_group);
    for (int d = 0; d < 3; d++)
        gs_put_u64(w, k->reqd[d]);
    put_optional(w, k->refusal);
    put_site(w, &k->refusal_site);
    gs_put_u64(w, k->only_atomics);
    gs_put_line(w);
    for (uint32_t i = 0; i < k->n_args; i++)
        put_arg(w, &k->args[i]);
    gs_put_word(w, "access");
    gs_put_u64(w, k->access != NULL);
    if (k->access)
        gs_access_write(w, k->access);
    gs_put_line(w);
}

static void get_kernel(struct gs_reader *r, struct gs_kernel_summary *k)
{
    gs_get_word(r, "kernel");
    k->name = gs_get_string(r, NULL);
    k->n_args = (uint32_t)gs_get_below(r, UINT32_MAX);
    k->hidden = gs_get_bool(r);
    k->uses_group = gs_get_bool(r);
    for (int d = 0; d < 3; d++)
        k->reqd[d] = (uint32_t)gs_get_below(r, UINT32_MAX);
    k->refusal = get_optional(r);
    k->refusal_site = get_site(r);
    k->only_atomics = gs_get_bool(r);
    struct gs_arg_summary *args = gs_get_alloc(r, k->n_args, sizeof *args);
    for (uint32_t i = 0; i < k->n_args && !r->why; i++)
        get_arg(r, &args[i]);
    k->args = args;
    gs_get_word(r, "access");
    if (gs_get_bool(r))
        k->access = gs_access_parse(r, k->n_args);
}

static void put_body(struct gs_writer *w, const struct gs_summary *s)
{
    gs_put_word(w, "program");
    gs_put_u64(w, s->n_units);
    gs_put_u64(w, s->changed);
    gs_put_u64(w, s->n_kernels);
    put_optional(w, s->refusal);
    gs_put_line(w);
    for (uint32_t i = 0; i < s->n_units; i++) {
        gs_put_word(w, "unit");
        gs_put_cstring(w, s->units[i]);
        gs_put_line(w);
    }
    for (uint32_t i = 0; i < s->n_kernels; i++)
        put_kernel(w, &s->kernels[i]);
    gs_put_word(w, "end");
    gs_put_line(w);
}

void gs_summary_read_body(struct gs_reader *r, struct gs_summary *s)
{
    gs_get_word(r, "program");
    s->n_units = (uint32_t)gs_get_below(r, UINT32_MAX);
    s->changed = gs_get_bool(r);
    s->n_kernels = (uint32_t)gs_get_below(r, UINT32_MAX);
    s->refusal = get_optional(r);
    s->units = gs_get_alloc(r, s->n_units, sizeof *s->units);
    for (uint32_t i = 0; i < s->n_units && !r->why; i++) {
        size_t bytes;
        gs_get_word(r, "unit");
        const char *text = gs_get_view(r, &bytes);
        s->units[i] = gs_arena_copy(r->arena, text, bytes);
        if (!s->units[i])
            gs_get_fail(r, "out of memory");
        else if (memchr(text, 0, bytes))
            gs_get_fail(r, "a program's text holds a zero byte");
    }
    struct gs_kernel_summary *kernels = gs_get_alloc(r, s->n_kernels, sizeof *kernels);
    for (uint32_t i = 0; i < s->n_kernels && !r->why; i++)
        get_kernel(r, &kernels[i]);
    s->kernels = kernels;
    gs_get_word(r, "end");
    if (!r->why && r->p != r->end)
        gs_get_fail(r, "something follows its end");
}

void gs_summary_write(struct gs_writer *w, const struct gs_summary *s)
{
    struct gs_writer body = {0};
    put_body(&body, s);
    if (body.failed) {
        w->failed = true;
    } else {
        char hex[GS_HASH_HEX_BYTES];
        gs_hash_hex(body.text, body.bytes, hex);
        gs_put_word(w, "gpusparc-summary");
        gs_put_u64(w, FORMAT);
        gs_put_word(w, hex);
        gs_put_u64(w, body.bytes);
        gs_put_line(w);
        gs_put_raw(w, body.text, body.bytes);
    }
    free(body.text);
}

/* Reads the line before the body and checks that the body is the one it was written with. */
static void get_header(struct gs_reader *r)
{
    char hex[GS_HASH_HEX_BYTES];
    gs_get_word(r, "gpusparc-summary");
    if (gs_get_u64(r) != FORMAT)
        gs_get_fail(r, "it is of another version");
    const char *claimed = r->p;
    if (r->end - r->p < GS_HASH_HEX_BYTES)
        gs_get_fail(r, "it is cut short");
    else
        r->p += GS_HASH_HEX_BYTES;
    if (gs_get_u64(r) != (uint64_t)(r->end - r->p))
        gs_get_fail(r, "it is cut short");
    if (r->why)
        return;
    gs_hash_hex(r->p, (size_t)(r->end - r->p), hex);
    if (memcmp(hex, claimed, GS_HASH_HEX_BYTES - 1) != 0)
        gs_get_fail(r, "its bytes are damaged");
}

int gs_summary_parse(const char *text, size_t bytes, struct gs_summary **out, char *why, size_t why_bytes)
{
    struct owned_summary *o = calloc(1, sizeof *o);
    *out = NULL;
    if (!o)
        return -ENOMEM;
    struct gs_reader r = {.p = text, .end = text + bytes, .arena = &o->arena};
    get_header(&r);
    if (!r.why)
        gs_summary_read_body(&r, &o->s);
    if (r.why) {
        snprintf(why, why_bytes, "the summary of the program can't be read: %s", r.why);
        gs_summary_free(&o->s);
        return -EBADMSG;
    }
    *out = &o->s;
    return 0;
}

void gs_summary_free(struct gs_summary *s)
{
    if (!s)
        return;
    struct owned_summary *o = (struct owned_summary *)s;
    struct gs_arena arena = o->arena;
    gs_arena_free(&arena);
    free(o);
}

const struct gs_kernel_summary *gs_summary_kernel(const struct gs_summary *s, const char *name)
{
    for (uint32_t i = 0; i < s->n_kernels; i++)
        if (strcmp(s->kernels[i].name, name) == 0)
            return &s->kernels[i];
    return NULL;
}
