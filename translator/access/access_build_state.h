/* SPDX-License-Identifier: MIT */
/* The analysis behind access_build.h: a kernel is run once, symbolically, over clang's tree. This header is shared by
 * its parts: nodes, the state of private variables, expressions, calls and statements. docs/access.md tells the idea.
 */
#ifndef GS_TRANSLATOR_ACCESS_ACCESS_BUILD_STATE_H
#define GS_TRANSLATOR_ACCESS_ACCESS_BUILD_STATE_H

#include "translator/access/access_build.h"
#include "translator/summary/access_program.h"
#include "translator/summary/arena.h"

/* ---- types ---- */

enum gs_type_class { GS_T_VOID, GS_T_INT, GS_T_FLOAT, GS_T_VECTOR, GS_T_POINTER, GS_T_RECORD, GS_T_ARRAY, GS_T_OTHER };

/* What matters of a C type. */
struct gs_type {
    enum gs_type_class class;
    uint8_t int_type;      /* of an int, or of a vector's components if they are ints */
    bool is_bool, of_ints; /* of_ints: a vector whose components are ints */
    bool partly;           /* a store changes components of it only, as far as is known */
    uint32_t size, count;  /* in bytes; components of a vector, elements of an array */
    uint32_t component;    /* bytes of a vector's component */
    CXType clang;          /* canonical */
};

/* access_build_type.c */
struct gs_type gs_type_of(CXType t);
struct gs_type gs_type_of_cursor(CXCursor c);
/* Is it a pointer (or a parameter written as an array, which clang calls an array)? And types computed from
 * pointers. */
bool gs_type_is_address(const struct gs_type *t);
struct gs_type gs_type_pointee(const struct gs_type *pointer);
/* Does a store of this type surely change all of its bytes? Only what is known to have no padding. */
bool gs_type_is_whole(const struct gs_type *t);

/* ---- values ---- */

enum gs_base {
    GS_B_UNKNOWN,
    GS_B_ARG,    /* the buffer behind pointer argument `index` */
    GS_B_OBJECT, /* the private variable `index` */
    GS_B_LOCAL,  /* local memory, of no interest */
    GS_B_FIXED,  /* constants of the program, strings, the null pointer */
    GS_B_IMAGE   /* the image argument `index` */
};

struct gs_place {
    enum gs_base base;
    uint32_t index;
    uint32_t offset; /* node of type GS_I64, in bytes */
};

enum gs_value_kind {
    GS_V_ANY,     /* nothing is known, and no pointer is in it */
    GS_V_INT,     /* node */
    GS_V_VECTOR,  /* of ints: parts[0 .. n) are nodes */
    GS_V_POINTER, /* place; or, where `otherwise` is set and `node` is 0, *otherwise */
    GS_V_RECORD   /* a struct whose bytes lie at `place` */
};

struct gs_value {
    enum gs_value_kind kind;
    uint32_t node;
    struct gs_place place;
    const struct gs_value *otherwise;
    uint32_t n;
    uint32_t parts[16];
};

/* A known value at [offset, offset + bytes) of a private variable. */
struct gs_cell {
    uint32_t object, offset, bytes, next; /* next of the same object + 1, or 0 */
    uint32_t stamp, slot;                 /* of the search in progress */
    bool valid;
    struct gs_value value;
};

struct gs_private {
    uint32_t bytes;
    uint32_t first; /* cell + 1, or 0 */
    int32_t arg;    /* the by-value argument that its unwritten bytes hold, or -1 */
    bool exposed;   /* a pointer to it has been made */
    bool pinned;    /* inside a loop: a pointer kept in it must stay with `pin` */
    struct gs_place pin;
};

struct gs_variable {
    CXCursor decl;
    unsigned hash;
    struct gs_place place;
};

struct gs_saved_cell {
    uint32_t cell;
    bool valid;
    struct gs_value value;
};

/* The cells that a branch has changed, with their values at its end. In the builder's arena. */
struct gs_snapshot {
    struct gs_saved_cell *v;
    uint32_t n;
};

/* Where control leaves a function, a switch: with which state. */
struct gs_exit {
    uint32_t condition; /* node: holds where this exit is taken and none before it */
    struct gs_snapshot state;
    struct gs_value value;
};

struct gs_exits {
    struct gs_exit *v;
    uint32_t n, cap;
};

/* A function call being run. */
struct gs_frame {
    struct gs_frame *caller;
    CXCursor function;
    uint32_t unit;
    uint32_t variables; /* the first that belongs to it */
    uint32_t context, mark;
    bool want_result;
    struct gs_exits exits;
};

/* What `break` and `continue` leave. */
struct gs_target {
    struct gs_target *outer;
    bool is_switch;
    uint32_t context, mark;
    struct gs_exits exits; /* of a switch */
};

struct gs_origin {
    const char *why;
    struct gs_site site;
};

struct gs_builder {
    const struct gs_tree *tree;
    struct gs_arena arena; /* until the end of the analysis */
    struct gs_arg_summary *args;
    uint32_t n_args;
    const char *failed; /* nothing can be said, and why */
    struct gs_site failed_site;
    uint32_t steps;
    uint32_t one_by_one; /* iterations of loops that ran so */

    struct gs_node *nodes;
    struct gs_origin *origins; /* of GS_N_OPAQUE and GS_N_LOAD nodes */
    uint8_t *node_depth;
    uint32_t n_nodes, nodes_cap;
    uint32_t *buckets; /* hash table of nodes, index + 1 */
    struct gs_loop *loops;
    uint32_t n_loops, loops_cap;
    struct gs_scope *contexts;
    uint32_t *nesting;
    uint32_t n_contexts, contexts_cap;
    struct gs_access *accesses;
    struct gs_site *access_sites;
    uint32_t n_accesses, accesses_cap;
    bool *atomics; /* per argument */
    bool *escapes; /* per argument */
    bool lost;     /* a pointer could not be followed */

    struct gs_private *objects;
    uint32_t n_objects, objects_cap;
    struct gs_cell *cells;
    uint32_t n_cells, cells_cap;
    struct gs_saved_cell *trail;
    uint32_t n_trail, trail_cap, stamp;
    struct gs_variable *variables;
    uint32_t n_variables, variables_cap;

    uint32_t *mentioned, *looked, search, access_search; /* marks of the searches at the end, per node */

    struct gs_frame *frame;
    struct gs_target *target;
    uint32_t context;
    bool dead; /* no control comes here */
    uint32_t call_depth;
};

enum { GS_NODE_BUCKETS = 1 << 12 };

/* Children of a cursor; in the builder's arena. */
struct gs_kids {
    CXCursor *v;
    uint32_t n;
};

/* access_build.c */
void gs_give_up(struct gs_builder *b, CXCursor at, const char *why);
bool gs_step(struct gs_builder *b, CXCursor at); /* false once the analysis has failed or taken too long */
struct gs_kids gs_kids(struct gs_builder *b, CXCursor c);
void *gs_grow(struct gs_builder *b, void *old, uint32_t n, uint32_t *cap, size_t size); /* room for one more */
void gs_record(struct gs_builder *b, enum gs_access_kind kind, const struct gs_place *p, uint32_t bytes, bool whole,
               CXCursor at);
void gs_escape(struct gs_builder *b, const struct gs_value *v);
void gs_lost_pointer(struct gs_builder *b, CXCursor at);
struct gs_site gs_site_of(struct gs_builder *b, CXCursor at);

/* access_build_node.c. Nodes that are equal are one. */
uint32_t gs_node_const(struct gs_builder *b, uint8_t type, int64_t v);
uint32_t gs_node(struct gs_builder *b, uint8_t op, uint8_t type, uint32_t x, uint32_t y, uint32_t z);
uint32_t gs_node_geometry(struct gs_builder *b, uint8_t op, uint8_t type, unsigned dim);
uint32_t gs_node_arg(struct gs_builder *b, uint8_t type, uint32_t arg, uint32_t offset);
uint32_t gs_node_iv(struct gs_builder *b, uint8_t op, uint8_t type, uint32_t init, uint32_t step, uint32_t loop);
uint32_t gs_node_opaque(struct gs_builder *b, uint8_t type, CXCursor at, const char *why);
uint32_t gs_node_load(struct gs_builder *b, uint8_t type, uint32_t arg, uint32_t offset, CXCursor at);
/* What the buffer behind an argument holds at a byte: GS_N_OPAQUE in the end, if the kernel writes there. */
uint32_t gs_node_cast(struct gs_builder *b, uint8_t type, uint32_t x);
uint32_t gs_node_not(struct gs_builder *b, uint32_t x); /* logical */
bool gs_node_is_const(const struct gs_builder *b, uint32_t node, int64_t *v);
uint32_t gs_scope_push(struct gs_builder *b, enum gs_scope_kind kind, uint32_t what, bool truth);
uint32_t gs_path_condition(struct gs_builder *b, uint32_t from, uint32_t to, CXCursor at); /* from to its ancestor */

/* access_build_var.c */
uint32_t gs_private_new(struct gs_builder *b, uint32_t bytes);
void gs_variable_add(struct gs_builder *b, CXCursor decl, struct gs_place place);
const struct gs_variable *gs_variable_find(struct gs_builder *b, CXCursor decl);
struct gs_place gs_private_place(struct gs_builder *b, uint32_t object);
void gs_private_init(struct gs_builder *b, uint32_t object, const struct gs_type *t, const struct gs_value *v,
                     CXCursor at);
void gs_private_forget(struct gs_builder *b, uint32_t object);
void gs_forget_exposed(struct gs_builder *b);
struct gs_value gs_load(struct gs_builder *b, const struct gs_value *pointer, const struct gs_type *t, CXCursor at);
void gs_store(struct gs_builder *b, const struct gs_value *pointer, const struct gs_type *t, const struct gs_value *v,
              CXCursor at);
struct gs_snapshot gs_snapshot(struct gs_builder *b, uint32_t mark);
void gs_rollback(struct gs_builder *b, uint32_t mark);
void gs_apply(struct gs_builder *b, const struct gs_snapshot *s);
struct gs_value gs_join(struct gs_builder *b, uint32_t condition, const struct gs_value *yes,
                        const struct gs_value *no);
void gs_apply_joined(struct gs_builder *b, uint32_t condition, const struct gs_snapshot *yes,
                     const struct gs_snapshot *no);
void gs_exit_add(struct gs_builder *b, struct gs_exits *e, uint32_t condition, uint32_t mark,
                 const struct gs_value *value);
struct gs_value gs_exits_join(struct gs_builder *b, struct gs_exits *e); /* leaves their joined state */
struct gs_value gs_any(void);
struct gs_value gs_int(uint32_t node);
struct gs_value gs_pointer(struct gs_place p);
struct gs_value gs_opaque_value(struct gs_builder *b, const struct gs_type *t, CXCursor at, const char *why);

/* access_build_expr.c */
struct gs_value gs_eval(struct gs_builder *b, CXCursor c, bool want_result);
struct gs_value gs_convert(struct gs_builder *b, const struct gs_value *v, const struct gs_type *from,
                           const struct gs_type *to, CXCursor at);
uint32_t gs_truth(struct gs_builder *b, const struct gs_value *v, CXCursor at);
struct gs_value gs_move(struct gs_builder *b, const struct gs_value *pointer, uint32_t by); /* bytes, GS_I64 */
struct gs_value gs_binary(struct gs_builder *b, enum CXBinaryOperatorKind op, const struct gs_type *t,
                          const struct gs_value *x, const struct gs_value *y, CXCursor at);

/* access_build_call.c */
struct gs_value gs_call(struct gs_builder *b, CXCursor c, bool want_result);

/* access_build_stmt.c */
void gs_exec(struct gs_builder *b, CXCursor c);
void gs_declare(struct gs_builder *b, CXCursor decl);

/* access_build_loop.c */
void gs_exec_loop(struct gs_builder *b, CXCursor c);

#endif
