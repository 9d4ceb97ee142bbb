/* SPDX-License-Identifier: MIT */
#include "shim/schedule/batch.h"

#include <pthread.h>
#include <stddef.h>

#include "common/lock/locked.h"
#include "common/lock/rank.h"

/* A unit isn't to have more commands, should one take longer than expected. */
enum { MOST = 256, LEAST_NS = 200, SETS = 256, WAYS = 4 };
/* Chunks shorter than that become larger, and larger ones smaller again. */
enum { SHORT_CHUNK_NS = 150 * 1000, LONG_CHUNK_NS = 600 * 1000, MOST_FACTOR = 1024 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* a leaf */
GS_RANKED(lock, GS_RANK_KNOWN_TIMES);
/* By kind: one of a set's few places. Who comes when all are taken gets that of the one that was asked for longest ago:
 * with one place for each hash two kinds of one application took it from each other again and again, and neither was
 * ever known. */
struct known {
    uint64_t kind, ns;               /* 0: unknown */
    uint64_t least_ns;               /* the least that it took where it was known to be it */
    unsigned factor;                 /* 0: 1 */
    uint64_t whole_groups, whole_ns; /* what so many work-groups took in chunks; 0: unknown */
    uint64_t asked;                  /* when, in the order of questions */
};
static struct known known[SETS][WAYS];
static uint64_t questions;

/* Its place, empty at first. With the lock held. */
static struct known *place_of(uint64_t kind)
{
    struct known *set = known[kind % SETS], *k = set;
    for (unsigned i = 0; i < WAYS && k->kind != kind; i++)
        if (set[i].kind == kind || set[i].asked < k->asked)
            k = &set[i];
    if (k->kind != kind)
        *k = (struct known){.kind = kind, .factor = 1};
    k->asked = ++questions;
    return k;
}

static uint64_t expected_of(uint64_t kind, unsigned *factor)
{
    GS_LOCKED(&lock);
    const struct known *k = place_of(kind);
    *factor = k->factor;
    return k->ns;
}

/* Where it is among them; b->kinds: it isn't. */
static unsigned index_of(const struct gs_batch *b, uint64_t kind)
{
    unsigned i = 0;
    while (i < b->kinds && b->kind[i] != kind)
        i++;
    return i;
}

static bool takes(const struct gs_batch *b, uint64_t kind, uint64_t ns, uint64_t most_ns)
{
    return !b->n || (ns && b->expected_ns && b->expected_ns + ns <= most_ns && b->n < MOST &&
                     (b->kinds < GS_BATCH_KINDS || index_of(b, kind) < b->kinds));
}

uint64_t gs_kind_expects(uint64_t kind)
{
    unsigned factor;
    return kind ? expected_of(kind, &factor) : 0;
}

bool gs_batch_add(struct gs_batch *b, uint64_t kind, uint64_t most_ns, bool *full)
{
    unsigned factor = 1;
    const unsigned i = index_of(b, kind);
    const bool another = i == b->kinds;
    /* In a unit that may be long by itself what was known at its begin will do. */
    const bool known_by_now = !another && most_ns >= GS_BATCH_SOLE_NS;
    const uint64_t ns = known_by_now ? b->ns[i] : kind ? expected_of(kind, &factor) : 0;
    if (!takes(b, kind, ns, most_ns))
        return false;
    if (another && kind) {
        b->factor[b->kinds] = factor;
        b->ns[b->kinds] = ns;
        b->kind[b->kinds++] = kind;
    }
    b->expected_ns += ns;
    b->n++;
    *full = !takes(b, kind, ns, most_ns);
    return true;
}

/* What came before its factor changed says nothing of the new one: a row of long ones would bring it down to 1. */
static void learn(uint64_t kind, unsigned factor, uint64_t ns)
{
    struct known *k = place_of(kind);
    k->ns = ns > k->least_ns ? ns : k->least_ns;
    if (k->whole_groups && k->ns > k->whole_ns)
        k->whole_ns = k->ns;
    if (k->ns > LONG_CHUNK_NS && factor > 1 && k->factor == factor) /* one that has become one chunk */
        k->factor /= 2;
}

/* What one of a kind took that has had a unit to itself, alone or with others of it. */
static void learn_least(uint64_t kind, uint64_t ns)
{
    struct known *k = place_of(kind);
    const uint64_t least = ns > LEAST_NS ? ns : LEAST_NS;
    if (!k->least_ns || least < k->least_ns)
        k->least_ns = least;
}

void gs_kind_took(uint64_t kind, uint64_t ns)
{
    GS_LOCKED(&lock);
    struct known *k = place_of(kind);
    if (ns > k->ns)
        k->ns = ns;
}

void gs_batch_learn(const struct gs_batch *b, uint64_t took_ns)
{
    pthread_mutex_lock(&lock);
    if (b->kinds == 1)
        learn_least(b->kind[0], took_ns / b->n);
    for (unsigned i = 0; i < b->kinds; i++) {
        const uint64_t ns = place_of(b->kind[i])->ns;
        if (!ns || !b->expected_ns) {
            learn(b->kind[i], b->factor[i], took_ns);
            continue;
        }
        /* All by the same factor: which of them it was isn't known. What turned out longer counts at once. What did not
         * counts down to the least that the kind has taken by itself: one that varies must not pull the others down.
         * The factor is of what was expected then: many units may be out by the same mistake. */
        const double factor = (double)took_ns / (double)b->expected_ns, seen = (double)b->ns[i] * factor;
        learn(b->kind[i], b->factor[i], (uint64_t)(factor > 1 ? seen : ((double)ns + seen) / 2));
    }
    pthread_mutex_unlock(&lock);
}

/* Of commands that had all ended when somebody looked, or that are new, no more is known than that they took no longer
 * than since the grant. Else it is known what they took since the unit before was heard to end; but if that was late
 * they seem short: they count as half of what was expected at least. (256 launches of 4 us shared a unit on an H200,
 * where the ends of two units were heard at once now and then.) */
void gs_batch_heard(const struct gs_batch *b, uint64_t took_ns, uint64_t since_grant_ns, bool waited)
{
    const uint64_t half_ns = b->expected_ns / 2;
    if (!b->expected_ns || (!waited && since_grant_ns < b->expected_ns))
        gs_batch_learn(b, since_grant_ns);
    else if (waited)
        gs_batch_learn(b, took_ns < since_grant_ns && took_ns < half_ns ? half_ns : took_ns);
}

unsigned gs_chunk_factor(uint64_t kind)
{
    GS_LOCKED(&lock);
    return kind ? place_of(kind)->factor : 1;
}

bool gs_parts_are_short(uint64_t kind, unsigned parts)
{
    GS_LOCKED(&lock);
    const uint64_t ns = place_of(kind)->ns;
    return ns && ns * parts <= GS_BATCH_NS;
}

void gs_whole_learn(uint64_t kind, uint64_t groups, uint64_t took_ns)
{
    GS_LOCKED(&lock);
    struct known *k = place_of(kind);
    k->whole_groups = groups;
    k->whole_ns = took_ns;
}

static bool takes_at_most(uint64_t kind, uint64_t groups, uint64_t ns)
{
    GS_LOCKED(&lock);
    const struct known *k = place_of(kind);
    return groups <= k->whole_groups && k->whole_ns <= ns;
}

bool gs_whole_is_short(uint64_t kind, uint64_t groups, bool sole)
{
    return takes_at_most(kind, groups, sole ? GS_BATCH_SOLE_NS : GS_BATCH_ALONE_NS);
}

bool gs_chunks_are_short(uint64_t kind, uint64_t groups, unsigned chunks)
{
    return takes_at_most(kind, groups, (uint64_t)chunks * GS_BATCH_ALONE_NS);
}

void gs_chunk_learn(uint64_t kind, unsigned factor, unsigned chunks, uint64_t took_ns)
{
    const uint64_t each = took_ns / chunks;
    pthread_mutex_lock(&lock);
    struct known *k = place_of(kind);
    unsigned next = factor;
    if (each > LONG_CHUNK_NS)
        next = factor > 1 ? factor / 2 : 1;
    /* What asking costs is in it too: the larger ones won't take longer than that many of these. */
    for (uint64_t ns = each; ns < SHORT_CHUNK_NS && next < MOST_FACTOR; ns = ns ? ns * 2 : 1)
        next *= 2;
    if (k->factor == factor) /* those that were cut before it changed say nothing */
        k->factor = next;
    pthread_mutex_unlock(&lock);
}
