/* SPDX-License-Identifier: MIT */
/* Where pointers go and how memory is accessed through them: one walk over each function's body, ignoring the order of
 * statements; then for each kernel a walk along each argument's flow. Over-approximates: an argument without an access
 * of a kind surely has none. Inside gpusparc-translate only.
 *
 * Each variable is a node, which stands for every pointer that the variable or its members may hold. An edge says that
 * pointers held by one node may be held by another. A pointer to private or local memory is one node with the memory it
 * points to, so that whoever loads a pointer stored there sees it. */
#ifndef GS_TRANSLATOR_FLOW_FLOW_H
#define GS_TRANSLATOR_FLOW_FLOW_H

#include "translator/parsing/program.h"

enum gs_access_what { GS_FLOW_READ, GS_FLOW_WRITE, GS_FLOW_ATOMIC, GS_FLOW_ESCAPE };

/* Where an expression's value goes: the node of a variable or of a function's result, or one of these. */
#define GS_UNUSED 0u
#define GS_USED UINT32_MAX

struct gs_flow_access {
    uint32_t func, node;
    uint32_t result; /* where the value that is read, or an atomic's result, goes to */
    enum gs_access_what what;
    enum gs_atomic_op op; /* of an atomic; GS_ATOMIC_OTHER: not reducible */
    enum gs_atomic_type type;
    bool is_volatile;
    CXCursor where;
};

struct gs_flow_edge {
    uint32_t from, to;
};

/* In `func`, the value of a node goes to another, or is used. */
struct gs_flow_use {
    uint32_t from, to, func;
};

/* In `func`, what a built-in function says of the work-group goes to `to`. */
struct gs_flow_group {
    uint32_t func, to;
};

/* A variable of the program that lasts from launch to launch, used in `func` at `where`. */
struct gs_flow_lasting {
    uint32_t func, node;
    bool foreign; /* other units may write it */
    CXCursor where;
};

/* What one function's body does by itself. */
struct gs_flow_func {
    bool hidden;         /* names a built-in function whose value a split changes */
    bool uses_group;     /* depends on the size of its work-group, but for what is in gs_flow.groups */
    const char *refusal; /* why no kernel that calls it may be split, or NULL */
    CXCursor refusal_at;
    bool lost;       /* buffers may be read and written through pointers that aren't followed */
    bool waits;      /* `refusal` says that it waits for other work-groups */
    bool spins;      /* a loop of it may go on until atomics have other results: flow_spin.h */
    uint32_t *calls; /* indices of functions; with repetitions */
    uint32_t n_calls, cap_calls;
    uint32_t returned; /* node of its result */
    bool walked;
};

/* A walk over nodes: the nodes that it has come to. */
struct gs_flow_walk {
    uint32_t *seen; /* per node: the last walk that came by */
    uint32_t *queue;
    uint32_t n, number;
};

struct gs_flow {
    struct gs_program *program;
    struct gs_arena *arena;
    struct gs_flow_func *funcs; /* as many as the program has */
    struct gs_flow_access *accesses;
    uint32_t n_accesses, cap_accesses;
    struct gs_flow_edge *edges;
    uint32_t n_edges, cap_edges;
    struct gs_flow_use *uses;
    uint32_t n_uses, cap_uses;
    struct gs_flow_group *groups;
    uint32_t n_groups, cap_groups;
    struct gs_flow_lasting *lasting;
    uint32_t n_lasting, cap_lasting;
    bool kept_pointers; /* a variable of the program holds pointers, and nobody follows where they lead */
    uint32_t n_nodes;   /* node 0 holds nothing */
    struct gs_flow_var *vars;
    uint32_t n_vars, cap_vars;
    uint32_t *slots; /* hash table over cursors: index + 1 into vars */
    uint32_t n_slots;
    /* Rows over nodes, made once all is walked: edges and uses by their origin, accesses by their node. */
    uint32_t *edge_row, *edge_at, *use_row, *use_at, *access_row, *access_at;
    struct gs_flow_walk walks[2]; /* over edges, and over uses */
};

/* Is it a built-in function whose value a split changes? */
bool gs_flow_is_hidden(const char *name);

/* Walks all functions of a parsed program. */
void gs_flow_build(struct gs_flow *f, struct gs_program *p);

/* The arguments and flags of a kernel, all but its access program. `hidden` is left alone. */
void gs_flow_kernel(struct gs_flow *f, uint32_t func, struct gs_kernel_summary *k);

/* Does what goes to a node have any effect in the functions that are `in`? */
bool gs_flow_is_used(struct gs_flow *f, uint32_t node, const bool *in);

/* The node of a variable or parameter. */
uint32_t gs_flow_node(struct gs_flow *f, CXCursor var);

#endif
