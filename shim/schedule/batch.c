/* SPDX-License-Identifier: MIT */
/* See dispatch.h, section batch.c. */
#include "shim/schedule/dispatch.h"

#include "common/lock/locked.h"
#include "common/lock/rank.h"

/* At most so many commands in a unit, lest they take longer than expected; each counts as so long at least. */
enum { MOST = 256, LEAST_NS = 200 };
/* Shorter chunks are made larger, and longer ones smaller. */
enum { SHORT_CHUNK_NS = 150 * 1000, LONG_CHUNK_NS = 600 * 1000, MOST_FACTOR = 1024 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* a leaf */
GS_RANKED(lock, GS_RANK_KNOWN_TIMES);

/* The times of a size record; NULL: the record stands for many sizes. */
static struct gs_unit_times *times_of(struct gs_size *size)
{
    return size && size->program ? &size->units : NULL;
}

/* A copy of a size record's times; zeros: none. */
static struct gs_unit_times times_known(struct gs_size *size)
{
    const struct gs_unit_times *t = times_of(size);
    GS_LOCKED(&lock);
    return t ? *t : (struct gs_unit_times){0};
}

static unsigned factor_of(const struct gs_unit_times *t)
{
    return t->factor ? t->factor : 1;
}

/* The size's index in the batch; b->sizes: none. */
static unsigned index_of(const struct gs_batch *b, const struct gs_size *size)
{
    unsigned i = 0;
    while (i < b->sizes && b->size[i] != size)
        i++;
    return i;
}

static bool takes(const struct gs_batch *b, const struct gs_size *size, uint64_t ns, uint64_t most_ns)
{
    return !b->n || (ns && b->expected_ns && b->expected_ns + ns <= most_ns && b->n < MOST &&
                     (b->sizes < GS_BATCH_SIZES || index_of(b, size) < b->sizes));
}

bool gs_batch_add(struct gs_batch *b, struct gs_size *size, uint64_t most_ns, bool *full)
{
    const unsigned i = index_of(b, size);
    const bool another = i == b->sizes;
    /* In a long unit it is enough to ask for the times of each size once. */
    const bool known_by_now = !another && most_ns >= GS_BATCH_SOLE_NS;
    const struct gs_unit_times now = known_by_now ? (struct gs_unit_times){.ns = b->ns[i]} : times_known(size);
    if (!takes(b, size, now.ns, most_ns))
        return false;
    if (another && times_of(size)) {
        b->factor[b->sizes] = factor_of(&now);
        b->ns[b->sizes] = now.ns;
        b->size[b->sizes++] = size;
    }
    b->expected_ns += now.ns;
    b->n++;
    *full = !takes(b, size, now.ns, most_ns);
    return true;
}

/* Notes what a launch took. Launches cut by a former factor don't change the present one: a row would bring it to 1. */
static void learn(struct gs_unit_times *k, unsigned factor, uint64_t ns)
{
    k->ns = ns > k->least_ns ? ns : k->least_ns;
    if (k->whole_groups && k->ns > k->whole_ns)
        k->whole_ns = k->ns;
    if (k->ns > LONG_CHUNK_NS && factor > 1 && factor_of(k) == factor) /* the launch fitted one chunk of that factor */
        k->factor /= 2;
}

void gs_batch_learn(const struct gs_batch *b, uint64_t took_ns)
{
    GS_LOCKED(&lock);
    /* The unit had launches of one size only: so much did each take. */
    if (b->sizes == 1) {
        uint64_t *least_ns = &b->size[0]->units.least_ns;
        const uint64_t each_ns = took_ns / b->n > LEAST_NS ? took_ns / b->n : LEAST_NS;
        *least_ns = *least_ns && *least_ns < each_ns ? *least_ns : each_ns;
    }
    for (unsigned i = 0; i < b->sizes; i++) {
        struct gs_unit_times *k = &b->size[i]->units;
        const uint64_t ns = k->ns;
        if (!ns || !b->expected_ns) {
            learn(k, b->factor[i], took_ns);
            continue;
        }
        /* Scales all by the same factor, since nobody knows which launch took longer. A longer time counts at once. A
         * shorter one counts half, and never below the least time that the size has taken by itself, so that one size
         * that varies doesn't pull down others. The factor is of what was expected then: units may share a mistake. */
        const double factor = (double)took_ns / (double)b->expected_ns, seen = (double)b->ns[i] * factor;
        learn(k, b->factor[i], (uint64_t)(factor > 1 ? seen : ((double)ns + seen) / 2));
    }
}

/* A unit that had ended before anybody looked is known to have taken no longer than since its grant; that counts if the
 * unit is new, or shorter than expected. Else the time since the former unit's end counts, but at least half of the
 * expected time: if that end was heard late, this unit seems short. (On an H200 256 launches of 4 us shared a unit,
 * where the ends of two units were heard at once now and then.) */
void gs_batch_complete(const struct gs_batch *b, uint64_t took_ns, uint64_t since_grant_ns, bool waited)
{
    const uint64_t half_ns = b->expected_ns / 2;
    if (!b->expected_ns || (!waited && since_grant_ns < b->expected_ns))
        gs_batch_learn(b, since_grant_ns);
    else if (waited)
        gs_batch_learn(b, took_ns < since_grant_ns && took_ns < half_ns ? half_ns : took_ns);
}

unsigned gs_chunk_factor(struct gs_size *size)
{
    const struct gs_unit_times now = times_known(size);
    return factor_of(&now);
}

bool gs_batch_parts_short(struct gs_size *size, unsigned parts)
{
    const uint64_t ns = times_known(size).ns;
    return ns && ns * parts <= GS_BATCH_NS;
}

bool gs_whole_is_short(struct gs_size *size, uint64_t groups, bool sole)
{
    const struct gs_unit_times now = times_known(size);
    return groups <= now.whole_groups && now.whole_ns <= (sole ? GS_BATCH_SOLE_NS : GS_BATCH_ALONE_NS);
}

void gs_chunk_learn(struct gs_size *size, unsigned factor, unsigned chunks, uint64_t groups, uint64_t took_ns)
{
    struct gs_unit_times *k = times_of(size);
    const uint64_t each = took_ns / chunks;
    unsigned next = factor;
    GS_LOCKED(&lock);
    if (!k)
        return;
    k->whole_groups = groups;
    k->whole_ns = took_ns;
    if (factor_of(k) != factor) /* chunks cut by another factor tell nothing of this one */
        return;
    if (each > LONG_CHUNK_NS)
        next = factor > 1 ? factor / 2 : 1;
    /* Includes the time for asking, so larger chunks take at most so many times as long. */
    for (uint64_t ns = each; ns < SHORT_CHUNK_NS && next < MOST_FACTOR; ns = ns ? ns * 2 : 1)
        next *= 2;
    k->factor = next;
}
