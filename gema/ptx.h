/* SPDX-License-Identifier: MIT */
/* Reads the instructions of one kernel from PTX text (NVIDIA's PTX ISA), and walks one path through them. */
#ifndef GS_GEMA_PTX_H
#define GS_GEMA_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What executes an instruction. */
enum gs_ptx_class {
    GS_PTX_ARITHMETIC,
    GS_PTX_SPECIAL, /* sin, cos, ex2, lg2, tanh, rcp, rsqrt, sqrt, div, rem */
    GS_PTX_SHARED_LOAD,
    GS_PTX_SHARED_STORE,
    GS_PTX_GLOBAL_LOAD, /* also local memory, generic addresses, textures */
    GS_PTX_GLOBAL_STORE,
    GS_PTX_CONSTANT_LOAD, /* ld.param, ld.const */
    GS_PTX_ATOMIC,
    GS_PTX_BARRIER, /* of a whole work-group */
    GS_PTX_BRANCH,
    GS_PTX_RETURN,
    GS_PTX_CLASSES
};

enum { GS_PTX_OPCODE = 48, GS_PTX_NO_TARGET = -1 };

struct gs_ptx_instruction {
    unsigned line;
    enum gs_ptx_class class;
    char opcode[GS_PTX_OPCODE]; /* whole, as "ld.global.f32" */
    bool predicated;
    bool is_call;
    int64_t target;     /* of a branch: index of the instruction it leads to, may be n; else GS_PTX_NO_TARGET */
    uint32_t label;     /* of a branch: index in kernel.name, for messages */
    uint32_t registers; /* begin in kernel.operand: first those written, then those read */
    uint16_t n_written, n_read;
};

struct gs_ptx_kernel {
    char *entry;
    struct gs_ptx_instruction *v;
    size_t n;
    uint32_t *operand; /* indices into name */
    size_t n_operands;
    char **name; /* registers and labels */
    size_t n_names;
};

/* `kernel` null: the only one there is. 0, -EINVAL with a sentence in `why` ("line 12: ..."), or -ENOMEM.
 * The caller frees with gs_ptx_kernel_free(). */
int gs_ptx_parse(struct gs_ptx_kernel *k, const char *text, const char *kernel, char *why, size_t why_size);
void gs_ptx_kernel_free(struct gs_ptx_kernel *k);

/* The loop that a branch back to `label` closes has `times` turns each time it is entered, the one in which it is left
 * included. */
struct gs_ptx_loop {
    const char *label;
    uint64_t times; /* >= 1 */
};

/* One opcode, or its beginning up to a point, stands for `count` machine instructions. */
struct gs_ptx_expand {
    const char *opcode;
    unsigned count; /* >= 1 */
};

struct gs_ptx_walk_options {
    const char *path; /* 't' (taken) or 'n' for each predicated branch or return that is no loop's, in order; or null */
    const struct gs_ptx_loop *loop;
    size_t n_loops;
    const struct gs_ptx_expand *expand;
    size_t n_expand;
};

enum { GS_PTX_MAX_TRACE = 1 << 20 };

/* What is executed, in order, as indices of instructions. */
struct gs_ptx_trace {
    uint32_t *v;
    size_t n, room;
};

/* Walks from the first instruction to the kernel's end. 0, -EINVAL with a sentence in `why` where the path isn't told,
 * -ENOMEM. The caller frees trace->v. */
int gs_ptx_walk(const struct gs_ptx_kernel *k, const struct gs_ptx_walk_options *options, struct gs_ptx_trace *trace,
                char *why, size_t why_size);

/* The kernel instruction string of a trace for makespan.h: C for arithmetic, L for every access to memory, S for
 * special functions (C where `special` is false), a bar for a barrier. Null without memory; the caller frees. */
char *gs_ptx_instruction_string(const struct gs_ptx_kernel *k, const struct gs_ptx_trace *trace, bool special);

#endif
