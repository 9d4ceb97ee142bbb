/* SPDX-License-Identifier: MIT */
/* gpusparc explain: for a person to read. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/explain.h"
#include "cli/show.h"
#include "translator/summary/access_print.h"

enum { SHOWN_RANGES = 4, SHOWN_ACCESSES = 16 };

const char *gs_explain_file(const struct gs_explain *e, const struct gs_site *site)
{
    if (site->file && *site->file)
        return site->file;
    return site->unit < e->n_files ? e->files[site->unit] : "";
}

/* The line of the text that a place stands on, and its length; NULL where it isn't at hand. */
static const char *find_line(const struct gs_explain *e, const struct gs_site *site, size_t *n)
{
    if ((site->file && *site->file) || site->unit >= e->n_files)
        return NULL;
    const char *at = e->texts[site->unit];
    for (uint32_t line = 1; line < site->line && at; line++) {
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    *n = at ? strcspn(at, "\n") : 0;
    return at;
}

/* The line, and what is meant underlined. */
static void print_line(const struct gs_explain *e, const struct gs_site *site)
{
    size_t n;
    const char *line = find_line(e, site, &n);
    if (!line || n == 0 || site->column == 0 || site->column > n)
        return;
    printf("    %5u | %.*s\n          | ", site->line, (int)n, line);
    for (uint32_t i = 0; i + 1 < site->column; i++)
        putchar(line[i] == '\t' ? '\t' : ' ');
    putchar('^');
    for (uint32_t i = 1; i < site->length && site->column + i <= n; i++)
        putchar('~');
    putchar('\n');
}

/* As a compiler would: the sentence with its place, and the line. */
static void print_site(const struct gs_explain *e, const struct gs_site *site, const char *sentence)
{
    if (site->line == 0) {
        printf("    %s\n", sentence);
        return;
    }
    printf("    %s:%u:%u: %s\n", gs_explain_file(e, site), site->line, site->column, sentence);
    print_line(e, site);
}

/* The same from the beginning of the line, for editors that look for it there. */
static void print_error(const struct gs_explain *e, const struct gs_site *site, const char *sentence)
{
    printf("%s:%u:%u: error: %s\n", gs_explain_file(e, site), site->line, site->column, sentence);
    print_line(e, site);
}

static const char *atomic_name(const struct gs_arg_summary *a)
{
    static const char *const names[] = {"", "add", "min", "max", "and", "or", "xor", "various"};
    return names[a->atomic];
}

/* Each load and store of an argument as a formula. */
static void print_accesses(const struct gs_kernel_summary *k, uint32_t arg)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < gs_access_lines(k); i++) {
        struct gs_access_line l;
        if (gs_access_line(k, i, &l) < 0)
            return;
        if (l.arg == arg && n++ < SHOWN_ACCESSES) {
            printf("    %-6s %s", l.kind, l.place);
            if (*l.when)
                printf("  where %s", l.when);
            printf("%s", l.maybe ? "  (perhaps)" : "");
            if (l.line)
                printf("  line %u", l.line);
            putchar('\n');
        }
        gs_access_line_free(&l);
    }
    if (n > SHOWN_ACCESSES)
        printf("    and %u more\n", n - SHOWN_ACCESSES);
}

static void print_arg(const struct gs_explain *e, const struct gs_kernel_summary *k, uint32_t arg)
{
    const struct gs_arg_summary *a = &k->args[arg];
    bool memory = a->kind == GS_ARG_GLOBAL || a->kind == GS_ARG_CONSTANT || a->kind == GS_ARG_IMAGE;
    printf("  %-28s %-12s", a->type, a->name);
    if (!memory) {
        printf(" %s\n", a->kind == GS_ARG_LOCAL ? "local memory" : a->kind == GS_ARG_SAMPLER ? "a sampler" : "a value");
        return;
    }
    if (a->atomic != GS_ATOMIC_NONE)
        printf(" atomics: %s%s%s", atomic_name(a), gs_arg_reorders(a) ? " of floating-point numbers" : "",
               a->atomic_mixed ? ", and plain accesses" : "");
    else
        printf(" %s", a->may_read && a->may_write ? "read and written"
                      : a->may_write              ? "written"
                      : a->may_read               ? "read"
                                                  : "not touched");
    printf("%s\n", a->escapes ? ", its address escapes" : "");
    if (a->may_read && *a->read_unknown)
        print_site(e, &a->read_site, a->read_unknown);
    if (a->may_write && *a->write_unknown)
        print_site(e, &a->write_site, a->write_unknown);
    print_accesses(k, arg);
}

static void print_ranges(const char *what, bool unknown, const struct gs_rangeset *s)
{
    if (unknown || s->n == 0) {
        printf(" %s %s", what, unknown ? "anything" : "nothing");
        return;
    }
    printf(" %s", what);
    for (size_t i = 0; i < s->n && i < SHOWN_RANGES; i++)
        printf(" [%" PRIu64 ", %" PRIu64 ")", s->v[i].begin, s->v[i].end);
    if (s->n > SHOWN_RANGES)
        printf(" and %zu more", s->n - SHOWN_RANGES);
    printf(": %" PRIu64 " bytes", gs_rangeset_bytes(s));
}

static void print_part(const struct gs_explain_launch *l, unsigned p)
{
    const struct gs_plan *plan = &l->plan;
    size_t offset[3], global[3];
    gs_box_items(&plan->launch, &plan->box[p], offset, global);
    printf("    part %u: work-items [%zu, %zu) of dimension %u\n", p, offset[plan->dim],
           offset[plan->dim] + global[plan->dim], plan->dim);
    for (uint32_t i = 0; i < l->kernel->n_args; i++) {
        const struct gs_arg_summary *a = &l->kernel->args[i];
        const struct gs_arg_access *x = &l->access[(size_t)p * l->kernel->n_args + i];
        if (!l->used[i] || l->used[i]->image || (!a->may_read && !a->may_write))
            continue;
        printf("      %-12s", a->name);
        if (a->may_read)
            print_ranges("reads", x->reads_all, &x->reads);
        if (a->may_read && a->may_write)
            printf(",");
        if (a->may_write)
            print_ranges("writes", x->writes_unknown, &x->writes);
        putchar('\n');
    }
}

static void print_turns(const struct gs_explain *e, const struct gs_explain_launch *l)
{
    const struct gs_turns *t = &l->turns;
    char room[GS_SHOW], takes[GS_SHOW];
    if (!e->memory)
        return;
    gs_show_bytes(gs_explain_largest_turn(l), takes);
    printf("  with --memory pooled, on %u devices of %s, it ", e->parts, gs_show_bytes(e->memory, room));
    if (!t->v)
        printf("doesn't fit: %s\n", t->reason);
    else if (t->n == 1)
        printf("runs on one device%s%s, where it takes %s\n", t->reason ? ": " : "", t->reason ? t->reason : "", takes);
    else
        printf("runs in %u turns along dimension %u, %s; the largest takes %s\n", t->n, t->dim,
               t->serial ? "one after the other" : "side by side on the devices", takes);
}

static void print_launch(const struct gs_explain *e, const struct gs_explain_launch *l)
{
    const struct gs_plan *plan = &l->plan;
    char why[256];
    if (gs_explain_invalid(e, l, why, sizeof why)) {
        printf("  this launch can't be made: %s\n", why);
        return;
    }
    print_turns(e, l);
    if (plan->reason) {
        printf("  this launch runs on one device: %s\n", plan->reason);
        return;
    }
    printf("  this launch is split into %u parts along dimension %u\n", plan->n_parts, plan->dim);
    for (unsigned p = 0; p < plan->n_parts; p++)
        print_part(l, p);
    for (uint32_t i = 0; i < l->kernel->n_args; i++) {
        const char *how = gs_explain_writes(l, i);
        if (how)
            printf("    %s: %s\n", l->kernel->args[i].name, how);
    }
    if (l->values_missing)
        printf("    (values that --arg doesn't say may be any)\n");
    if (l->sizes_missing)
        printf("    (buffers whose size --arg doesn't say are taken to have 1 GiB)\n");
}

static bool reorders(const struct gs_kernel_summary *k)
{
    bool any = false;
    for (uint32_t i = 0; i < k->n_args; i++)
        any = any || gs_arg_reorders(&k->args[i]);
    return any;
}

/* What a split changes, where the user allows it. */
static void print_reordered(const struct gs_explain *e, const struct gs_kernel_summary *k)
{
    if (k->reorders)
        printf(
            "  %s: with %s the compiler may reorder, and the hidden argument changes its text (NVIDIA's is asked what "
            "it makes of both)\n",
            e->may_reorder ? "as --allow reorder permits" : "but only with --allow reorder", e->reordering);
    for (uint32_t i = 0; i < k->n_args; i++)
        if (gs_arg_reorders(&k->args[i])) {
            print_site(e, &k->args[i].atomic_site,
                       "the order in which these atomics add floating-point numbers decides about the last bits; a "
                       "split changes it");
        }
}

static void print_kernel(const struct gs_explain *e, const struct gs_kernel_summary *k,
                         const struct gs_explain_launch *l)
{
    printf("kernel %s\n", k->name);
    for (uint32_t i = 0; i < k->n_args; i++)
        print_arg(e, k, i);
    if (k->reqd[0])
        printf("  its work-groups have %u x %u x %u work-items\n", k->reqd[0], k->reqd[1], k->reqd[2]);
    if (k->uses_group && !k->reqd[0])
        printf("  what it computes may depend on the work-group size\n");
    if (k->refusal) {
        printf(k->only_atomics
                   ? "  it is never split; pooled memory may run it in several launches, one after the other:\n"
                   : "  it is never split:\n");
        print_site(e, &k->refusal_site, k->refusal);
        if (l && k->only_atomics)
            print_launch(e, l);
    } else {
        printf("  it can be split%s%s\n", k->hidden ? ", with a hidden argument" : " as it is",
               !reorders(k)     ? ""
               : e->may_reorder ? "; --allow reorder permits it:"
                                : ", but only with gpusparc run --allow reorder:");
        print_reordered(e, k);
        if (l)
            print_launch(e, l);
    }
}

void gs_explain_text(const struct gs_explain *e, const struct gs_summary *s, const struct gs_explain_launch *launches)
{
    bool first = true;
    struct gs_site site;
    const char *error = s->refusal ? gs_explain_error(s->refusal, &site) : NULL;
    if (error) {
        printf("nothing of the program is split: its text can't be read\n");
        print_error(e, &site, error);
    } else if (s->refusal) {
        printf("nothing of the program is split: %s\n", s->refusal);
    }
    if (s->refusal && !*e->build_options)
        puts("(the options with which the application builds it go behind --, as in: gpusparc explain FILE.cl -- "
             "-DN=16)");
    if (!s->refusal && !s->n_kernels)
        puts("the program has no kernel");
    for (uint32_t i = 0; i < s->n_kernels; i++) {
        if (e->kernel && strcmp(e->kernel, s->kernels[i].name) != 0)
            continue;
        printf("%s", first ? "" : "\n");
        print_kernel(e, &s->kernels[i], launches ? &launches[i] : NULL);
        first = false;
    }
    for (uint32_t u = 0; e->source && u < s->n_units; u++)
        printf("\n/* %s, as it is compiled%s */\n%s", e->files[u], s->changed ? "" : ": unchanged", s->units[u]);
}
