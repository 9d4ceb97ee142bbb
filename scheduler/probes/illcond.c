/* SPDX-License-Identifier: MIT */
/* Vectors of floats with a prescribed condition number of their sum. */
#include "scheduler/probes/illcond.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { LEAST_N = 6, STEERING = 4 };

uint64_t gs_probe_random(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * UINT64_C(2685821657736338717);
}

/* Uniform in (-1, 1), with all 24 bits of a float. */
static double uniform(uint64_t *state)
{
    return ((double)(gs_probe_random(state) >> 11) + 0.5) * 0x1p-52 - 1;
}

struct build {
    float *x;
    size_t n;
    struct gs_longacc sum, size; /* exact sums of x and of |x| */
};

static void append(struct build *b, float v)
{
    b->x[b->n++] = v;
    gs_longacc_add(&b->sum, v);
    gs_longacc_add(&b->size, fabsf(v));
}

/* Appends what brings the exact sum as near to `target` as one float can. */
static void append_towards(struct build *b, double target)
{
    struct gs_longacc d = b->sum;
    float t = (float)target;
    gs_longacc_subtract(&d, t);
    append(b, -gs_longacc_to_float(&d));
}

/* Half of the vector spreads over all magnitudes up to 2^bits, the other half cancels it while its own size falls. */
static void spread_and_cancel(struct build *b, size_t n, double bits, uint64_t *state)
{
    size_t half = n / 2;
    append(b, (float)ldexp(uniform(state) < 0 ? -0.75 : 0.75, (int)lrint(bits)));
    while (b->n < half)
        append(b, (float)ldexp(uniform(state), (int)lrint(bits * fabs(uniform(state)))));
    while (b->n < n) {
        double left = (double)(n - b->n) / (double)(n - half);
        append_towards(b, ldexp(uniform(state), (int)lrint(bits * left)));
    }
}

static void shuffle(float *x, size_t n, uint64_t *state)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)(gs_probe_random(state) % i);
        float t = x[i - 1];
        x[i - 1] = x[j];
        x[j] = t;
    }
}

int gs_illcond_generate(float *x, size_t n, double condition, uint64_t seed, struct gs_longacc *sum, double *reached)
{
    if (n < LEAST_N || !(condition >= 1 && condition <= 1e30))
        return -EINVAL;
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    state = state ? state : 1;
    struct build b = {.x = x};
    if (condition < 4) { /* nothing to cancel: numbers of one sign, but for one that lifts the condition */
        while (b.n + 1 < n)
            append(&b, (float)(0.5 + 0.5 * fabs(uniform(&state))));
        append(&b, (float)(-gs_longacc_to_double(&b.sum) * (condition - 1) / (condition + 1)));
    } else {
        spread_and_cancel(&b, n - STEERING, log2(condition), &state);
        /* The last ones steer the sum to sum |x| / condition. Each is as exact as a float is; the next mends its rest.
         */
        for (int i = 0; i < STEERING; i++)
            append_towards(&b, gs_longacc_to_double(&b.size) / condition);
    }
    *sum = b.sum;
    *reached = gs_longacc_to_double(&b.size) / fabs(gs_longacc_to_double(&b.sum));
    shuffle(x, n, &state);
    return 0;
}
