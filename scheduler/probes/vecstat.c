/* SPDX-License-Identifier: MIT */
/* Statistics of execution vectors in bounded memory. */
#include "scheduler/probes/vecstat.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where the table is full, a new vector takes one from every count (Misra and Gries, 1982): the count of any vector is
 * then too small by at most `taken`. The cardinality is estimated by HyperLogLog (Flajolet and others, 2007). */
enum { HLL_BITS = 14, HLL_SIZE = 1 << HLL_BITS, FIRST_SLOTS = 1024 };
static const size_t default_distinct = (size_t)1 << 22;
static const char magic[8] = "gsvec1\n";

struct slot {
    uint32_t hash[GS_VECSTAT_HASH_WORDS];
    uint32_t count; /* 0: free */
};

struct gs_vecstat {
    struct slot *slot;
    size_t n_slots, used, max_distinct;
    uint64_t vectors, taken;
    bool overflowed;
    uint8_t hll[HLL_SIZE];
};

struct gs_vecstat *gs_vecstat_new(size_t max_distinct)
{
    struct gs_vecstat *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->max_distinct = max_distinct ? max_distinct : default_distinct;
    s->n_slots = FIRST_SLOTS;
    s->slot = calloc(s->n_slots, sizeof(*s->slot));
    if (s->slot)
        return s;
    free(s);
    return NULL;
}

void gs_vecstat_free(struct gs_vecstat *s)
{
    if (s)
        free(s->slot);
    free(s);
}

static uint64_t mix(uint64_t h)
{
    h ^= h >> 33;
    h *= UINT64_C(0xff51afd7ed558ccd);
    h ^= h >> 33;
    h *= UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ (h >> 33);
}

/* Two independent 64-bit hashes of the vector; 96 of their bits identify it. */
static void fingerprint(const uint32_t *v, size_t p, uint64_t *a, uint64_t *b)
{
    *a = mix(p + 1);
    *b = mix(p + UINT64_C(0x9e3779b97f4a7c15));
    for (size_t i = 0; i < p; i++) {
        *a = mix(*a ^ v[i]);
        *b = mix(*b + UINT64_C(0xd6e8feb86659fd93) * (v[i] + 1));
    }
}

static struct slot *find(struct slot *slot, size_t n_slots, const uint32_t *hash)
{
    size_t i = (hash[0] | (uint64_t)hash[1] << 32) & (n_slots - 1);
    while (slot[i].count && memcmp(slot[i].hash, hash, sizeof(slot[i].hash)) != 0)
        i = (i + 1) & (n_slots - 1);
    return &slot[i];
}

static int rehash(struct gs_vecstat *s, size_t n_slots)
{
    struct slot *slot = calloc(n_slots, sizeof(*slot));
    if (!slot)
        return -ENOMEM;
    s->used = 0;
    for (size_t i = 0; i < s->n_slots; i++)
        if (s->slot[i].count) {
            *find(slot, n_slots, s->slot[i].hash) = s->slot[i];
            s->used++;
        }
    free(s->slot);
    s->slot = slot;
    s->n_slots = n_slots;
    return 0;
}

/* Takes one from every count, and with it the new vector itself. */
static int take_one(struct gs_vecstat *s)
{
    for (size_t i = 0; i < s->n_slots; i++)
        s->slot[i].count -= s->slot[i].count > 0;
    s->taken++;
    return rehash(s, s->n_slots); /* what fell to 0 must not break the chains */
}

static void estimate_add(struct gs_vecstat *s, uint64_t h)
{
    uint64_t rest = h << HLL_BITS | (UINT64_C(1) << (HLL_BITS - 1));
    uint8_t rank = (uint8_t)(1 + __builtin_clzll(rest));
    uint8_t *m = &s->hll[h >> (64 - HLL_BITS)];
    *m = rank > *m ? rank : *m;
}

int gs_vecstat_add(struct gs_vecstat *s, const uint32_t *v, size_t p)
{
    uint64_t a, b;
    fingerprint(v, p, &a, &b);
    uint32_t hash[GS_VECSTAT_HASH_WORDS] = {(uint32_t)a, (uint32_t)(a >> 32), (uint32_t)b};
    estimate_add(s, mix(a ^ b));
    s->vectors++;
    struct slot *slot = find(s->slot, s->n_slots, hash);
    if (slot->count) {
        slot->count += slot->count < UINT32_MAX;
        return 0;
    }
    if (s->used == s->max_distinct) {
        s->overflowed = true;
        return take_one(s);
    }
    if (4 * (s->used + 1) > 3 * s->n_slots) {
        if (rehash(s, 2 * s->n_slots))
            return -ENOMEM;
        slot = find(s->slot, s->n_slots, hash);
    }
    memcpy(slot->hash, hash, sizeof(hash));
    slot->count = 1;
    s->used++;
    return 0;
}

/* Sifts order[root] down in the heap of n indices. */
static void sift(const uint64_t *times, uint32_t *order, size_t root, size_t n)
{
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && times[order[child + 1]] > times[order[child]])
            child++;
        if (times[order[child]] <= times[order[root]])
            return;
        uint32_t t = order[root];
        order[root] = order[child];
        order[child] = t;
    }
}

void gs_vecstat_ranks(const uint64_t *times, size_t n, uint32_t *ranks, uint32_t *order)
{
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    for (size_t i = n / 2; i-- > 0;)
        sift(times, order, i, n);
    for (size_t i = n; i-- > 1;) {
        uint32_t t = order[0];
        order[0] = order[i];
        order[i] = t;
        sift(times, order, 0, i);
    }
    uint32_t rank = 0;
    for (size_t i = 0; i < n; i++) {
        rank += i && times[order[i]] != times[order[i - 1]];
        ranks[order[i]] = rank;
    }
}

static double estimate(const struct gs_vecstat *s)
{
    double sum = 0, m = HLL_SIZE;
    unsigned empty = 0;
    for (int i = 0; i < HLL_SIZE; i++) {
        sum += ldexp(1, -s->hll[i]);
        empty += s->hll[i] == 0;
    }
    double raw = 0.7213 / (1 + 1.079 / m) * m * m / sum;
    return raw <= 2.5 * m && empty ? m * log(m / empty) : raw;
}

struct gs_vecstat_summary gs_vecstat_summarise(const struct gs_vecstat *s)
{
    struct gs_vecstat_summary r = {.vectors = s->vectors, .exact = !s->overflowed};
    double n = (double)s->vectors, bits = 0;
    for (size_t i = 0; i < s->n_slots; i++) {
        uint32_t c = s->slot[i].count;
        r.mode_count = c > r.mode_count ? c : r.mode_count;
        bits += c ? -(c / n) * log2(c / n) : 0;
    }
    r.mode_count_most = r.mode_count + s->taken;
    r.mode = s->vectors ? (double)r.mode_count / n : 0;
    r.cardinality = r.exact ? (double)s->used : estimate(s);
    r.entropy_bits = r.exact ? bits + 0.0 : NAN;
    return r;
}

int gs_vecstat_save(const struct gs_vecstat *s, FILE *f)
{
    uint64_t head[5] = {s->n_slots, s->max_distinct, s->vectors, s->taken, s->overflowed};
    bool ok = fwrite(magic, sizeof(magic), 1, f) == 1 && fwrite(head, sizeof(head), 1, f) == 1 &&
              fwrite(s->hll, sizeof(s->hll), 1, f) == 1 &&
              fwrite(s->slot, sizeof(*s->slot), s->n_slots, f) == s->n_slots && fflush(f) == 0;
    return ok ? 0 : -EIO;
}

int gs_vecstat_load(struct gs_vecstat **out, FILE *f)
{
    char m[sizeof(magic)];
    uint64_t head[5];
    if (fread(m, sizeof(m), 1, f) != 1 || memcmp(m, magic, sizeof(m)) != 0 || fread(head, sizeof(head), 1, f) != 1)
        return -EINVAL;
    bool sane = head[0] >= FIRST_SLOTS && head[0] <= UINT64_C(1) << 32 && (head[0] & (head[0] - 1)) == 0 && head[1] &&
                head[4] <= 1;
    struct gs_vecstat *s = sane ? gs_vecstat_new((size_t)head[1]) : NULL;
    if (!s)
        return sane ? -ENOMEM : -EINVAL;
    struct slot *slot = calloc(head[0], sizeof(*slot));
    int rc = slot ? 0 : -ENOMEM;
    if (slot) {
        free(s->slot);
        s->slot = slot;
        s->n_slots = (size_t)head[0];
    }
    if (rc == 0 &&
        (fread(s->hll, sizeof(s->hll), 1, f) != 1 || fread(s->slot, sizeof(*slot), s->n_slots, f) != s->n_slots))
        rc = -EINVAL;
    for (size_t i = 0; rc == 0 && i < s->n_slots; i++)
        s->used += s->slot[i].count > 0;
    s->vectors = head[2];
    s->taken = head[3];
    s->overflowed = head[4];
    if (rc == 0 && s->used >= s->n_slots) /* a search would never end */
        rc = -EINVAL;
    if (rc)
        gs_vecstat_free(s);
    else
        *out = s;
    return rc;
}

double gs_vecstat_log10_orders(unsigned p)
{
    return lgamma((double)p + 1) / log(10);
}

uint64_t gs_vecstat_orders(unsigned p)
{
    uint64_t n = 1;
    for (unsigned i = 2; i <= p; i++)
        if (__builtin_mul_overflow(n, i, &n))
            return 0;
    return n;
}

enum { LAST_BELL = 20 };

uint64_t gs_vecstat_weak_orders(unsigned p)
{
    uint64_t bell[LAST_BELL + 1] = {1};
    if (p > LAST_BELL)
        return 0;
    for (unsigned n = 1; n <= p; n++) {
        uint64_t choose = 1; /* of k out of n */
        for (unsigned k = 1; k <= n; k++) {
            uint64_t term;
            choose = choose * (n - k + 1) / k;
            if (__builtin_mul_overflow(choose, bell[n - k], &term) || __builtin_add_overflow(bell[n], term, &bell[n]))
                return 0;
        }
    }
    return bell[p];
}

double gs_vecstat_log10_weak_orders(unsigned p)
{
    uint64_t exact = gs_vecstat_weak_orders(p);
    if (exact)
        return log10((double)exact);
    /* p! / (2 ln(2)^(p + 1)), whose relative error is below 10^-14 from here on */
    return gs_vecstat_log10_orders(p) - log10(2) - (p + 1) * log10(log(2));
}
