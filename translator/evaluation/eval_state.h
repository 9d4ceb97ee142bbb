/* SPDX-License-Identifier: MIT */
/* The evaluation of an access program, between eval.c and its parts eval_*.c. All numbers are mathematical integers
 * that never wrap; where C's would, eval_node.c sees to it. docs/access.md says why each rule is sound. */
#ifndef GS_TRANSLATOR_EVALUATION_EVAL_STATE_H
#define GS_TRANSLATOR_EVALUATION_EVAL_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "translator/summary/access_program.h"

__extension__ typedef __int128 gs_wide;

/* lo <= x <= hi; empty where lo > hi. */
struct gs_interval {
    gs_wide lo, hi;
};

/* The variables of forms. After these come the number of finished iterations of each loop, and the value of each node
 * that is no form of other variables. */
enum {
    GS_VAR_ITEM = 0,  /* + d: index of the work-item in the launch, offset not included: group * local size + local */
    GS_VAR_GROUP = 3, /* + d: index of the work-group in the launch */
    GS_VAR_LOCAL = 6, /* + d */
    GS_VAR_LOOP = 9
};

enum { GS_FORM_TERMS = 8 };

struct gs_term {
    uint32_t var;
    int64_t factor; /* not 0 */
};

/* base + the sum of factor * var, in ascending order of var. */
struct gs_form {
    int64_t base;
    uint32_t n;
    struct gs_term t[GS_FORM_TERMS];
};

/* Forms have few terms as a rule, and most of the time goes into copying them. */
static inline void gs_form_copy(struct gs_form *to, const struct gs_form *from)
{
    to->base = from->base;
    to->n = from->n;
    if (from->n > 0)
        to->t[0] = from->t[0];
    if (from->n > 1)
        to->t[1] = from->t[1];
    for (uint32_t i = 2; i < from->n; i++)
        to->t[i] = from->t[i];
}

/* What a guard says of a form of several variables. */
struct gs_constraint {
    struct gs_form form;
    struct gs_interval in;
};

enum { GS_FIRST_UNDO = 64, GS_MAX_DEPTH = 120, GS_MAX_CONSTRAINTS = 16, GS_LEVELS = GS_MAX_NESTING + GS_MAX_DEPTH + 8 };

/* The value of a node as far as it has been found out, and on which level of contexts. */
struct gs_memo {
    struct gs_form form;
    uint32_t serial, level;
    bool free;   /* no interval was looked at: holds everywhere */
    bool lossy;  /* a deeper context may know it better */
    bool around; /* a node's own variable that has no value in `gap`: what wraps around the end of a ring */
    struct gs_interval gap;
};

struct gs_undo {
    uint32_t var;
    struct gs_interval old;
};

/* Everything known so far on a level, besides the variables' intervals. */
struct gs_level {
    uint32_t serial, undo, constraints;
    bool empty; /* no work-item of the part comes here */
};

struct gs_eval {
    const struct gs_access_program *p;
    const struct gs_geometry *launch;
    const struct gs_box *box;
    const struct gs_arg_value *args;
    struct gs_interval *var; /* lo > hi for a node's variable that isn't in use */
    struct gs_memo *memo;    /* serial 0: none */
    uint32_t first_node_var;
    struct gs_undo *undo; /* first_undo, or owned where that isn't enough */
    uint32_t n_undo, undo_cap;
    struct gs_undo first_undo[GS_FIRST_UNDO];
    struct gs_constraint constraints[GS_MAX_CONSTRAINTS];
    struct gs_level levels[GS_LEVELS];
    uint32_t level, serial;
    uint32_t depth;             /* of recursion in eval_node.c */
    uint32_t budget;            /* nodes that may still be evaluated: bounds the time that nested selections take */
    struct gs_written *written; /* by accesses that others come behind; owned */
    uint32_t ranges;            /* of strides, that have been added to sets */
    bool no_memory;
};

/* Was the memo found on the current level, or on a level around it? */
static inline bool gs_memo_holds(const struct gs_eval *e, const struct gs_memo *m)
{
    return m->serial && (m->free || (m->level <= e->level && e->levels[m->level].serial == m->serial));
}

/* eval_form.c */
bool gs_form_add(const struct gs_eval *e, const struct gs_form *a, int64_t factor, const struct gs_form *b,
                 struct gs_form *out); /* out = a + factor * b; false where that doesn't fit */
struct gs_form gs_form_const(int64_t v);
struct gs_form gs_form_var(uint32_t var);
struct gs_interval gs_form_interval(const struct gs_eval *e, const struct gs_form *f);
bool gs_form_same(const struct gs_form *a, const struct gs_form *b);

/* eval_node.c. gs_eval_lazy_to: a form that equals the node's value modulo 2 to the width of its type.
 * gs_eval_value_to: a form that equals the value itself. Both join `free` and `lossy` of the memo into `m`. */
struct gs_interval gs_int_range(uint8_t type);
void gs_eval_lazy_to(struct gs_eval *e, uint32_t node, struct gs_memo *m, struct gs_form *out);
void gs_eval_value_to(struct gs_eval *e, uint32_t node, struct gs_memo *m, struct gs_form *out);

static inline struct gs_form gs_eval_lazy(struct gs_eval *e, uint32_t node, struct gs_memo *m)
{
    struct gs_form f;
    gs_eval_lazy_to(e, node, m, &f);
    return f;
}

static inline struct gs_form gs_eval_value(struct gs_eval *e, uint32_t node, struct gs_memo *m)
{
    struct gs_form f;
    gs_eval_value_to(e, node, m, &f);
    return f;
}

/* eval_guard.c. A level is entered and left; guards and loops narrow the current one. */
void gs_level_enter(struct gs_eval *e);
void gs_level_leave(struct gs_eval *e);
void gs_var_narrow(struct gs_eval *e, uint32_t var, struct gs_interval to);
/* Narrows the form's variables to what lo <= f <= hi leaves them. */
void gs_form_narrow(struct gs_eval *e, const struct gs_form *f, struct gs_interval to);
/* The loop's number of finished iterations is 0 ... last on this level. */
void gs_loop_range(struct gs_eval *e, uint32_t loop, gs_wide last);
enum gs_truth { GS_FALSE, GS_TRUE, GS_MAYBE };
enum gs_truth gs_eval_truth(struct gs_eval *e, uint32_t node, struct gs_memo *m);
void gs_guard_enter(struct gs_eval *e, uint32_t node, bool truth); /* a new level on which the guard holds */
void gs_loop_enter(struct gs_eval *e, uint32_t loop, bool body);   /* !body: the tests, one more than iterations */
/* The number of iterations less one, as an interval's hi, at least -1; `exact`: it is the same for all work-items.
 */
struct gs_loop_bound {
    gs_wide last;
    bool bounded, exact;
    struct gs_interval after; /* the induction variable's values in the loop, and behind the loop unless the condition
                                 changes the variable once more */
};
struct gs_loop_bound gs_loop_bound(struct gs_eval *e, uint32_t loop, struct gs_memo *m);

/* eval_before.c. What an access of the part surely writes. */
struct gs_written {
    struct gs_written *next;
    uint32_t access;
    struct gs_rangeset bytes;
};

/* May anything in the program be read that the part surely wrote before? And what this access writes? */
bool gs_before_matters(const struct gs_access_program *p);
bool gs_before_wanted(const struct gs_access_program *p, uint32_t write);
/* Removes from an access's reads the bytes that the part surely wrote before. -ENOMEM. */
int gs_before_take_off(const struct gs_access_program *p, const struct gs_written *written, uint32_t read,
                       struct gs_rangeset *bytes);
void gs_before_free(struct gs_written *written);

/* eval_set.c. Between which numbers the form lies, constraints considered; lo > hi: there is no such item. */
struct gs_interval gs_form_bounds(const struct gs_eval *e, const struct gs_form *f);

/* Adds the bytes [x, x + bytes) for all values x of the form, clipped to [0, buffer_bytes), to `out`: at least those
 * that may be touched. Returns false where nothing is known, whatever has been added. */
bool gs_set_add(struct gs_eval *e, const struct gs_form *f, uint64_t bytes, uint64_t buffer_bytes,
                struct gs_rangeset *out);

#endif
