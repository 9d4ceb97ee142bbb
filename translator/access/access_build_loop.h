/* SPDX-License-Identifier: MIT */
/* A loop as the analysis sees it: its parts, and the variables that it changes. */
#ifndef GS_TRANSLATOR_ACCESS_ACCESS_BUILD_LOOP_H
#define GS_TRANSLATOR_ACCESS_ACCESS_BUILD_LOOP_H

#include "translator/access/access_build_state.h"

enum { GS_MAX_CHANGED = 256 };

/* A variable that the loop changes. */
struct gs_changed {
    CXCursor decl;
    uint32_t times; /* places that change it */
    bool steady;    /* its one change is x += e, once in every iteration */
    bool down;
    CXCursor by; /* e; null: 1 */
    uint32_t object;
    struct gs_value before; /* a pointer's value, or an int's, at the loop's begin */
    struct gs_type type;
    uint32_t step; /* node, of an induction variable; else GS_NO_NODE */
    bool in_condition;
};

struct gs_loop_code {
    struct gs_builder *b;
    CXCursor init, condition, increment, body; /* null where there is none */
    bool tested_after;
    struct gs_changed changed[GS_MAX_CHANGED];
    uint32_t n_changed;
    bool has_break, has_return, has_continue, overflow;
    bool stores_through_pointers; /* or hands them to functions */
    bool picks;                   /* integers of an array of the work-item's own, by an index that isn't constant */
    uint32_t depth, inner;        /* of the scan: recursion, and how many conditions or loops lie around */
    uint32_t inner_loops, inner_switches;
    bool steady_place;    /* the scan is where every iteration comes by */
    CXCursor subscripted; /* the base of the subscript just scanned */
};

/* access_build_scan.c. Finds the loop's parts; false for a form that isn't known. */
bool gs_loop_take_apart(struct gs_loop_code *l, CXCursor c);

/* Adds what a part of the loop changes. `steady`: every iteration comes by there. */
void gs_loop_scan(struct gs_loop_code *l, CXCursor c, bool steady);

/* Does the expression have the same value in every iteration? `depth`: 0. */
bool gs_loop_keeps(struct gs_loop_code *l, CXCursor c, unsigned depth);

#endif
