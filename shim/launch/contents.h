/* SPDX-License-Identifier: MIT */
/* What buffers hold, in so far as it bounds the bytes that a launch reads and writes (an index loaded from a buffer, a
 * loop that runs from first[i] to first[i + 1]): tables of the least and the largest of each block of a buffer's words.
 * A table is good for as long as nothing writes the buffer. With the context's lock held. docs/access.md says why what
 * is seen is what the kernel will see. */
#ifndef GS_SHIM_LAUNCH_CONTENTS_H
#define GS_SHIM_LAUNCH_CONTENTS_H

#include "shim/order/command.h"
#include "shim/plan/plan.h"

/* The words of one type in part of a root, block by block. */
struct gs_table_piece {
    uint64_t begin, n, block; /* first word, in bytes of the root; words in all, and in a block */
    void *raw;                /* the least and the largest of each block, as the type has them; owned */
};

struct gs_table {
    uint64_t id;              /* no two are the same */
    uint64_t written;         /* the root's, when it was made */
    uint32_t step;            /* bytes from a word to the next */
    uint8_t type;             /* an enum gs_int_type */
    unsigned n;               /* pieces; between them nobody has written, or no one place holds all of a word */
    struct gs_table_piece *v; /* in ascending order; owned */
    struct gs_table *next;
};

/* For gs_plan_input. */
extern const struct gs_known gs_contents_known;

/* What was looked at for a plan, and how many bytes it was about. */
struct gs_looked {
    unsigned n;
    struct gs_want want[GS_MAX_WANTS];
    uint64_t stake[GS_MAX_WANTS], took_ns[GS_MAX_WANTS];
};

/* Finds out what a plan would like to know, where that may save more than it costs. True: something is known now that
 * wasn't, and the launch should be planned again. Waits, for a short time, until what was enqueued before has ended,
 * and for a kernel of its own: never for what the application has still to do. place[p] is where part p runs. */
bool gs_contents_look(struct gs_command *cmd, const struct gs_plan *plan, struct gs_mem *const *mems,
                      const unsigned *place, struct gs_looked *looked);

/* Was it worth it? Told of the plan that came of it, it looks less often at what is of no use. */
void gs_contents_judge(const struct gs_looked *looked, const struct gs_plan *plan, struct gs_mem *const *mems,
                       const unsigned *place);

/* Does `bytes`, all that the root holds, lie within its tables? --verify asks. If not, *at is a byte that doesn't. */
bool gs_contents_right(const struct gs_mem *root, const unsigned char *bytes, uint64_t *at);

/* contents_kernel.c: tables are made by a kernel on the device that holds the words. */

/* A table of the words in m's window that have the type, the step and, but for whole steps, the begin of `words`, as
 * they are once all that has been enqueued so far has ended. The caller's. NULL where that hasn't ended within
 * `patience_ns`, or a device refuses. */
struct gs_table *gs_table_make(struct gs_command *cmd, const struct gs_mem *m, const struct gs_words *words,
                               uint64_t patience_ns);
void gs_table_free(struct gs_table *t);

void gs_contents_forget(struct gs_mem *root);
void gs_contents_free(struct gs_context *ctx);

#endif
