/* SPDX-License-Identifier: MIT */
/* What an evaluation sees of the arguments that are passed by value: not each of them, but the values of whole
 * expressions of such arguments and constants, as `n == 0` or `step % 2`, at the places where work-items' own numbers,
 * guards, loops and accesses use them. Where these are the same all else is. */
#include "translator/summary/summary.h"

#include <stdlib.h>
#include <string.h>

#include "translator/evaluation/eval_state.h"
#include "translator/summary/access_fold.h"

struct gs_seen {
    const struct gs_access_program *p;
    uint32_t n;     /* nodes */
    int64_t *value; /* of each node that is uniform */
    uint8_t *what;  /* of each node */
    uint32_t n_uniform;
    uint32_t *uniform; /* these nodes, in order */
    int64_t *seen;     /* the values of those that are USED and of arguments, modulo 2^64 */
};

enum { UNIFORM = 1, OF_ARGS = 2, USED = 4 };

/* May it be computed here: of operands that are uniform, by what C says of the very types that they have? */
static bool is_uniform(const struct gs_seen *s, const struct gs_node *n)
{
    const struct gs_node *of = s->p->nodes;
    const uint32_t operand[] = {n->a, n->b, n->c};
    for (unsigned i = 0; i < gs_node_operands(n->op); i++)
        if (!(s->what[operand[i]] & UNIFORM))
            return false;
    switch (n->op) {
    case GS_N_CONST:
    case GS_N_ARG:
    case GS_N_ADD:
    case GS_N_SUB:
    case GS_N_MUL:
    case GS_N_SHL:
    case GS_N_AND:
    case GS_N_OR:
    case GS_N_XOR:
    case GS_N_NOT:
    case GS_N_CAST:
    case GS_N_SELECT:
    case GS_N_LAND:
    case GS_N_LOR:
    case GS_N_LNOT:
        return true;
    case GS_N_SHR:
        return of[n->a].type == n->type;
    case GS_N_DIV:
    case GS_N_REM:
    case GS_N_MIN:
    case GS_N_MAX:
        return of[n->a].type == n->type && of[n->b].type == n->type;
    case GS_N_EQ:
    case GS_N_LT:
    case GS_N_LE:
        return of[n->a].type == of[n->b].type;
    default:
        return false;
    }
}

static bool read_arg(const struct gs_node *n, const struct gs_arg_value *a, int64_t *out)
{
    const size_t bytes = gs_int_bits(n->type) / 8, at = (size_t)n->imm;
    uint64_t raw = 0;
    if (!a->bytes || a->size < bytes || at > a->size - bytes)
        return false;
    memcpy(&raw, (const char *)a->bytes + at, bytes);
    *out = gs_int_wrap(n->type, (int64_t)raw);
    return true;
}

/* False: C doesn't say. */
static bool compute(const struct gs_seen *s, const struct gs_node *n, const struct gs_arg_value *args, int64_t *out)
{
    const unsigned operands = gs_node_operands(n->op);
    const int64_t x = s->value[operands ? n->a : 0], y = s->value[operands > 1 ? n->b : 0];
    int64_t v;
    switch (n->op) {
    case GS_N_CONST:
        v = n->imm;
        break;
    case GS_N_ARG:
        return read_arg(n, &args[n->a], out);
    case GS_N_NOT:
        v = ~x;
        break;
    case GS_N_CAST:
        v = x;
        break;
    case GS_N_SELECT:
        v = x ? y : s->value[n->c];
        break;
    case GS_N_LNOT:
        v = !x;
        break;
    default:
        if ((n->op == GS_N_SHL || n->op == GS_N_SHR) && (y < 0 || y >= gs_int_bits(n->type)))
            return false;
        if (!gs_int_fold(n->op, n->type, s->p->nodes[n->a].type, x, y, &v))
            return false;
    }
    *out = gs_int_wrap(n->type, v);
    return true;
}

static void use(struct gs_seen *s, uint32_t node)
{
    if (node < s->n)
        s->what[node] |= USED;
}

/* Who uses a node that isn't one of those itself. */
static void find_uses(struct gs_seen *s)
{
    const struct gs_access_program *p = s->p;
    for (uint32_t i = 0; i < s->n; i++) {
        const uint32_t operand[] = {p->nodes[i].a, p->nodes[i].b, p->nodes[i].c};
        for (unsigned o = 0; o < gs_node_operands(p->nodes[i].op) && !(s->what[i] & UNIFORM); o++)
            use(s, operand[o]);
    }
    for (uint32_t i = 0; i < p->n_loops; i++) {
        use(s, p->loops[i].init);
        use(s, p->loops[i].step);
        use(s, p->loops[i].limit);
        use(s, p->loops[i].condition);
    }
    for (uint32_t i = 0; i < p->n_contexts; i++)
        if (p->contexts[i].kind == GS_C_GUARD)
            use(s, p->contexts[i].what);
    for (uint32_t i = 0; i < p->n_accesses; i++)
        use(s, p->accesses[i].offset);
}

struct gs_seen *gs_seen_new(const struct gs_kernel_summary *kernel)
{
    struct gs_seen *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->p = kernel->access;
    s->n = s->p ? s->p->n_nodes : 0;
    s->value = calloc(s->n + 1, sizeof *s->value);
    s->what = calloc(s->n + 1, sizeof *s->what);
    s->uniform = calloc(s->n + 1, sizeof *s->uniform);
    s->seen = calloc(s->n + 1, sizeof *s->seen);
    if (!s->value || !s->what || !s->uniform || !s->seen) {
        gs_seen_free(s);
        return NULL;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        const struct gs_node *n = &s->p->nodes[i];
        const uint32_t operand[] = {n->a, n->b, n->c};
        if (!is_uniform(s, n))
            continue;
        s->uniform[s->n_uniform++] = i;
        s->what[i] = UNIFORM;
        if (n->op == GS_N_ARG)
            s->what[i] |= OF_ARGS;
        for (unsigned o = 0; o < gs_node_operands(n->op); o++)
            s->what[i] |= s->what[operand[o]] & OF_ARGS;
    }
    if (s->p)
        find_uses(s);
    return s;
}

const int64_t *gs_seen_values(struct gs_seen *s, const struct gs_arg_value *args, size_t *n)
{
    *n = 0;
    for (uint32_t u = 0; u < s->n_uniform; u++) {
        const uint32_t i = s->uniform[u];
        if (!compute(s, &s->p->nodes[i], args, &s->value[i]))
            return NULL;
        if ((s->what[i] & (OF_ARGS | USED)) == (OF_ARGS | USED))
            s->seen[(*n)++] = s->value[i];
    }
    return s->seen;
}

void gs_seen_free(struct gs_seen *s)
{
    if (!s)
        return;
    free(s->value);
    free(s->what);
    free(s->uniform);
    free(s->seen);
    free(s);
}
