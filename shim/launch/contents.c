/* SPDX-License-Identifier: MIT */
#include "shim/launch/contents.h"

#include <stdlib.h>
#include <string.h>

#include "shim/memory/coherence.h"
#include "shim/process/clock.h"
#include "translator/summary/access_program.h"

/* What looking costs, as bytes that might be moved meanwhile: two commands and their wait; and the buffer's own bytes,
 * which a device reads that much faster than others reach them. */
enum { LOOK_BYTES = 64 * 1024, READS_FASTER = 16 };
enum { MOST_TABLES = 4, MOST_FUTILE = 12, MOVED_BYTES_PER_US = 10000 };

/* How long may be waited for what was enqueued before. The application loses no more by it than what it would have done
 * meanwhile; so much the first time, and where looking has been worth it; else this and as long as the bytes at stake
 * take to be moved. */
static const uint64_t patience_ns = 1000000000, impatience_ns = 1000000;

static uint64_t bytes_of(uint8_t type)
{
    return gs_int_bits(type) / 8;
}

/* A word as the table or the buffer has it, widened. */
static uint64_t widened(const void *at, uint8_t type)
{
    const unsigned unused = 64 - gs_int_bits(type);
    uint64_t raw = 0;
    memcpy(&raw, at, bytes_of(type));
    return gs_int_signed(type) ? (uint64_t)((int64_t)(raw << unused) >> unused) : raw;
}

static bool is_less(uint64_t a, uint64_t b, uint8_t type)
{
    return gs_int_signed(type) ? (int64_t)a < (int64_t)b : a < b;
}

static void widen_bounds(uint8_t type, uint64_t least, uint64_t largest, bool first, uint64_t *lo, uint64_t *hi)
{
    if (first || is_less(least, *lo, type))
        *lo = least;
    if (first || is_less(*hi, largest, type))
        *hi = largest;
}

static bool is_good(const struct gs_table *t, const struct gs_mem *root)
{
    return t->written == root->written;
}

/* Adds what a piece knows of the words that begin in [begin, end). How many these are. */
static uint64_t ask_piece(const struct gs_table *t, const struct gs_table_piece *p, struct gs_range words, bool first,
                          uint64_t *lo, uint64_t *hi)
{
    const uint64_t from = words.begin <= p->begin ? 0 : (words.begin - p->begin + t->step - 1) / t->step;
    uint64_t to = words.end <= p->begin ? 0 : (words.end - p->begin + t->step - 1) / t->step;
    if (to > p->n)
        to = p->n;
    if (from >= to)
        return 0;
    const unsigned char *raw = p->raw;
    for (uint64_t block = from / p->block; block <= (to - 1) / p->block; block++, first = false) {
        const unsigned char *at = raw + 2 * block * bytes_of(t->type);
        widen_bounds(t->type, widened(at, t->type), widened(at + bytes_of(t->type), t->type), first, lo, hi);
    }
    return to - from;
}

/* Words of the root that begin at begin, begin + step, ... below end. */
static bool ask_table(const struct gs_table *t, uint64_t begin, uint64_t end, uint64_t *lo, uint64_t *hi)
{
    uint64_t known = 0;
    for (unsigned i = 0; i < t->n; i++)
        known += ask_piece(t, &t->v[i], (struct gs_range){begin, end}, known == 0, lo, hi);
    return known && known == (end - begin + t->step - 1) / t->step;
}

/* A table with these words, and perhaps others between them. */
static bool has_words(const struct gs_table *t, uint8_t type, uint32_t step, uint64_t begin)
{
    return t->type == type && step % t->step == 0 && t->n && begin % t->step == t->v[0].begin % t->step;
}

static bool bounds(const struct gs_mem *m, const struct gs_words *words, uint64_t *least, uint64_t *largest)
{
    const uint64_t begin = m->origin + words->begin, end = m->origin + words->end - bytes_of(words->type) + 1;
    for (const struct gs_table *t = m->root->tables; t; t = t->next)
        if (is_good(t, m->root) && has_words(t, words->type, words->step, begin) &&
            ask_table(t, begin, end, least, largest))
            return true;
    return false;
}

static uint64_t state(const struct gs_mem *m)
{
    uint64_t s = 0;
    for (const struct gs_table *t = m->root->tables; t; t = t->next)
        if (is_good(t, m->root))
            s = s * 1000003 + t->id;
    return s;
}

const struct gs_known gs_contents_known = {.bounds = bounds, .state = state};

void gs_contents_forget(struct gs_mem *root)
{
    while (root->tables) {
        struct gs_table *next = root->tables->next;
        gs_table_free(root->tables);
        root->tables = next;
    }
}

/* Those that are good for nothing, and the oldest. */
static void clear_up(struct gs_mem *root)
{
    unsigned kept = 0;
    for (struct gs_table **at = &root->tables; *at;) {
        struct gs_table *t = *at;
        if (is_good(t, root) && kept++ < MOST_TABLES) {
            at = &t->next;
            continue;
        }
        *at = t->next;
        gs_table_free(t);
    }
}

/* Bytes that the parts lack of what such knowledge might narrow, and that a merge by comparison would look at. */
static uint64_t at_stake(const struct gs_plan *plan, const struct gs_want *want, struct gs_mem *const *mems,
                         const unsigned *place)
{
    uint64_t bytes = 0, pieces = 0;
    for (size_t i = 0; i < plan->n_uses; i++) {
        const struct gs_use *u = &plan->uses[i];
        bool serves = false;
        for (unsigned a = 0; a < 64; a++)
            serves |= want->serves >> a & 1 && mems[a] && mems[a]->root == u->root;
        for (unsigned p = 0; p < plan->n_parts && serves; p++)
            if (gs_lacking(u->root, place[p], &u->needs[p], &bytes, &pieces) < 0)
                return 0;
        if (serves && u->writes == GS_COMPARED)
            bytes += 2 * (u->window.end - u->window.begin);
    }
    return bytes;
}

static bool is_possible(const struct gs_mem *m)
{
    const struct gs_mem *root = m->root;
    return !root->base && !root->is_image && !m->is_image && !root->home_only && !root->write_mappings &&
           gs_sound(root, gs_window_range(m, 0, m->size)) == CL_SUCCESS;
}

/* After looks that were of no use, a buffer is passed over for 1, 3, 7, ... launches. */
static bool has_patience(struct gs_mem *root)
{
    if (root->passed_over + 1 >= 1u << root->futile) {
        root->passed_over = 0;
        return true;
    }
    root->passed_over++;
    return false;
}

static void count_futile(struct gs_mem *root)
{
    root->futile += root->futile < MOST_FUTILE;
}

static uint64_t time_of(uint64_t bytes)
{
    return impatience_ns + bytes / MOVED_BYTES_PER_US * 1000;
}

static bool look_at(struct gs_command *cmd, const struct gs_mem *m, const struct gs_want *want, uint64_t stake)
{
    struct gs_mem *root = m->root;
    clear_up(root);
    for (const struct gs_table *t = root->tables; t; t = t->next)
        if (t->type == want->words.type && t->step == want->words.step &&
            (!t->n || t->v[0].begin % t->step == (m->origin + want->words.begin) % t->step)) {
            count_futile(root); /* it is known already, and doesn't say */
            return false;
        }
    struct gs_table *t = gs_table_make(cmd, m, &want->words, root->futile ? time_of(stake) : patience_ns);
    if (!t) {
        count_futile(root);
        return false;
    }
    t->next = root->tables;
    root->tables = t;
    return true;
}

bool gs_contents_look(struct gs_command *cmd, const struct gs_plan *plan, struct gs_mem *const *mems,
                      const unsigned *place, struct gs_looked *looked)
{
    looked->n = 0;
    for (unsigned i = 0; i < plan->n_wants; i++) {
        const struct gs_want *want = &plan->wants[i];
        const struct gs_mem *m = mems[want->arg];
        if (!is_possible(m))
            continue;
        const uint64_t stake = at_stake(plan, want, mems, place);
        if (stake < LOOK_BYTES + m->size / READS_FASTER || !has_patience(m->root))
            continue;
        const uint64_t begin_ns = gs_now_ns();
        if (look_at(cmd, m, want, stake)) {
            looked->want[looked->n] = *want;
            looked->stake[looked->n] = stake;
            looked->took_ns[looked->n++] = gs_now_ns() - begin_ns;
        }
    }
    return looked->n > 0;
}

void gs_contents_judge(const struct gs_looked *looked, const struct gs_plan *plan, struct gs_mem *const *mems,
                       const unsigned *place)
{
    for (unsigned i = 0; i < looked->n; i++) {
        struct gs_mem *root = mems[looked->want[i].arg]->root;
        const uint64_t still = at_stake(plan, &looked->want[i], mems, place);
        if (still + LOOK_BYTES / 2 <= looked->stake[i] && looked->took_ns[i] <= time_of(looked->stake[i] - still))
            root->futile = 0;
        else
            count_futile(root);
    }
}

bool gs_contents_right(const struct gs_mem *root, const unsigned char *bytes, uint64_t *at)
{
    for (const struct gs_table *t = root->tables; t; t = t->next)
        for (unsigned i = 0; i < t->n && is_good(t, root); i++)
            for (uint64_t w = 0; w < t->v[i].n; w++) {
                const unsigned char *raw = t->v[i].raw;
                const unsigned char *known = raw + 2 * (w / t->v[i].block) * bytes_of(t->type);
                *at = t->v[i].begin + w * t->step;
                const uint64_t word = widened(bytes + *at, t->type);
                if (is_less(word, widened(known, t->type), t->type) ||
                    is_less(widened(known + bytes_of(t->type), t->type), word, t->type))
                    return false;
            }
    return true;
}
