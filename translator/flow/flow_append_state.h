/* SPDX-License-Identifier: MIT */
/* What the search for lists that are appended to (flow_append.h) has found in the text, and how it looks at it. Inside
 * gpusparc-translate only. */
#ifndef GS_TRANSLATOR_FLOW_FLOW_APPEND_STATE_H
#define GS_TRANSLATOR_FLOW_FLOW_APPEND_STATE_H

#include "translator/flow/flow.h"

enum { GS_APPEND_VARS = 8, GS_APPEND_STORES = 64 };
#define GS_APPEND_UNKNOWN UINT32_MAX

/* a * x + c + b * by, where x is what the atomic gave, and `by` an integer parameter that stays the same, or null. */
struct gs_append_affine {
    bool ok;
    uint64_t a, c, b;
    CXCursor by;
};

/* A place in the memory behind a parameter: bytes + scale * by behind its begin; `by` as above. */
struct gs_append_from {
    CXCursor param; /* or null: it isn't one */
    uint64_t bytes, scale;
    CXCursor by;
};

/* What says that x is below a limit. */
struct gs_append_below {
    bool is;
    CXCursor param; /* or null */
    uint8_t type, as;
    int64_t more;
    uint32_t negative; /* so many numbers of x that are negative in 32 bits, from -1 down, are let through too, if they
                          are below it; or GS_APPEND_UNKNOWN */
};

struct gs_append_store {
    CXCursor at; /* the assignment, or the call of vstoreN */
    struct gs_append_from list;
    bool shifted_by;                       /* list.by is added to the index, not to the pointer */
    uint64_t element, unit, offset, bytes; /* offset: of x = 0, from the list's begin; the index counts elements */
    struct gs_append_below limit;
};

/* A variable that is made of x. */
struct gs_append_var {
    CXCursor decl;
    struct gs_append_affine is; /* of a pointer: in elements of the list that it points to */
    struct gs_append_from list; /* of a pointer; else param is null */
    uint64_t unit;              /* likewise: an element's bytes */
    unsigned seen;              /* gs_append_occurrences that are understood */
};

/* One atomic and what becomes of its result. */
struct gs_append_site {
    uint32_t func;
    CXCursor call, counter; /* counter: parameter */
    uint64_t counter_offset;
    enum gs_atomic_type type;
    uint64_t step;
    struct gs_append_store stores[GS_APPEND_STORES];
    unsigned n_stores;
    struct gs_append_var vars[GS_APPEND_VARS];
    unsigned n_vars;
    bool failed;
};

struct gs_append_search {
    struct gs_flow *f;
    const bool *in;
    uint32_t kernel, func, unit;
    struct gs_append_site *sites;
    uint32_t n_sites, cap_sites;
};

/* flow_append_look.c: questions about a tree. */

/* Does `look` say true of a cursor below `root`, or of itself? */
bool gs_append_any(CXCursor root, bool (*look)(CXCursor c, void *data), void *data);

/* Has a parameter its value from the begin of its function to the end? */
bool gs_append_is_steady(struct gs_append_search *s, uint32_t func, CXCursor param);

/* How often a variable is named. */
unsigned gs_append_occurrences(CXCursor root, CXCursor decl);

/* To be asked of any cursor: does it lead elsewhere, or is it led to (data: null)? Does it do more than to compute
 * (data: the search)? Plain loads are nothing that others see. */
bool gs_append_jumps(CXCursor c, void *data);
bool gs_append_acts(CXCursor c, void *data);

/* Statements, n children of a block from `from` on. To be asked of any cursor in them: does it do more than to compute,
 * and to set variables that are declared there (data: the scope)? */
struct gs_append_scope {
    struct gs_append_search *s;
    const struct gs_children *block;
    unsigned from, n;
};
bool gs_append_acts_beyond(CXCursor c, void *data);

/* The value of a constant expression; the integer type of OpenCL C (an enum gs_int_type); has that 32 bits or more? */
bool gs_append_constant(CXCursor e, uint64_t *value);
bool gs_append_int_type(CXType t, uint8_t *type);
bool gs_append_is_wide(CXType t);

/* The place behind a parameter of the function around to which a pointer points; by way of variables that keep what
 * they begin with, and of members. */
struct gs_append_from gs_append_param(struct gs_append_search *s, CXCursor e);

/* The parameter of the function around, an integer, which nothing changes, that a number is; or null. */
CXCursor gs_append_steady_number(struct gs_append_search *s, CXCursor e);

/* Without parentheses and conversions that keep what is below 2^31. */
CXCursor gs_append_number_inside(CXCursor e);

/* How many bytes behind its record's begin a member lies; false: it is none, or one of bits. */
bool gs_append_member(CXCursor e, uint64_t *offset);

/* flow_append_site.c: adds the atomics of s->func, whose body is given, that do nothing but take numbers for lists. */
void gs_append_sites(struct gs_append_search *s, CXCursor body);

#endif
