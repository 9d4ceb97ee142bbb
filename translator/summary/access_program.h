/* SPDX-License-Identifier: MIT */
/* The contents of an access program: a graph of integer expressions; contexts (guards and loops) under which code runs;
 * and loads, stores and atomics on buffers. docs/access.md explains its meaning, and why it is sound. */
#ifndef GS_TRANSLATOR_SUMMARY_ACCESS_PROGRAM_H
#define GS_TRANSLATOR_SUMMARY_ACCESS_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "translator/summary/summary.h"

/* An integer type of OpenCL C: the width is 8 << (type >> 1) bits, odd ones are unsigned. */
enum gs_int_type { GS_I8, GS_U8, GS_I16, GS_U16, GS_I32, GS_U32, GS_I64, GS_U64, GS_N_INT_TYPES };

static inline unsigned gs_int_bits(uint8_t type)
{
    return 8u << (type >> 1);
}

static inline bool gs_int_signed(uint8_t type)
{
    return (type & 1) == 0;
}

/* Each node has the value that the C expression has in the type of the node, wrapped as two's complement where it
 * overflows. Operands stand before their users in the program. */
enum gs_node_op {
    GS_N_CONST,     /* imm */
    GS_N_GLOBAL_ID, /* dim; offset of the launch included */
    GS_N_GROUP_ID,
    GS_N_LOCAL_ID,
    GS_N_GLOBAL_SIZE,
    GS_N_LOCAL_SIZE,          /* smaller in the last group where the launch doesn't divide evenly */
    GS_N_ENQUEUED_LOCAL_SIZE, /* the same in all groups */
    GS_N_NUM_GROUPS,
    GS_N_GLOBAL_OFFSET,
    GS_N_WORK_DIM,
    GS_N_ARG,     /* the `type` at byte `imm` of the by-value argument a */
    GS_N_OPAQUE,  /* any value of the type: loaded from memory, computed in floating point, … */
    GS_N_IV,      /* in loop c: a + b * (number of finished iterations) */
    GS_N_IV_EXIT, /* GS_N_IV after the loop; dim: enum gs_loop_end */
    GS_N_LOAD,    /* any value of the type, which argument c, a buffer, has at byte a */
    GS_N_ADD,     /* a, b: operands of the node's own width, from here to GS_N_NOT */
    GS_N_SUB,
    GS_N_MUL,
    GS_N_MUL24, /* undefined where an operand has more than 24 bits */
    GS_N_DIV,
    GS_N_REM,
    GS_N_SHL, /* b may be of any type */
    GS_N_SHR,
    GS_N_AND,
    GS_N_OR,
    GS_N_XOR,
    GS_N_MIN,
    GS_N_MAX,
    GS_N_NOT,    /* ~a */
    GS_N_CAST,   /* a, of any type */
    GS_N_SELECT, /* a != 0 ? b : c; b and c of the node's own width */
    GS_N_EQ,     /* 0 or 1; a and b of one type, from here to GS_N_LE */
    GS_N_LT,
    GS_N_LE,
    GS_N_LAND,
    GS_N_LOR,
    GS_N_LNOT,
    GS_N_OPS
};

/* How a loop ends, as far as an induction variable's value behind it is concerned. */
enum gs_loop_end {
    GS_EXIT_PLAIN,   /* by its condition alone */
    GS_EXIT_STEPPED, /* the condition may have changed the variable once more */
    GS_EXIT_EARLY    /* perhaps by a break */
};

#define GS_NO_NODE UINT32_MAX

struct gs_node {
    uint8_t op, type, dim;
    uint32_t a, b, c;
    int64_t imm;
    uint32_t partner; /* of a GS_N_REM: the GS_N_DIV of the same operands, and the other way round; or GS_NO_NODE */
};

/* How many of a, b and c refer to nodes. */
static inline unsigned gs_node_operands(uint8_t op)
{
    switch (op) {
    case GS_N_IV:
    case GS_N_IV_EXIT:
        return 2;
    case GS_N_SELECT:
        return 3;
    case GS_N_LOAD:
    case GS_N_NOT:
    case GS_N_CAST:
    case GS_N_LNOT:
        return 1;
    default:
        return op >= GS_N_ADD ? 2 : 0;
    }
}

/* How a loop's condition bounds its induction variable: the body runs on while `init + step * k CMP limit`. */
enum gs_loop_cmp { GS_LOOP_UNBOUNDED, GS_LOOP_LT, GS_LOOP_LE, GS_LOOP_GT, GS_LOOP_GE, GS_LOOP_NE, GS_N_LOOP_CMPS };

struct gs_loop {
    uint8_t cmp;
    uint8_t type;               /* of the induction variable */
    uint8_t cmp_type;           /* the type of the comparison */
    bool tested_after;          /* do … while: the first iteration runs in any case */
    uint32_t init, step, limit; /* nodes; without meaning where unbounded */
    uint32_t condition;         /* node: the whole condition, of which the bound may be a part; GS_NO_NODE: none */
};

/* A context holds where its parent does and, besides, … */
enum gs_scope_kind {
    GS_C_ROOT,  /* (the kernel's body; has no parent) */
    GS_C_GUARD, /* … node `what` is not 0 (`truth`) or is 0 */
    GS_C_LOOP, /* … inside an iteration of loop `what`; with !truth, in a test before an iteration or after the last */
    GS_C_MAYBE, /* … an unknown condition: the code may run or not */
    GS_N_C
};

struct gs_scope {
    uint8_t kind;
    bool truth;
    uint32_t parent; /* below the context's own index */
    uint32_t what;
};

enum gs_access_kind { GS_A_READ, GS_A_WRITE, GS_A_ATOMIC, GS_N_A };

struct gs_access {
    uint8_t kind;
    bool whole;       /* if it runs, it surely changes every byte of [offset, offset + bytes): no padding */
    uint32_t context; /* ascending in the program */
    uint32_t arg;
    uint32_t offset; /* node: from the begin of the buffer, in bytes; GS_NO_NODE: unknown */
    uint32_t bytes;
    uint32_t line; /* in the source, for `explain`; 0: none */
};

/* A kernel's accesses, with the contexts and nodes that they need. */
struct gs_access_program {
    uint32_t n_args, n_nodes, n_loops, n_contexts, n_accesses;
    const struct gs_node *nodes;
    const struct gs_loop *loops;
    const struct gs_scope *contexts; /* the first is the root */
    const struct gs_access *accesses;
};

enum {
    GS_MAX_NESTING = 400,
    GS_MAX_NODES = 1 << 16,
    GS_MAX_LOOPS = 4096,
    GS_MAX_CONTEXTS = 1 << 15,
    GS_MAX_ACCESSES = 1 << 14
};

#endif
