/* SPDX-License-Identifier: MIT */
/* Prints what the analysis finds of the kernels of a file and what it comes to for two parts of the launch that the
 * file describes, along each dimension: golden TRANSLATOR FILE. The same on every machine. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kernels/spec.h"
#include "translator/summary/access_print.h"
#include "translator/summary/translate.h"

static void print_ranges(const char *what, const struct gs_rangeset *s)
{
    printf(" %s", what);
    for (size_t i = 0; i < s->n && i < 6; i++)
        printf(" %" PRIu64 "..%" PRIu64, s->v[i].begin, s->v[i].end);
    if (s->n > 6)
        printf(" … %zu ranges, %" PRIu64 " bytes", s->n, gs_rangeset_bytes(s));
    if (s->n == 0)
        printf(" nothing");
}

static void print_access(const struct gs_arg_summary *a, const struct gs_arg_access *x)
{
    if (x->reads_all)
        printf(" reads all");
    else if (a->may_read)
        print_ranges("reads", &x->reads);
    if (x->writes_unknown)
        printf(" writes unknown");
    else if (a->may_write)
        print_ranges("writes", &x->writes);
    if (a->may_write)
        print_ranges("surely", &x->overwrites);
}

static void print_lines(const struct gs_kernel_summary *k)
{
    static const char *const ops[] = {"none", "add", "min", "max", "and", "or", "xor", "other"};
    for (uint32_t i = 0; i < gs_access_lines(k); i++) {
        struct gs_access_line l;
        if (gs_access_line(k, i, &l) < 0)
            abort();
        printf("  %s %s, %u bytes%s%s%s\n", l.kind, l.place, l.bytes, *l.when ? " if " : "", l.when,
               l.maybe ? ", perhaps" : "");
        gs_access_line_free(&l);
    }
    for (uint32_t i = 0; i < k->n_args; i++) {
        const struct gs_arg_summary *a = &k->args[i];
        if (a->atomic != GS_ATOMIC_NONE)
            printf("  %s: atomics %s%s%s\n", a->name, ops[a->atomic],
                   gs_arg_reorders(a) ? ", whose order decides about bits" : "",
                   a->atomic_mixed ? ", and plain accesses" : "");
        if (a->escapes)
            printf("  %s: its address escapes\n", a->name);
        if (a->may_read && a->read_unknown && *a->read_unknown)
            printf("  %s: reads unknown, line %u: %s\n", a->name, a->read_site.line, a->read_unknown);
        if (a->may_write && a->write_unknown && *a->write_unknown)
            printf("  %s: writes unknown, line %u: %s\n", a->name, a->write_site.line, a->write_unknown);
    }
}

/* Two parts along one dimension: whether what they write lies apart, and a line for each buffer, the first part's | the
 * second's. */
static void print_split(const struct gs_kernel_summary *k, const struct spec *s, const struct spec_launch *l,
                        unsigned dim)
{
    struct gs_geometry g = {.dims = l->dims};
    struct gs_arg_value values[SPEC_ARGS];
    struct gs_arg_access access[2][SPEC_ARGS];
    memset(values, 0, sizeof values);
    memset(access, 0, sizeof access);
    for (unsigned d = 0; d < 3; d++) {
        g.offset[d] = d < l->dims ? l->offset[d] : 0;
        g.global[d] = d < l->dims ? l->global[d] : 1;
        g.local[d] = d < l->dims && l->has_local ? l->local[d] : 1;
    }
    for (unsigned i = 0; i < l->n_args; i++) {
        const struct spec_arg *a = l->args[i].kind == SPEC_SAME ? &s->launches[0].args[l->args[i].same] : &l->args[i];
        if (a->kind == SPEC_VALUE)
            values[i] = (struct gs_arg_value){.bytes = a->data, .size = a->bytes};
        if (a->kind == SPEC_BUFFER)
            values[i].buffer_bytes = a->bytes;
    }
    bool apart = true;
    for (unsigned p = 0; p < 2; p++) {
        struct gs_box box;
        for (unsigned d = 0; d < 3; d++) {
            uint64_t groups = (g.global[d] + g.local[d] - 1) / g.local[d];
            box.begin[d] = d == dim ? groups * p / 2 : 0;
            box.end[d] = d == dim ? groups * (p + 1) / 2 : groups;
        }
        if (gs_summary_eval(k, &g, &box, values, access[p]) != 0)
            abort();
    }
    for (uint32_t i = 0; i < k->n_args; i++)
        apart &= !access[0][i].writes_unknown && !gs_rangeset_overlap(&access[0][i].writes, &access[1][i].writes);
    printf("  dimension %u, the parts are %s\n", dim, apart ? "disjoint" : "not disjoint");
    for (uint32_t i = 0; i < k->n_args; i++) {
        if (values[i].buffer_bytes) {
            printf("    %s:", k->args[i].name);
            print_access(&k->args[i], &access[0][i]);
            printf(" |");
            print_access(&k->args[i], &access[1][i]);
            putchar('\n');
        }
        gs_arg_access_free(&access[0][i]);
        gs_arg_access_free(&access[1][i]);
    }
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: golden TRANSLATOR FILE\n");
        return 2;
    }
    struct spec s;
    spec_read(&s, argv[2], 1);
    struct gs_translate_unit unit = {.source = s.units[0].text, .options = s.options};
    struct gs_translate_request request = {.units = &unit,
                                           .n_units = 1,
                                           .device = {.extensions = "",
                                                      .opencl_c_version = "OpenCL C 1.2",
                                                      .device_version = "OpenCL 1.2",
                                                      .vendor = "",
                                                      .platform = "",
                                                      .address_bits = 64}};
    struct gs_summary *t;
    char why[512];
    if (gs_translate(&request, argv[1], 60000, &t, why, sizeof why) != 0) {
        fprintf(stderr, "%s: %s\n", argv[2], why);
        return 1;
    }
    if (t->refusal)
        printf("refused: %s\n", t->refusal);
    for (unsigned i = 0; i < s.n_launches; i++) {
        const struct gs_kernel_summary *k = gs_summary_kernel(t, s.launches[i].kernel);
        if (!k)
            continue;
        printf("%s%s%s\n", k->name, k->refusal ? " is refused: " : "", k->refusal ? k->refusal : "");
        print_lines(k);
        for (unsigned d = 0; d < s.launches[i].dims; d++)
            print_split(k, &s, &s.launches[i], d);
    }
    gs_summary_free(t);
    spec_free(&s);
    return 0;
}
