/* SPDX-License-Identifier: MIT */
#include "shim/choose/learnt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"

static const char head[] = "gpusparc-learnt 18\n";

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

bool gs_learnt_worth(const struct gs_learnt_kernel *k, const struct gs_machine *m)
{
    const uint64_t single = gs_measured_best(&k->h.single), known = single ? single : k->h.bound_ns;
    return k->h.split.n || k->h.failures || k->h.together.owed_ns > 0 || k->h.balance.n ||
           (double)known >= gs_least_worth_ns(m, k->n);
}

/* A line that is written, or read: what each of the functions below gets it writes, or else it gives back what stands
 * there. Numbers are whole, with a blank behind each: an application's locale may write fractions with a comma. */
struct line {
    FILE *to;         /* or null */
    const char *from; /* behind what has been read */
    bool bad;         /* that wasn't what it should be */
};

static uint64_t number(struct line *l, uint64_t v, uint64_t least, uint64_t most)
{
    char *end;
    if (l->to) {
        fprintf(l->to, "%" PRIu64 " ", v);
        return v;
    }
    if (l->bad)
        return least;
    errno = 0;
    v = strtoull(l->from, &end, 10);
    l->bad = errno || end == l->from || *end != ' ' || v < least || v > most;
    l->from = l->bad ? l->from : end + 1;
    return v;
}

static uint64_t count(struct line *l, uint64_t v)
{
    return number(l, v, 0, INT64_MAX);
}

/* In 1 / `unit` of what it is a number of. */
static double fraction(struct line *l, double v, double unit, uint64_t least)
{
    const double whole = v * unit + 0.5;
    return (double)number(l, whole < 9e18 ? (uint64_t)whole : INT64_MAX, least, INT64_MAX) / unit;
}

static void again(struct line *l, struct gs_again *a)
{
    a->known = number(l, a->known, 0, 1);
    a->move.bytes = count(l, a->move.bytes);
    a->move.pieces = count(l, a->move.pieces);
}

static void balance(struct line *l, struct gs_balance *b)
{
    static const unsigned most_moves = 1000;
    double last = 0;
    b->moves = (unsigned)number(l, b->moves < most_moves ? b->moves : most_moves, 0, most_moves);
    b->settled = number(l, b->settled, 0, 1);
    b->dim = (unsigned)number(l, b->dim, 0, 2);
    b->n = (unsigned)number(l, b->n, 0, GS_MAX_DEVICES);
    for (unsigned p = 0; p < b->n && !l->bad; p++) {
        b->cut[p] = fraction(l, b->cut[p], 1e9, 1);
        l->bad = l->bad || b->cut[p] <= last || b->cut[p] > 1;
        last = b->cut[p];
    }
}

static void kernel(struct line *l, struct gs_learnt_kernel *k)
{
    struct gs_history *h = &k->h;
    k->program = number(l, k->program, 0, UINT64_MAX);
    k->n = (unsigned)number(l, k->n, 2, GS_MAX_DEVICES);
    for (int i = 0; i < 6; i++)
        k->size[i] = count(l, k->size[i]);
    k->prepare_ns = count(l, k->prepare_ns);
    h->expected = count(l, h->launches);
    h->bound_ns = count(l, h->bound_ns);
    const uint64_t single = count(l, gs_measured_best(&h->single));
    const uint64_t split = count(l, gs_choice_split_known(h) ? gs_measured_best(&h->split) : 0);
    again(l, &h->scatter_again);
    again(l, &h->gather_again);
    const bool returns = number(l, h->return_rate >= 0, 0, 1);
    const double rate = fraction(l, returns && l->to ? h->return_rate : 0, 1e6, 0);
    const unsigned failures = (unsigned)number(l, h->failures, 0, 1000);
    const double owed_ns = fraction(l, h->together.owed_ns, 1, 0);
    balance(l, &h->balance);
    if (l->to)
        return;
    if (single)
        gs_measured_add(&h->single, single);
    for (int i = 1; i < GS_CHOICE_TRIES && split; i++)
        gs_measured_add(&h->split, split);
    h->return_rate = returns ? rate : -1;
    gs_choice_load_failures(h, failures);
    gs_stretch_load(&h->together, owed_ns);
}

static void machine(struct line *l, struct gs_machine *m)
{
    m->split_ns = fraction(l, m->split_ns, 1, 1);
    m->first_ns = fraction(l, m->first_ns, 1, 1);
    for (int i = 0; i < GS_LINKS; i++) {
        m->link[i].piece_ns = fraction(l, m->link[i].piece_ns, 1, 0);
        m->link[i].byte_ns = fraction(l, m->link[i].byte_ns, 1e6, 0);
    }
    for (int i = 0; i < 2 * GS_READ_SIZES; i++)
        m->read_ns[i / 2][i % 2] = fraction(l, m->read_ns[i / 2][i % 2], 1e6, 0);
    for (int p = 1; p < GS_MAX_DEVICES; p++)
        m->speed[p] = fraction(l, m->speed[p], 1e6, 0);
}

char *gs_learnt_print(const struct gs_learnt *l, size_t *bytes)
{
    char *text = NULL, sum[GS_HASH_HEX_BYTES];
    struct line line = {.to = open_memstream(&text, bytes)};
    struct gs_machine m = l->machine;
    if (!line.to)
        return NULL;
    fprintf(line.to, "%sm ", head);
    machine(&line, &m);
    for (size_t i = 0; i < l->n; i++) {
        struct gs_learnt_kernel k = l->v[i];
        fputs("\nk ", line.to);
        kernel(&line, &k);
        fputs(k.name, line.to);
    }
    fputc('\n', line.to);
    bool good = fflush(line.to) == 0;
    if (good) {
        gs_hash_hex(text, *bytes, sum);
        fprintf(line.to, "%s\n", sum);
    }
    good = fclose(line.to) == 0 && good;
    if (!good) {
        free(text);
        text = NULL;
    }
    return text;
}

static int parse_kernel(struct gs_learnt *l, const char *text)
{
    struct line line = {.from = text};
    struct gs_learnt_kernel k = {0};
    gs_history_init(&k.h);
    kernel(&line, &k);
    if (line.bad || !*line.from || strlen(line.from) >= sizeof k.name)
        return -EBADMSG;
    strcpy(k.name, line.from);
    return gs_learnt_add(l, &k);
}

static int parse_machine(struct gs_learnt *l, const char *text)
{
    struct line line = {.from = text};
    machine(&line, &l->machine);
    return line.bad ? -EBADMSG : 0;
}

/* The text without its checksum, as lines of its own; NULL where it is not whole. */
static char *checked(const char *text, size_t bytes)
{
    char sum[GS_HASH_HEX_BYTES];
    const size_t tail = sizeof sum; /* its 0 becomes the newline */
    if (bytes < sizeof head + tail || text[bytes - 1] != '\n' || memcmp(text, head, sizeof head - 1) != 0 ||
        memchr(text, 0, bytes))
        return NULL;
    gs_hash_hex(text, bytes - tail, sum);
    if (memcmp(text + bytes - tail, sum, tail - 1) != 0)
        return NULL;
    return strndup(text + sizeof head - 1, bytes - tail - (sizeof head - 1));
}

int gs_learnt_parse(struct gs_learnt *l, const char *text, size_t bytes)
{
    *l = (struct gs_learnt){0};
    char *lines = checked(text, bytes), *at = lines;
    int err = lines ? 0 : -EBADMSG;
    while (!err && *at) {
        char *end = strchr(at, '\n');
        err = !end || end - at < 2 || !strchr("mk", *at) ? -EBADMSG : 0;
        if (err)
            break;
        *end = '\0';
        err = (*at == 'm' ? parse_machine : parse_kernel)(l, at + 2);
        at = end + 1;
    }
    free(lines);
    if (err)
        gs_learnt_free(l);
    return err;
}
