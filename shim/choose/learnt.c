/* SPDX-License-Identifier: MIT */
#include "shim/choose/learnt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"

/* Numbers are whole: an application's locale may write fractions with a comma. */
static const char head[] = "gpusparc-learnt 16\n";
static const unsigned most_moves = 1000;
static const double cut_unit = 1e9, rate_unit = 1e6, link_unit = 1e6, speed_unit = 1e6;

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

static int64_t whole(double x)
{
    return x < -1 ? -1 : x > 9e18 ? INT64_MAX : (int64_t)x;
}

static void print_again(FILE *f, const struct gs_again *again)
{
    fprintf(f, " %d %" PRIu64 " %" PRIu64, again->known, again->move.bytes, again->move.pieces);
}

static void print_kernel(FILE *f, const struct gs_learnt_kernel *k)
{
    const struct gs_history *h = &k->h;
    fprintf(f, "k %" PRIx64 " %u", k->program, k->n);
    for (int i = 0; i < 6; i++)
        fprintf(f, " %" PRIu64, k->size[i]);
    fprintf(f, " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, k->prepare_ns, h->launches, h->bound_ns,
            gs_measured_best(&h->single), gs_choice_split_known(h) ? gs_measured_best(&h->split) : 0);
    print_again(f, &h->scatter_again);
    print_again(f, &h->gather_again);
    fprintf(f, " %" PRId64 " %u %" PRId64, h->return_rate < 0 ? -1 : whole(h->return_rate * rate_unit), h->failures,
            whole(h->together.owed_ns));
    fprintf(f, " %u %d %u %u", h->balance.moves < most_moves ? h->balance.moves : most_moves, h->balance.settled,
            h->balance.dim, h->balance.n);
    for (unsigned p = 0; p < h->balance.n; p++)
        fprintf(f, " %" PRId64, whole(h->balance.cut[p] * cut_unit + 0.5));
    fprintf(f, " %s\n", k->name);
}

char *gs_learnt_print(const struct gs_learnt *l, size_t *bytes)
{
    char *text = NULL, sum[GS_HASH_HEX_BYTES];
    const struct gs_machine *m = &l->machine;
    FILE *f = open_memstream(&text, bytes);
    if (!f)
        return NULL;
    fputs(head, f);
    fprintf(f, "m %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, whole(m->split_ns), whole(m->first_ns),
            whole(m->prepare_ns), whole(m->ring_ns));
    for (int i = 0; i < GS_LINKS; i++)
        fprintf(f, " %" PRId64 " %" PRId64, whole(m->link[i].piece_ns), whole(m->link[i].byte_ns * link_unit));
    for (int i = 0; i < 2 * GS_READ_SIZES; i++)
        fprintf(f, " %" PRId64, whole(m->read_ns[i / 2][i % 2] * link_unit));
    for (int p = 1; p < GS_MAX_DEVICES; p++)
        fprintf(f, " %" PRId64, whole(m->speed[p] * speed_unit));
    fputc('\n', f);
    for (size_t i = 0; i < l->n; i++)
        print_kernel(f, &l->v[i]);
    bool good = fflush(f) == 0;
    if (good) {
        gs_hash_hex(text, *bytes, sum);
        fprintf(f, "%s\n", sum);
    }
    good = fclose(f) == 0 && good;
    if (!good) {
        free(text);
        text = NULL;
    }
    return text;
}

/* Reads numbers off a line. */
struct cursor {
    const char *at;
    bool bad;
};

static int64_t number(struct cursor *c, int base, int64_t least, int64_t most)
{
    char *end;
    if (c->bad)
        return 0;
    errno = 0;
    const int64_t v = strtoll(c->at, &end, base);
    c->bad = errno || end == c->at || *end != ' ' || v < least || v > most;
    c->at = end;
    return v;
}

static uint64_t hash(struct cursor *c)
{
    char *end;
    errno = 0;
    const uint64_t v = c->bad ? 0 : strtoull(c->at, &end, 16);
    c->bad = c->bad || errno || end == c->at || *end != ' ';
    c->at = c->bad ? c->at : end;
    return v;
}

static uint64_t count(struct cursor *c)
{
    return (uint64_t)number(c, 10, 0, INT64_MAX);
}

static struct gs_again parse_again(struct cursor *c)
{
    struct gs_again again;
    again.known = number(c, 10, 0, 1);
    again.move.bytes = count(c);
    again.move.pieces = count(c);
    return again;
}

static void parse_balance(struct cursor *c, struct gs_balance *b)
{
    double last = 0;
    b->moves = (unsigned)number(c, 10, 0, most_moves);
    b->settled = number(c, 10, 0, 1);
    b->dim = (unsigned)number(c, 10, 0, 2);
    b->n = (unsigned)number(c, 10, 0, GS_MAX_DEVICES);
    for (unsigned p = 0; p < b->n && !c->bad; p++) {
        b->cut[p] = (double)number(c, 10, 1, 1000000000) / cut_unit;
        c->bad = c->bad || b->cut[p] <= last;
        last = b->cut[p];
    }
}

static bool parse_kernel(const char *line, struct gs_learnt_kernel *k)
{
    struct cursor c = {line, false};
    struct gs_history *h = &k->h;
    memset(k, 0, sizeof *k);
    gs_history_init(h);
    k->program = hash(&c);
    k->n = (unsigned)number(&c, 10, 2, GS_MAX_DEVICES);
    for (int i = 0; i < 6; i++)
        k->size[i] = count(&c);
    k->prepare_ns = count(&c);
    h->expected = count(&c);
    h->bound_ns = count(&c);
    const uint64_t single = count(&c), split = count(&c);
    if (single)
        gs_measured_add(&h->single, single);
    for (int i = 1; i < GS_CHOICE_TRIES && split; i++)
        gs_measured_add(&h->split, split);
    h->scatter_again = parse_again(&c);
    h->gather_again = parse_again(&c);
    const int64_t rate = number(&c, 10, -1, (int64_t)rate_unit);
    h->return_rate = rate < 0 ? -1 : (double)rate / rate_unit;
    gs_choice_remember_failures(h, (unsigned)number(&c, 10, 0, 1000));
    gs_stretch_remember(&h->together, (double)number(&c, 10, 0, INT64_MAX));
    parse_balance(&c, &h->balance);
    if (c.bad || *c.at != ' ' || strlen(c.at + 1) >= sizeof k->name || !c.at[1])
        return false;
    strcpy(k->name, c.at + 1);
    return true;
}

static bool parse_machine(char *line, struct gs_machine *m)
{
    const size_t n = strlen(line);
    line[n] = ' '; /* each number is followed by one; the caller's newline stood there */
    struct cursor c = {line, false};
    m->split_ns = (double)number(&c, 10, 1, INT64_MAX);
    m->first_ns = (double)number(&c, 10, 1, INT64_MAX);
    m->prepare_ns = (double)number(&c, 10, 1, INT64_MAX);
    m->ring_ns = (double)number(&c, 10, 0, INT64_MAX);
    for (int i = 0; i < GS_LINKS; i++) {
        m->link[i].piece_ns = (double)number(&c, 10, 0, INT64_MAX);
        m->link[i].byte_ns = (double)number(&c, 10, 0, INT64_MAX) / link_unit;
    }
    for (int i = 0; i < 2 * GS_READ_SIZES; i++)
        m->read_ns[i / 2][i % 2] = (double)number(&c, 10, 0, INT64_MAX) / link_unit;
    for (int p = 1; p < GS_MAX_DEVICES; p++)
        m->speed[p] = (double)number(&c, 10, 0, INT64_MAX) / speed_unit;
    return !c.bad;
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
        struct gs_learnt_kernel k;
        if (!end || end - at < 2) {
            err = -EBADMSG;
            break;
        }
        *end = '\0';
        if (at[0] == 'm')
            err = parse_machine(at + 2, &l->machine) ? 0 : -EBADMSG;
        else
            err = at[0] == 'k' && parse_kernel(at + 2, &k) ? gs_learnt_add(l, &k) : -EBADMSG;
        at = end + 1;
    }
    free(lines);
    if (err)
        gs_learnt_free(l);
    return err;
}
