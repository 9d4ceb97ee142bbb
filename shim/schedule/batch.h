/* SPDX-License-Identifier: MIT */
/* How much goes into a unit, by how long such commands took before: short ones share one, and where chunks turn out to
 * be short they become larger. A unit is to be short, so that nobody waits long for it, and not so short that asking
 * for it, and hearing of its end, takes longer than it does: 36 us for a launch of its own (an H200). docs/daemon.md,
 * "How long a unit lasts", has the bound that follows. */
#ifndef GS_SHIM_SCHEDULE_BATCH_H
#define GS_SHIM_SCHEDULE_BATCH_H

#include "shim/record/size.h"

enum { GS_BATCH_SIZES = 12 };

/* A unit of short commands isn't to be longer than the first; where the next unit would have to wait for others of the
 * same application alone, than the second. */
enum { GS_BATCH_NS = 200 * 1000, GS_BATCH_ALONE_NS = 600 * 1000 };

/* Nor, where no other application is connected, such a unit, or a launch that goes whole, than this. */
enum { GS_BATCH_SOLE_NS = 5 * 1000 * 1000 };

/* The commands of one unit. All zeros: none yet. */
struct gs_batch {
    unsigned n, sizes;
    uint64_t expected_ns; /* that they take; 0: unknown */
    struct gs_size *size[GS_BATCH_SIZES];
    uint64_t ns[GS_BATCH_SIZES];     /* what was expected of each of these when its first came */
    unsigned factor[GS_BATCH_SIZES]; /* by which each would have been cut when its first came */
};

/* Adds a launch of that size (NULL: another command, which stays alone). False: it isn't to be in this unit, which
 * would take longer than most_ns. The first always is. *full: another of that size isn't to be any more. */
bool gs_batch_add(struct gs_batch *b, struct gs_size *size, uint64_t most_ns, bool *full);

/* The unit took so long: what is expected of its sizes from now on. */
void gs_batch_learn(const struct gs_batch *b, uint64_t took_ns);

/* The same as far as it is known: its end was heard took_ns after that of the unit before, or after its own grant if
 * that came later, which was since_grant_ns ago. `waited`: it had not ended yet when somebody looked first. */
void gs_batch_complete(const struct gs_batch *b, uint64_t took_ns, uint64_t since_grant_ns, bool waited);

/* So many times the configured work-groups are a chunk of a launch of that size: 1, 2, 4, ... */
unsigned gs_chunk_factor(struct gs_size *size);

/* Have units of that size, each one of so many parts, been so short that a whole launch might share a unit? */
bool gs_parts_are_short(struct gs_size *size, unsigned parts);

/* A launch of so many work-groups in several chunks by that factor took so long. */
void gs_chunk_learn(struct gs_size *size, unsigned factor, unsigned chunks, uint64_t groups, uint64_t took_ns);

/* Have so many, or more, last taken no longer than a unit may where nobody else waits, or is there? They may be one. */
bool gs_whole_is_short(struct gs_size *size, uint64_t groups, bool sole);

#endif
