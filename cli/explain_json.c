/* SPDX-License-Identifier: MIT */
/* gpusparc explain --json. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "cli/explain.h"
#include "translator/summary/access_print.h"

static json_t *site(const struct gs_explain *e, const struct gs_site *s)
{
    if (s->line == 0)
        return json_null();
    return json_pack("{s:s, s:i, s:i, s:i}", "file", gs_explain_file(e, s), "line", (int)s->line, "column",
                     (int)s->column, "length", (int)s->length);
}

static json_t *text_or_null(const char *s)
{
    return s && *s ? json_string(s) : json_null();
}

/* The loads and stores of an argument as formulas. */
static json_t *accesses(const struct gs_kernel_summary *k, uint32_t arg)
{
    json_t *v = json_array();
    for (uint32_t i = 0; i < gs_access_lines(k); i++) {
        struct gs_access_line l;
        if (gs_access_line(k, i, &l) < 0)
            break;
        if (l.arg == arg)
            json_array_append_new(v,
                                  json_pack("{s:s, s:s, s:s, s:b, s:i, s:i}", "kind", l.kind, "place", l.place, "where",
                                            l.when, "maybe", (int)l.maybe, "bytes", (int)l.bytes, "line", (int)l.line));
        gs_access_line_free(&l);
    }
    return v;
}

static json_t *argument(const struct gs_explain *e, const struct gs_kernel_summary *k, uint32_t arg)
{
    const struct gs_arg_summary *a = &k->args[arg];
    static const char *const kinds[] = {"value", "global", "constant", "local", "image", "sampler", "other"};
    static const char *const atomics[] = {NULL, "add", "min", "max", "and", "or", "xor", "other"};
    return json_pack("{s:s, s:s, s:s, s:i, s:b, s:b, s:o, s:b, s:b, s:b, s:o, s:o, s:o, s:o, s:o}", "name", a->name,
                     "type", a->type, "kind", kinds[a->kind], "size", (int)a->size, "may_read", (int)a->may_read,
                     "may_write", (int)a->may_write, "atomic", text_or_null(atomics[a->atomic]), "atomic_mixed",
                     (int)a->atomic_mixed, "atomic_reorders", (int)gs_arg_reorders(a), "escapes", (int)a->escapes,
                     "read_unknown", text_or_null(a->read_unknown), "read_site", site(e, &a->read_site),
                     "write_unknown", text_or_null(a->write_unknown), "write_site", site(e, &a->write_site), "accesses",
                     accesses(k, arg));
}

static json_t *ranges(const struct gs_rangeset *s)
{
    json_t *v = json_array();
    for (size_t i = 0; i < s->n; i++)
        json_array_append_new(v, json_pack("[I, I]", (json_int_t)s->v[i].begin, (json_int_t)s->v[i].end));
    return v;
}

static json_t *part(const struct gs_explain_launch *l, unsigned p)
{
    json_t *args = json_array();
    size_t offset[3], global[3];
    gs_box_items(&l->plan.launch, &l->plan.box[p], offset, global);
    for (uint32_t i = 0; i < l->kernel->n_args; i++) {
        const struct gs_arg_summary *a = &l->kernel->args[i];
        const struct gs_arg_access *x = &l->access[(size_t)p * l->kernel->n_args + i];
        if (!l->used[i] || l->used[i]->image)
            continue;
        json_array_append_new(args,
                              json_pack("{s:s, s:o, s:o, s:o}", "name", a->name, "reads",
                                        a->may_read && x->reads_all ? json_string("all") : ranges(&x->reads), "writes",
                                        a->may_write && x->writes_unknown ? json_string("unknown") : ranges(&x->writes),
                                        "overwrites", ranges(&x->overwrites)));
    }
    return json_pack("{s:[I, I, I], s:[I, I, I], s:o}", "offset", (json_int_t)offset[0], (json_int_t)offset[1],
                     (json_int_t)offset[2], "global", (json_int_t)global[0], (json_int_t)global[1],
                     (json_int_t)global[2], "arguments", args);
}

static json_t *turns(const struct gs_explain *e, const struct gs_explain_launch *l)
{
    const struct gs_turns *t = &l->turns;
    if (!t->v)
        return json_pack("{s:I, s:b, s:o}", "device_bytes", (json_int_t)e->memory, "fits", 0, "reason",
                         text_or_null(t->reason));
    return json_pack("{s:I, s:b, s:i, s:i, s:b, s:I, s:o}", "device_bytes", (json_int_t)e->memory, "fits", 1, "turns",
                     (int)t->n, "dimension", (int)t->dim, "in_order", (int)t->serial, "largest_bytes",
                     (json_int_t)gs_explain_largest_turn(l), "reason", text_or_null(t->n == 1 ? t->reason : NULL));
}

static json_t *launch(const struct gs_explain_launch *l)
{
    if (l->plan.reason)
        return json_pack("{s:b, s:s}", "split", 0, "reason", l->plan.reason);
    json_t *parts = json_array(), *merges = json_object();
    for (unsigned p = 0; p < l->plan.n_parts; p++)
        json_array_append_new(parts, part(l, p));
    for (uint32_t i = 0; i < l->kernel->n_args; i++)
        if (gs_explain_writes(l, i))
            json_object_set_new(merges, l->kernel->args[i].name, json_string(gs_explain_writes(l, i)));
    return json_pack("{s:b, s:i, s:o, s:o}", "split", 1, "dimension", (int)l->plan.dim, "parts", parts, "writes",
                     merges);
}

static json_t *kernel(const struct gs_explain *e, const struct gs_kernel_summary *k, const struct gs_explain_launch *l)
{
    json_t *args = json_array();
    for (uint32_t i = 0; i < k->n_args; i++)
        json_array_append_new(args, argument(e, k, i));
    json_t *o = json_pack("{s:s, s:o, s:b, s:b, s:b, s:[i, i, i], s:o, s:o}", "name", k->name, "arguments", args,
                          "hidden_argument", (int)k->hidden, "translation_reorders", (int)k->reorders, "uses_group",
                          (int)k->uses_group, "required_local", (int)k->reqd[0], (int)k->reqd[1], (int)k->reqd[2],
                          "refusal", text_or_null(k->refusal), "refusal_site", site(e, &k->refusal_site));
    char why[256];
    const char *invalid = l ? gs_explain_invalid(e, l, why, sizeof why) : NULL;
    if (invalid)
        json_object_set_new(o, "launch", json_pack("{s:b, s:s}", "split", 0, "invalid", invalid));
    else if (l)
        json_object_set_new(o, "launch", launch(l));
    if (l && !invalid && e->memory)
        json_object_set_new(json_object_get(o, "launch"), "memory", turns(e, l));
    return o;
}

void gs_explain_json(const struct gs_explain *e, const struct gs_summary *s, const struct gs_explain_launch *launches)
{
    json_t *kernels = json_array();
    for (uint32_t i = 0; i < s->n_kernels; i++)
        if (!e->kernel || strcmp(e->kernel, s->kernels[i].name) == 0)
            json_array_append_new(kernels, kernel(e, &s->kernels[i], launches ? &launches[i] : NULL));
    struct gs_site where = {0};
    if (s->refusal && !gs_explain_error(s->refusal, &where))
        where.line = 0;
    json_t *all = json_pack("{s:o, s:o, s:b, s:o}", "refusal", text_or_null(s->refusal), "refusal_site",
                            site(e, &where), "changed", (int)s->changed, "kernels", kernels);
    json_t *units = json_array();
    for (uint32_t u = 0; e->source && u < s->n_units; u++)
        json_array_append_new(units, json_string(s->units[u]));
    if (e->source)
        json_object_set_new(all, "source", units);
    else
        json_decref(units);
    json_dumpf(all, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(all);
}
