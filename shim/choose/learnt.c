/* SPDX-License-Identifier: MIT */
#include "shim/choose/learnt.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"

static const char head[] = "gpusparc-learnt 20\n";

void gs_learnt_free(struct gs_learnt *l)
{
    free(l->v);
    *l = (struct gs_learnt){0};
}

static bool same(const struct gs_learnt_kernel *a, const struct gs_learnt_kernel *b)
{
    return a->program == b->program && a->n == b->n && memcmp(a->size, b->size, sizeof a->size) == 0 &&
           strcmp(a->name, b->name) == 0;
}

bool gs_learnt_has(const struct gs_learnt *l, const struct gs_learnt_kernel *k)
{
    for (size_t i = 0; i < l->n; i++)
        if (same(&l->v[i], k))
            return true;
    return false;
}

int gs_learnt_add(struct gs_learnt *l, const struct gs_learnt_kernel *k)
{
    for (size_t i = 0; i < l->n; i++)
        if (same(&l->v[i], k)) {
            l->v[i] = *k;
            return 0;
        }
    if (l->n == GS_LEARNT_MOST)
        return 0;
    if (l->n == l->cap) {
        const size_t cap = l->cap ? 2 * l->cap : 32;
        struct gs_learnt_kernel *v = realloc(l->v, cap * sizeof *v);
        if (!v)
            return -ENOMEM;
        l->v = v;
        l->cap = cap;
    }
    l->v[l->n++] = *k;
    return 0;
}

bool gs_learnt_may_gain(const struct gs_learnt_kernel *k, const struct gs_machine *m)
{
    const uint64_t single = gs_measured_best(&k->h.single), known = single ? single : k->h.bound_ns;
    return k->h.split.n || k->h.failures || k->h.together.owed_ns > 0 || k->h.balance.n ||
           (double)known >= gs_least_gain_ns(m, k->n);
}

/* A kernel in the file. All numbers have 8 bytes: there are no gaps. */
struct record {
    char name[GS_LEARNT_NAME_BYTES];
    uint64_t program, n, size[6], prepare_ns, launches, bound_ns, single_ns, split_ns, failures, moves, settled, dim,
        parts;
    uint64_t scatter_again[3], gather_again[3]; /* known, bytes, pieces */
    double return_rate, owed_ns, cut[GS_MAX_DEVICES];
};

/* The file: the head, the machine without what the group tells, the records, and a checksum of all before. */
enum { HEAD = sizeof head - 1, MACHINE = offsetof(struct gs_machine, compiles), BEFORE = HEAD + MACHINE };

static struct record to_record(const struct gs_learnt_kernel *k)
{
    const struct gs_history *h = &k->h;
    struct record r = {
        .program = k->program,
        .n = k->n,
        .prepare_ns = k->prepare_ns,
        .launches = h->launches,
        .bound_ns = h->bound_ns,
        .single_ns = gs_measured_best(&h->single),
        .split_ns = gs_choice_split_known(h) ? gs_measured_best(&h->split) : 0,
        .failures = h->failures,
        .moves = h->balance.moves,
        .settled = h->balance.settled,
        .dim = h->balance.dim,
        .parts = h->balance.n,
        .return_rate = h->return_rate,
        .owed_ns = h->together.owed_ns,
        .scatter_again = {h->scatter_again.known, h->scatter_again.move.bytes, h->scatter_again.move.pieces},
        .gather_again = {h->gather_again.known, h->gather_again.move.bytes, h->gather_again.move.pieces},
    };
    memcpy(r.name, k->name, strnlen(k->name, sizeof r.name - 1));
    memcpy(r.size, k->size, sizeof r.size);
    memcpy(r.cut, h->balance.cut, sizeof r.cut);
    return r;
}

/* What is used as the number of an element must be one. */
static bool is_sound(const struct record *r)
{
    bool sound = *r->name && !r->name[sizeof r->name - 1] && r->n >= 2 && r->n <= GS_MAX_DEVICES && r->dim < 3 &&
                 r->parts <= GS_MAX_DEVICES;
    for (unsigned p = 0; sound && p < r->parts; p++)
        sound = r->cut[p] > (p ? r->cut[p - 1] : 0) && r->cut[p] <= 1;
    return sound;
}

static int add_record(struct gs_learnt *l, const struct record *r)
{
    struct gs_learnt_kernel k = {.program = r->program, .n = (unsigned)r->n, .prepare_ns = r->prepare_ns};
    struct gs_history *h = &k.h;
    if (!is_sound(r))
        return -EBADMSG;
    memcpy(k.name, r->name, sizeof k.name);
    memcpy(k.size, r->size, sizeof k.size);
    gs_history_init(h);
    h->expected = r->launches;
    h->bound_ns = r->bound_ns;
    h->return_rate = r->return_rate;
    h->scatter_again = (struct gs_again){r->scatter_again[0], {r->scatter_again[1], r->scatter_again[2]}};
    h->gather_again = (struct gs_again){r->gather_again[0], {r->gather_again[1], r->gather_again[2]}};
    h->balance = (struct gs_balance){
        .n = (unsigned)r->parts, .dim = (unsigned)r->dim, .moves = (unsigned)r->moves, .settled = r->settled};
    memcpy(h->balance.cut, r->cut, sizeof r->cut);
    if (r->single_ns)
        gs_measured_add(&h->single, r->single_ns);
    for (int i = 1; i < GS_CHOICE_TRIES && r->split_ns; i++)
        gs_measured_add(&h->split, r->split_ns);
    gs_choice_load_failures(h, (unsigned)r->failures);
    gs_stretch_load(&h->together, r->owed_ns);
    return gs_learnt_add(l, &k);
}

char *gs_learnt_print(const struct gs_learnt *l, size_t *bytes)
{
    const size_t n = BEFORE + l->n * sizeof(struct record);
    char *text = malloc(n + GS_HASH_HEX_BYTES);
    if (!text)
        return NULL;
    memcpy(text, head, HEAD);
    memcpy(text + HEAD, &l->machine, MACHINE);
    for (size_t i = 0; i < l->n; i++) {
        const struct record r = to_record(&l->v[i]);
        memcpy(text + BEFORE + i * sizeof r, &r, sizeof r);
    }
    gs_hash_hex(text, n, text + n);
    *bytes = n + GS_HASH_HEX_BYTES;
    return text;
}

static bool is_whole(const char *text, size_t bytes)
{
    char sum[GS_HASH_HEX_BYTES];
    if (bytes < BEFORE + sizeof sum || memcmp(text, head, HEAD) != 0)
        return false;
    gs_hash_hex(text, bytes - sizeof sum, sum);
    return memcmp(sum, text + bytes - sizeof sum, sizeof sum) == 0 &&
           (bytes - sizeof sum - BEFORE) % sizeof(struct record) == 0;
}

int gs_learnt_parse(struct gs_learnt *l, const char *text, size_t bytes)
{
    *l = (struct gs_learnt){0};
    if (!is_whole(text, bytes))
        return -EBADMSG;
    memcpy(&l->machine, text + HEAD, MACHINE);
    int err = l->machine.split_ns > 0 ? 0 : -EBADMSG;
    for (size_t at = BEFORE; at < bytes - GS_HASH_HEX_BYTES && !err; at += sizeof(struct record)) {
        struct record r;
        memcpy(&r, text + at, sizeof r);
        err = add_record(l, &r);
    }
    if (err)
        gs_learnt_free(l);
    return err;
}
