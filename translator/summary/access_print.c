/* SPDX-License-Identifier: MIT */
#include "translator/summary/access_print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "translator/summary/access_program.h"

enum { MAX_DEPTH = 40, MAX_NODES = 1000 };

struct printer {
    FILE *out;
    const struct gs_kernel_summary *kernel;
    const struct gs_access_program *p;
    unsigned budget; /* nodes that may still be looked at: expressions share their parts, texts don't */
};

static void print_node(struct printer *w, uint32_t node, unsigned depth);
static bool is_multiple(struct printer *w, uint32_t node, int64_t of, unsigned depth);
static void print_divided(struct printer *w, uint32_t node, int64_t by, int at_least, unsigned depth);

static const char *binary_sign(uint8_t op)
{
    static const char *const signs[GS_N_OPS] = {
        [GS_N_ADD] = " + ", [GS_N_SUB] = " - ", [GS_N_MUL] = "*",     [GS_N_MUL24] = "*",
        [GS_N_DIV] = " / ", [GS_N_REM] = " % ", [GS_N_SHL] = " << ",  [GS_N_SHR] = " >> ",
        [GS_N_AND] = " & ", [GS_N_OR] = " | ",  [GS_N_XOR] = " ^ ",   [GS_N_EQ] = " == ",
        [GS_N_LT] = " < ",  [GS_N_LE] = " <= ", [GS_N_LAND] = " && ", [GS_N_LOR] = " || ",
    };
    return signs[op];
}

/* How tightly an operator binds, as in C. */
enum { SELECT, LOR, LAND, OR, XOR, AND, EQUAL, LESS, SHIFT, SUM, PRODUCT, UNARY, PRIMARY };

static int precedence(uint8_t op)
{
    switch (op) {
    case GS_N_SELECT:
        return SELECT;
    case GS_N_LOR:
        return LOR;
    case GS_N_LAND:
        return LAND;
    case GS_N_OR:
        return OR;
    case GS_N_XOR:
        return XOR;
    case GS_N_AND:
        return AND;
    case GS_N_EQ:
        return EQUAL;
    case GS_N_LT:
    case GS_N_LE:
        return LESS;
    case GS_N_SHL:
    case GS_N_SHR:
        return SHIFT;
    case GS_N_ADD:
    case GS_N_SUB:
    case GS_N_IV:
        return SUM;
    case GS_N_MUL:
    case GS_N_MUL24:
    case GS_N_DIV:
    case GS_N_REM:
        return PRODUCT;
    default:
        return PRIMARY;
    }
}

static uint32_t behind_casts(const struct gs_access_program *p, uint32_t node)
{
    while (p->nodes[node].op == GS_N_CAST &&
           gs_int_bits(p->nodes[node].type) >= gs_int_bits(p->nodes[p->nodes[node].a].type))
        node = p->nodes[node].a;
    return node;
}

static void print_operand(struct printer *w, uint32_t node, int at_least, unsigned depth)
{
    node = behind_casts(w->p, node);
    bool brackets = precedence(w->p->nodes[node].op) < at_least;
    if (brackets)
        fputc('(', w->out);
    print_node(w, node, depth + 1);
    if (brackets)
        fputc(')', w->out);
}

static void print_type(struct printer *w, uint8_t type)
{
    static const char *const names[] = {"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong"};
    fprintf(w->out, "(%s)", names[type]);
}

/* Does the operator make something else of negative numbers if it takes them for large ones? */
static bool sign_matters(uint8_t op)
{
    return op == GS_N_DIV || op == GS_N_REM || op == GS_N_SHR || op == GS_N_LT || op == GS_N_LE || op == GS_N_MIN ||
           op == GS_N_MAX;
}

/* Is it a number without a sign, as the text that is printed of it stands in C? Looks at `left` nodes at most. */
static bool reads_unsigned(const struct printer *w, uint32_t node, unsigned *left)
{
    node = behind_casts(w->p, node);
    const struct gs_node *n = &w->p->nodes[node];
    const uint32_t operand[] = {n->a, n->b, n->c};
    if (gs_int_signed(n->type) || n->op == GS_N_CONST)
        return false;
    if (n->op < GS_N_ADD || n->op == GS_N_CAST || sign_matters(n->op))
        return true;
    for (unsigned i = n->op == GS_N_SELECT; i < (n->op == GS_N_SHL ? 1 : gs_node_operands(n->op)) && *left; i++) {
        --*left;
        if (reads_unsigned(w, operand[i], left))
            return true;
    }
    return false;
}

/* Before the first operand of what is computed without signs, where nothing else that is printed says so: i - s < n
 * isn't (uint)(i - s) < n. Returns how tightly that operand must bind. */
static int print_sign(struct printer *w, const struct gs_node *n, int at_least)
{
    const uint8_t type = w->p->nodes[n->a].type;
    unsigned left = 64;
    if (!sign_matters(n->op) || gs_int_signed(type) || reads_unsigned(w, n->a, &left) ||
        (n->op != GS_N_SHR && reads_unsigned(w, n->b, &left)))
        return at_least;
    print_type(w, type);
    return UNARY;
}

static void print_call(struct printer *w, const char *name, const struct gs_node *n, unsigned depth)
{
    fprintf(w->out, "%s(", name);
    print_operand(w, n->a, print_sign(w, n, SELECT), depth);
    fputs(", ", w->out);
    print_operand(w, n->b, SELECT, depth);
    fputc(')', w->out);
}

static void print_arg(struct printer *w, const struct gs_node *n)
{
    const struct gs_arg_summary *a = &w->kernel->args[n->a];
    fputs(a->name, w->out);
    if (a->size != gs_int_bits(n->type) / 8)
        fprintf(w->out, "@%" PRId64, n->imm); /* a field, by its byte */
}

static void print_geometry(struct printer *w, const struct gs_node *n)
{
    static const char *const names[GS_N_OPS] = {
        [GS_N_GLOBAL_ID] = "get_global_id",   [GS_N_GROUP_ID] = "get_group_id",
        [GS_N_LOCAL_ID] = "get_local_id",     [GS_N_GLOBAL_SIZE] = "get_global_size",
        [GS_N_LOCAL_SIZE] = "get_local_size", [GS_N_ENQUEUED_LOCAL_SIZE] = "get_enqueued_local_size",
        [GS_N_NUM_GROUPS] = "get_num_groups", [GS_N_GLOBAL_OFFSET] = "get_global_offset",
    };
    if (n->op == GS_N_WORK_DIM)
        fputs("get_work_dim()", w->out);
    else
        fprintf(w->out, "%s(%u)", names[n->op], n->dim);
}

static bool is_constant(const struct gs_access_program *p, uint32_t node, int64_t *v)
{
    node = behind_casts(p, node);
    *v = p->nodes[node].imm;
    return p->nodes[node].op == GS_N_CONST;
}

static void print_iv(struct printer *w, const struct gs_node *n, unsigned depth)
{
    int64_t v;
    if (!is_constant(w->p, n->a, &v) || v != 0) {
        print_operand(w, n->a, SUM, depth);
        fputs(" + ", w->out);
    }
    if (!is_constant(w->p, n->b, &v) || v != 1) {
        print_operand(w, n->b, PRODUCT, depth);
        fputc('*', w->out);
    }
    fprintf(w->out, "k%u", n->c + 1);
}

/* arg[index], or an offset in bytes where that is no whole number of elements. */
static void print_element(struct printer *w, uint32_t arg, uint32_t offset, uint32_t bytes, unsigned depth)
{
    fputs(w->kernel->args[arg].name, w->out);
    if (bytes && is_multiple(w, offset, bytes, depth)) {
        fputc('[', w->out);
        print_divided(w, offset, bytes, SELECT, depth + 1);
        fputc(']', w->out);
    } else {
        fputs(" + ", w->out);
        print_node(w, offset, depth + 1);
        fputs(" bytes", w->out);
    }
}

/* May what binds as tightly stand to the right of the operator without brackets? Not in 8*(i % n). */
static bool joins(uint8_t op, uint8_t right)
{
    return op == GS_N_ADD || op == GS_N_LAND || op == GS_N_LOR || (op == GS_N_MUL && right == GS_N_MUL);
}

static void print_node(struct printer *w, uint32_t node, unsigned depth)
{
    node = behind_casts(w->p, node);
    const struct gs_node *n = &w->p->nodes[node];
    if (depth > MAX_DEPTH || w->budget == 0) {
        fputs("…", w->out);
        return;
    }
    w->budget--;
    switch (n->op) {
    case GS_N_CONST:
        fprintf(w->out, "%" PRId64, n->imm);
        return;
    case GS_N_ARG:
        print_arg(w, n);
        return;
    case GS_N_OPAQUE:
        fprintf(w->out, "?%u", node);
        return;
    case GS_N_LOAD:
        print_element(w, n->c, n->a, gs_int_bits(n->type) / 8, depth);
        return;
    case GS_N_IV:
        print_iv(w, n, depth);
        return;
    case GS_N_IV_EXIT:
        fprintf(w->out, "(?%u behind loop k%u)", node, n->c + 1);
        return;
    case GS_N_MIN:
    case GS_N_MAX:
        print_call(w, n->op == GS_N_MIN ? "min" : "max", n, depth);
        return;
    case GS_N_NOT:
    case GS_N_LNOT:
        fputc(n->op == GS_N_NOT ? '~' : '!', w->out);
        print_operand(w, n->a, UNARY, depth);
        return;
    case GS_N_CAST:
        print_type(w, n->type);
        print_operand(w, n->a, UNARY, depth);
        return;
    case GS_N_SELECT:
        print_operand(w, n->a, LOR, depth);
        fputs(" ? ", w->out);
        print_operand(w, n->b, LOR, depth);
        fputs(" : ", w->out);
        print_operand(w, n->c, SELECT, depth);
        return;
    default:
        break;
    }
    if (n->op < GS_N_ADD) {
        print_geometry(w, n);
        return;
    }
    int own = precedence(n->op);
    print_operand(w, n->a, print_sign(w, n, own), depth);
    fputs(binary_sign(n->op), w->out);
    print_operand(w, n->b, own + !joins(n->op, w->p->nodes[behind_casts(w->p, n->b)].op), depth);
}

/* ---- a byte offset as an index of elements ---- */

static bool is_multiple(struct printer *w, uint32_t node, int64_t of, unsigned depth)
{
    node = behind_casts(w->p, node);
    const struct gs_node *n = &w->p->nodes[node];
    if (depth > MAX_DEPTH || w->budget == 0)
        return false;
    w->budget--;
    switch (n->op) {
    case GS_N_CONST:
        return n->imm % of == 0;
    case GS_N_ADD:
    case GS_N_SUB:
    case GS_N_IV:
        return is_multiple(w, n->a, of, depth + 1) && is_multiple(w, n->b, of, depth + 1);
    case GS_N_SELECT:
        return is_multiple(w, n->b, of, depth + 1) && is_multiple(w, n->c, of, depth + 1);
    case GS_N_MUL:
        return is_multiple(w, n->a, of, depth + 1) || is_multiple(w, n->b, of, depth + 1);
    default:
        return of == 1;
    }
}

static void print_divided_product(struct printer *w, const struct gs_node *n, int64_t by, unsigned depth)
{
    bool first = is_multiple(w, n->a, by, depth);
    uint32_t divided = first ? n->a : n->b, other = first ? n->b : n->a;
    int64_t v;
    if (is_constant(w->p, divided, &v) && v == by) {
        print_operand(w, other, SUM, depth);
        return;
    }
    print_operand(w, other, PRODUCT, depth);
    fputc('*', w->out);
    print_divided(w, divided, by, UNARY, depth + 1);
}

/* node / by, where that is a whole number. */
static void print_divided(struct printer *w, uint32_t node, int64_t by, int at_least, unsigned depth)
{
    node = behind_casts(w->p, node);
    const struct gs_node *n = &w->p->nodes[node];
    int own = n->op == GS_N_MUL ? SUM : precedence(n->op);
    bool brackets = own < at_least;
    int64_t v;
    if (brackets)
        fputc('(', w->out);
    if (depth > MAX_DEPTH || w->budget == 0) {
        fputs("…", w->out);
        goto done;
    }
    w->budget--;
    switch (n->op) {
    case GS_N_CONST:
        fprintf(w->out, "%" PRId64, n->imm / by);
        break;
    case GS_N_ADD:
    case GS_N_SUB:
        print_divided(w, n->a, by, SUM, depth + 1);
        fputs(binary_sign(n->op), w->out);
        print_divided(w, n->b, by, n->op == GS_N_SUB ? PRODUCT : SUM, depth + 1);
        break;
    case GS_N_SELECT:
        print_operand(w, n->a, LOR, depth);
        fputs(" ? ", w->out);
        print_divided(w, n->b, by, LOR, depth + 1);
        fputs(" : ", w->out);
        print_divided(w, n->c, by, SELECT, depth + 1);
        break;
    case GS_N_IV:
        if (!is_constant(w->p, n->a, &v) || v != 0) {
            print_divided(w, n->a, by, SUM, depth + 1);
            fputs(" + ", w->out);
        }
        if (!is_constant(w->p, n->b, &v) || v != by) {
            print_divided(w, n->b, by, PRODUCT, depth + 1);
            fputc('*', w->out);
        }
        fprintf(w->out, "k%u", n->c + 1);
        break;
    case GS_N_MUL:
        print_divided_product(w, n, by, depth);
        break;
    default:
        print_node(w, node, depth);
    }
done:
    if (brackets)
        fputc(')', w->out);
}

/* ---- lines ---- */

static void print_place(struct printer *w, const struct gs_access *a)
{
    const struct gs_arg_summary *arg = &w->kernel->args[a->arg];
    if (a->offset == GS_NO_NODE) {
        fprintf(w->out, "%s[?]", arg->name);
    } else if (arg->kind == GS_ARG_IMAGE) {
        fprintf(w->out, "%s at ", arg->name);
        print_node(w, a->offset, 0);
    } else {
        print_element(w, a->arg, a->offset, arg->size, 0);
    }
}

static void print_guards(struct printer *w, uint32_t context, bool *any, bool *maybe)
{
    const struct gs_scope *c = &w->p->contexts[context];
    if (context == 0)
        return;
    print_guards(w, c->parent, any, maybe);
    *maybe |= c->kind == GS_C_MAYBE;
    if (c->kind != GS_C_GUARD)
        return;
    fputs(*any ? " && " : "", w->out);
    *any = true;
    const struct gs_node *n = &w->p->nodes[c->what];
    if (!c->truth && (n->op == GS_N_LT || n->op == GS_N_LE)) { /* !(x < y) is y <= x */
        print_operand(w, n->b, print_sign(w, n, SHIFT), 0);
        fputs(n->op == GS_N_LT ? " <= " : " < ", w->out);
        print_operand(w, n->a, SHIFT, 0);
        return;
    }
    if (!c->truth)
        fputc('!', w->out);
    print_operand(w, c->what, c->truth ? OR : UNARY, 0);
}

uint32_t gs_access_lines(const struct gs_kernel_summary *kernel)
{
    return kernel->access ? kernel->access->n_accesses : 0;
}

static char *print(struct printer *w, void (*part)(struct printer *, const struct gs_access *, bool *),
                   const struct gs_access *a, bool *maybe)
{
    char *text = NULL;
    size_t bytes = 0;
    w->out = open_memstream(&text, &bytes);
    if (!w->out)
        return NULL;
    part(w, a, maybe);
    if (fclose(w->out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

static void place_part(struct printer *w, const struct gs_access *a, bool *maybe)
{
    (void)maybe;
    print_place(w, a);
}

static void guards_part(struct printer *w, const struct gs_access *a, bool *maybe)
{
    bool any = false;
    print_guards(w, a->context, &any, maybe);
}

int gs_access_line(const struct gs_kernel_summary *kernel, uint32_t i, struct gs_access_line *out)
{
    static const char *const kinds[] = {[GS_A_READ] = "reads", [GS_A_WRITE] = "writes", [GS_A_ATOMIC] = "atomic"};
    const struct gs_access *a = &kernel->access->accesses[i];
    struct printer w = {.kernel = kernel, .p = kernel->access, .budget = MAX_NODES};
    *out = (struct gs_access_line){.arg = a->arg, .line = a->line, .bytes = a->bytes, .kind = kinds[a->kind]};
    out->place = print(&w, place_part, a, &out->maybe);
    out->when = print(&w, guards_part, a, &out->maybe);
    if (out->place && out->when)
        return 0;
    gs_access_line_free(out);
    return -ENOMEM;
}

void gs_access_line_free(struct gs_access_line *l)
{
    free(l->place);
    free(l->when);
    *l = (struct gs_access_line){0};
}
