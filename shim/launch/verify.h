/* SPDX-License-Identifier: MIT */
/* --verify: a split launch is run on one device too, and the bytes are compared. Blocks, and takes the memory of what
 * the launch writes three times over on the host. With the context's lock held. */
#ifndef GS_SHIM_LAUNCH_VERIFY_H
#define GS_SHIM_LAUNCH_VERIFY_H

#include "shim/order/command.h"
#include "shim/plan/plan.h"

/* The bytes of every root that a launch writes, at one moment. */
struct gs_snapshot {
    unsigned char **bytes; /* by use; NULL where the use only reads */
    uint64_t *size;
    size_t n;
};

/* Whether the host may read and write all that the launch writes. */
bool gs_verify_possible(const struct gs_plan *plan);

cl_int gs_snapshot_take(struct gs_command *cmd, const struct gs_plan *plan, struct gs_snapshot *s);
/* Makes home hold the snapshot's bytes. */
cl_int gs_snapshot_restore(struct gs_command *cmd, const struct gs_plan *plan, const struct gs_snapshot *s);
void gs_snapshot_free(struct gs_snapshot *s);

/* Is there a byte in which the split differs from one device's run, and one device's runs don't differ among
 * themselves? `again` is NULL as long as there was one of these. */
bool gs_verify_differs(const struct gs_snapshot *single, const struct gs_snapshot *again,
                       const struct gs_snapshot *split);
/* `again` keeps, of each byte, what was something else than in the first run on one device in some later one. */
void gs_verify_join(struct gs_snapshot *again, const struct gs_snapshot *single, const struct gs_snapshot *earlier);

/* Says on stderr what differs between one device's bytes and the split's, what changed outside of the declared ranges,
 * and what isn't the split's fault, since one device's runs differ in it: `again`, or NULL. names[u] is the argument of
 * use u. True: nothing but that. */
bool gs_verify_compare(const char *kernel, const struct gs_plan *plan, const char *const *names,
                       const struct gs_snapshot *before, const struct gs_snapshot *single,
                       const struct gs_snapshot *again, const struct gs_snapshot *split);

/* Says on stderr where a buffer doesn't hold what the plan was told that it does (shim/launch/contents.h). True:
 * nowhere. */
bool gs_verify_contents(struct gs_command *cmd, const char *kernel, const struct gs_plan *plan,
                        const char *const *names);

#endif
