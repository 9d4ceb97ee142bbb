/* SPDX-License-Identifier: MIT */
/* How much goes into a unit, by how long such commands took before: short ones share one, and where chunks turn out to
 * be short they become larger. A unit is to be short, so that nobody waits long for it, and not so short that asking
 * for it, and hearing of its end, takes longer than it does: 36 us for a launch of its own (an H200). docs/daemon.md,
 * "How long a unit lasts", has the bound that follows. */
#ifndef GS_SHIM_SCHEDULE_BATCH_H
#define GS_SHIM_SCHEDULE_BATCH_H

#include <stdbool.h>
#include <stdint.h>

enum { GS_BATCH_KINDS = 12 };

/* A unit of short commands isn't to be longer than the first; where the next unit would have to wait for others of the
 * same application alone, than the second. */
enum { GS_BATCH_NS = 200 * 1000, GS_BATCH_ALONE_NS = 600 * 1000 };

/* Nor, where no other application is connected, such a unit, or a launch that goes whole, than this. */
enum { GS_BATCH_SOLE_NS = 5 * 1000 * 1000 };

/* The commands of one unit. All zeros: none yet. */
struct gs_batch {
    unsigned n, kinds;
    uint64_t expected_ns;                              /* that they take; 0: unknown */
    uint64_t kind[GS_BATCH_KINDS], ns[GS_BATCH_KINDS]; /* ... and what was expected of each when its first came */
    unsigned factor[GS_BATCH_KINDS];                   /* by which each would have been cut when its first came */
};

/* Adds a command of that kind (a hash; 0: of none, it stays alone). False: it isn't to be in this unit, which would
 * take longer than most_ns. The first always is. *full: another of that kind isn't to be any more. */
bool gs_batch_add(struct gs_batch *b, uint64_t kind, uint64_t most_ns, bool *full);

/* What is expected of each launch of that kind by now; 0: it isn't known. */
uint64_t gs_kind_expects(uint64_t kind);

/* A launch of that kind has taken so long, without a unit: no less is expected of the next ones. */
void gs_kind_took(uint64_t kind, uint64_t ns);

/* The unit took so long: what is expected of its kinds from now on. */
void gs_batch_learn(const struct gs_batch *b, uint64_t took_ns);

/* The same as far as it is known: its end was heard took_ns after that of the unit before, or after its own grant if
 * that came later, which was since_grant_ns ago. `waited`: it had not ended yet when somebody looked first. */
void gs_batch_heard(const struct gs_batch *b, uint64_t took_ns, uint64_t since_grant_ns, bool waited);

/* So many times the configured work-groups are a chunk of a launch of that kind: 1, 2, 4, ... */
unsigned gs_chunk_factor(uint64_t kind);

/* Have units of that kind, each a part of a launch of so many parts, taken so short that all of it might be one unit
 * with others of its kind? */
bool gs_parts_are_short(uint64_t kind, unsigned parts);

/* A launch in several chunks by that factor took so long. */
void gs_chunk_learn(uint64_t kind, unsigned factor, unsigned chunks, uint64_t took_ns);

/* In several chunks so many work-groups of a launch of that kind took so long. */
void gs_whole_learn(uint64_t kind, uint64_t groups, uint64_t took_ns);

/* Have so many, or more, last taken no longer than a unit may be where nobody else waits, or is there? Then they may be
 * one. */
bool gs_whole_is_short(uint64_t kind, uint64_t groups, bool sole);

/* Have they, in so many chunks, of which none is longer than that then? */
bool gs_chunks_are_short(uint64_t kind, uint64_t groups, unsigned chunks);

#endif
