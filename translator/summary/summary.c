/* SPDX-License-Identifier: MIT */
/* The text form of a summary: written by gpusparc-translate, read by everybody else.
 *
 *   gpusparc-summary VERSION HASH BYTES, then BYTES bytes of body with that hash:
 *   program N_UNITS CHANGED N_KERNELS REFUSAL
 *   unit TEXT                                              N_UNITS times
 *   kernel NAME N_ARGS HIDDEN USES_GROUP REQD×3 REFUSAL SITE TRIAL N_APPENDS   N_KERNELS times, each followed by
 *   arg NAME TYPE KIND SIZE MAY_READ MAY_WRITE ATOMIC ATOMIC_TYPE MIXED SITE ESCAPES UNKNOWN SITE UNKNOWN SITE
 *   append LIST COUNTER OFFSET TYPE STEP UNIT ELEMENT BEGIN SCALE BEGIN_ARG BEGIN_TYPE SHIFT SHIFTED_BY LIMITED
 * LIMIT_ARG LIMIT_TYPE COMPARED_AS MORE NEGATIVE SITE                                             N_APPENDS times
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

enum { FORMAT = 10 };

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

static void put_append(struct gs_writer *w, const struct gs_append *a)
{
    gs_put_word(w, "append");
    gs_put_u64(w, a->list);
    gs_put_u64(w, a->counter);
    gs_put_u64(w, a->counter_offset);
    gs_put_u64(w, a->type);
    gs_put_u64(w, a->step);
    gs_put_u64(w, a->unit);
    gs_put_u64(w, a->element);
    gs_put_u64(w, a->begin);
    gs_put_u64(w, a->begin_scale);
    gs_put_u64(w, a->begin_arg);
    gs_put_u64(w, a->begin_type);
    gs_put_u64(w, a->shift);
    gs_put_u64(w, a->shifted_by);
    gs_put_u64(w, a->limited);
    gs_put_u64(w, a->limit_arg);
    gs_put_u64(w, a->limit_type);
    gs_put_u64(w, a->compared_as);
    gs_put_u64(w, (uint64_t)a->limit_more);
    gs_put_u64(w, a->limit_negative);
    put_site(w, &a->site);
    gs_put_line(w);
}

/* An argument, or GS_NO_ARG. */
static uint32_t get_arg_or_none(struct gs_reader *r, uint32_t n_args)
{
    const uint64_t arg = gs_get_below(r, (uint64_t)UINT32_MAX + 1);
    if (!r->why && arg != GS_NO_ARG && arg >= n_args)
        gs_get_fail(r, "an append makes no sense");
    return (uint32_t)arg;
}

static void get_append(struct gs_reader *r, uint32_t n_args, struct gs_append *a)
{
    gs_get_word(r, "append");
    a->list = (uint32_t)gs_get_below(r, n_args);
    a->counter = (uint32_t)gs_get_below(r, n_args);
    a->counter_offset = (uint32_t)gs_get_below(r, UINT32_MAX);
    a->type = (enum gs_atomic_type)gs_get_below(r, GS_ATOMIC_U32 + 1);
    a->step = (uint32_t)gs_get_below(r, GS_APPEND_MOST_BYTES + 1);
    a->unit = (uint32_t)gs_get_below(r, GS_APPEND_MOST_BYTES + 1);
    a->element = (uint32_t)gs_get_below(r, GS_APPEND_MOST_BYTES + 1);
    a->begin = (uint32_t)gs_get_below(r, (uint64_t)UINT32_MAX + 1);
    a->begin_scale = (uint32_t)gs_get_below(r, (uint64_t)UINT32_MAX + 1);
    a->begin_arg = get_arg_or_none(r, n_args);
    a->begin_type = (uint8_t)gs_get_below(r, GS_N_INT_TYPES);
    a->shift = (uint32_t)gs_get_below(r, (uint64_t)UINT32_MAX + 1);
    a->shifted_by = gs_get_bool(r);
    a->limited = gs_get_bool(r);
    a->limit_arg = get_arg_or_none(r, n_args);
    a->limit_type = (uint8_t)gs_get_below(r, GS_N_INT_TYPES);
    a->compared_as = (uint8_t)gs_get_below(r, GS_N_INT_TYPES);
    a->limit_more = (int64_t)gs_get_u64(r);
    a->limit_negative = (uint32_t)gs_get_below(r, (uint64_t)UINT32_MAX + 1);
    a->site = get_site(r);
    if (!r->why && (!a->step || !a->unit || !a->element || a->step * a->unit > GS_APPEND_MOST_BYTES))
        gs_get_fail(r, "an append makes no sense");
}

/* The same kernel, whose counters are sums. */
static const struct gs_kernel_summary *make_appending(struct gs_reader *r, const struct gs_kernel_summary *k)
{
    struct gs_kernel_summary *o = gs_arena_alloc(r->arena, 1, sizeof *o);
    struct gs_arg_summary *args = gs_arena_alloc(r->arena, (size_t)k->n_args + 1, sizeof *args);
    if (!o || !args) {
        gs_get_fail(r, "out of memory");
        return NULL;
    }
    *o = *k;
    memcpy(args, k->args, k->n_args * sizeof *args);
    for (uint32_t i = 0; i < k->n_appends; i++) {
        struct gs_arg_summary *counter = &args[k->appends[i].counter];
        counter->atomic = GS_ATOMIC_ADD;
        counter->atomic_type = k->appends[i].type;
        counter->atomic_mixed = false;
        counter->counts = true;
        args[k->appends[i].list].appended = true;
    }
    o->args = args;
    o->refusal = NULL;
    o->only_atomics = false;
    return o;
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
    gs_put_u64(w, k->n_appends);
    gs_put_line(w);
    for (uint32_t i = 0; i < k->n_args; i++)
        put_arg(w, &k->args[i]);
    for (uint32_t i = 0; i < k->n_appends; i++)
        put_append(w, &k->appends[i]);
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
    k->n_appends = (uint32_t)gs_get_below(r, UINT32_MAX);
    struct gs_arg_summary *args = gs_get_alloc(r, k->n_args, sizeof *args);
    for (uint32_t i = 0; i < k->n_args && !r->why; i++)
        get_arg(r, &args[i]);
    k->args = args;
    struct gs_append *appends = gs_get_alloc(r, k->n_appends, sizeof *appends);
    for (uint32_t i = 0; i < k->n_appends && !r->why; i++)
        get_append(r, k->n_args, &appends[i]);
    k->appends = appends;
    gs_get_word(r, "access");
    if (gs_get_bool(r))
        k->access = gs_access_parse(r, k->n_args);
    if (k->n_appends && !r->why)
        k->appending = make_appending(r, k);
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

/* A number of that type, as the one that it becomes. */
static int64_t converted(uint64_t bits, uint8_t type)
{
    switch (type) {
    case GS_I8:
        return (int8_t)bits;
    case GS_U8:
        return (uint8_t)bits;
    case GS_I16:
        return (int16_t)bits;
    case GS_U16:
        return (uint16_t)bits;
    case GS_I32:
        return (int32_t)bits;
    case GS_U32:
        return (uint32_t)bits;
    default: /* of an unsigned one more than any list has is as good as most */
        return type == GS_U64 && bits > INT64_MAX ? INT64_MAX : (int64_t)bits;
    }
}

/* An argument's value, of that type; false: it has none. */
static bool value_of(const struct gs_arg_value *arg, uint8_t type, uint64_t *bits)
{
    *bits = 0;
    if (!arg->bytes || arg->size < gs_int_bits(type) / 8)
        return false;
    memcpy(bits, arg->bytes, gs_int_bits(type) / 8);
    return true;
}

/* What x must be below for its element to be stored; 0: never. */
static uint64_t find_limit(const struct gs_append *a, const struct gs_arg_value *most)
{
    uint64_t bits = 0;
    if (!a->limited)
        return UINT64_MAX;
    if (a->limit_arg != GS_NO_ARG && !value_of(most, a->limit_type, &bits))
        return 0;
    int64_t limit = converted((uint64_t)converted(bits, a->limit_type), a->compared_as);
    if (a->limit_more > 0 && limit > INT64_MAX - a->limit_more)
        limit = INT64_MAX;
    else if (a->limit_more >= 0 || limit >= INT64_MIN - a->limit_more)
        limit += a->limit_more;
    return limit > 0 ? (uint64_t)limit : 0;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

bool gs_append_find_place(const struct gs_append *a, const struct gs_arg_value *by, const struct gs_arg_value *most,
                          uint64_t bytes, struct gs_append_place *out)
{
    uint64_t bits = 0, shift = a->shift;
    int64_t times = 0;
    *out = (struct gs_append_place){.begin = a->begin, .end = bytes, .limit = find_limit(a, most)};
    if (a->begin_arg != GS_NO_ARG) {
        if (!value_of(by, a->begin_type, &bits))
            return false;
        times = converted(bits, a->begin_type);
    }
    if (times < 0 || times > INT32_MAX || bytes / a->element > INT32_MAX)
        return false;
    out->begin += a->begin_scale * (uint64_t)times;
    if (a->shifted_by)
        shift += a->begin_scale * (uint64_t)times / a->unit;
    if (out->begin > bytes)
        return false;
    if (!out->limit)
        out->end = out->begin;
    else if (out->limit <= INT32_MAX)
        out->end = lesser(bytes, out->begin + (out->limit - 1 + a->step) * a->unit);
    out->lead = lesser(shift, out->begin / a->unit);
    if (out->limit <= INT32_MAX)
        out->lead = lesser(out->lead, a->limit_negative);
    return true;
}

const struct gs_kernel_summary *gs_summary_kernel(const struct gs_summary *s, const char *name)
{
    for (uint32_t i = 0; i < s->n_kernels; i++)
        if (strcmp(s->kernels[i].name, name) == 0)
            return &s->kernels[i];
    return NULL;
}
