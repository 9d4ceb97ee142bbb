/* SPDX-License-Identifier: MIT */
#include "shim/choose/learnt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"

/* The file: the head; the machine, without what the group tells; the records; a checksum of all before. */
static const char head[] = "gpusparc-learnt 22\n";
enum { HEAD = sizeof head - 1, MACHINE = offsetof(struct gs_machine, compiles), BEFORE = HEAD + MACHINE };

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

int gs_learnt_add(struct gs_learnt *l, const struct gs_learnt_kernel *k)
{
    if (!l->v && !(l->v = malloc(GS_LEARNT_MOST * sizeof *l->v)))
        return -ENOMEM;
    for (size_t i = 0; i < l->n; i++)
        if (same(&l->v[i], k))
            return 0;
    if (l->n < GS_LEARNT_MOST)
        l->v[l->n++] = *k;
    return 0;
}

bool gs_learnt_may_gain(const struct gs_history *h, const struct gs_machine *m, unsigned n)
{
    const uint64_t single = gs_measured_best(&h->single), known = single ? single : h->bound_ns;
    return h->split.n || h->failures || h->together.owed_ns > 0 || h->balance.n ||
           (double)known >= gs_least_gain_ns(m, n);
}

void gs_learnt_keep(struct gs_learnt_kernel *k, const struct gs_history *h)
{
    k->launches = h->launches;
    k->bound_ns = h->bound_ns;
    k->single_ns = h->guessed && !h->balance.measured ? 0 : gs_measured_best(&h->single);
    k->split_ns = gs_choice_split_known(h) ? gs_measured_best(&h->split) : 0;
    k->failures = h->failures;
    k->moves = h->balance.moves;
    k->settled = h->balance.settled;
    k->dim = h->balance.dim;
    k->parts = h->balance.n;
    k->return_rate = h->return_rate;
    k->owed_ns = gs_stretch_keep(&h->together);
    k->scatter_again = h->scatter_again;
    k->gather_again = h->gather_again;
    memcpy(k->cut, h->balance.cut, sizeof k->cut);
}

void gs_learnt_begin(const struct gs_learnt_kernel *k, struct gs_history *h)
{
    gs_history_init(h);
    h->expected = k->launches;
    h->bound_ns = k->bound_ns;
    h->return_rate = k->return_rate;
    h->scatter_again = k->scatter_again;
    h->gather_again = k->gather_again;
    h->balance = (struct gs_balance){
        .n = (unsigned)k->parts, .dim = (unsigned)k->dim, .moves = (unsigned)k->moves, .settled = k->settled};
    memcpy(h->balance.cut, k->cut, sizeof k->cut);
    gs_choice_learn_single(h, k->single_ns);
    for (int i = 0; i < GS_CHOICE_KNOWN && k->split_ns; i++) /* so that it is known */
        gs_measured_add(&h->split, k->split_ns);
    gs_choice_load_failures(h, (unsigned)k->failures);
    gs_stretch_load(&h->together, k->owed_ns);
}

/* Numbers that index arrays must be in range. */
static bool is_sound(const struct gs_learnt_kernel *k)
{
    bool sound = *k->name && !k->name[sizeof k->name - 1] && k->n >= 2 && k->n <= GS_MAX_DEVICES && k->dim < 3 &&
                 k->parts <= GS_MAX_DEVICES;
    for (unsigned p = 0; sound && p < k->parts; p++)
        sound = k->cut[p] > (p ? k->cut[p - 1] : 0) && k->cut[p] <= 1;
    return sound;
}

char *gs_learnt_print(const struct gs_learnt *l, size_t *bytes)
{
    const size_t n = BEFORE + l->n * sizeof *l->v;
    char *text = malloc(n + GS_HASH_HEX_BYTES);
    if (!text)
        return NULL;
    memcpy(text, head, HEAD);
    memcpy(text + HEAD, &l->machine, MACHINE);
    if (l->n)
        memcpy(text + BEFORE, l->v, l->n * sizeof *l->v);
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
           (bytes - sizeof sum - BEFORE) % sizeof(struct gs_learnt_kernel) == 0;
}

int gs_learnt_parse(struct gs_learnt *l, const char *text, size_t bytes)
{
    *l = (struct gs_learnt){0};
    if (!is_whole(text, bytes))
        return -EBADMSG;
    const size_t of_kernels = bytes - GS_HASH_HEX_BYTES - BEFORE;
    memcpy(&l->machine, text + HEAD, MACHINE);
    l->n = of_kernels / sizeof *l->v;
    l->v = malloc(of_kernels + 1);
    int err = !l->v ? -ENOMEM : l->machine.split_ns > 0 ? 0 : -EBADMSG;
    if (l->v)
        memcpy(l->v, text + BEFORE, of_kernels);
    for (size_t i = 0; i < l->n && !err; i++)
        err = is_sound(&l->v[i]) ? 0 : -EBADMSG;
    if (err)
        gs_learnt_free(l);
    return err;
}
