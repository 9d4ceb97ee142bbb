/* SPDX-License-Identifier: MIT */
#include "tests/probes/vectors.h"

#include <math.h>
#include <string.h>

#include "scheduler/probes/illcond.h"

static float from_bits(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof(x));
    return x;
}

uint32_t bits_of(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof(u));
    return u;
}

static float any_finite(uint64_t *rng)
{
    float x;
    do
        x = from_bits((uint32_t)(gs_probe_random(rng) >> 32));
    while (!isfinite(x));
    return x;
}

static float in_exponents(int low, int high, uint64_t *rng)
{
    double m = (double)(1 + gs_probe_random(rng) % 0xffffff) * 0x1p-24;
    int e = low + (int)(gs_probe_random(rng) % (uint64_t)(high - low + 1));
    return (float)ldexp(gs_probe_random(rng) >> 63 ? m : -m, e);
}

/* Vectors of several kinds, each of which is hard in another way. */
size_t adversarial(float *x, uint64_t *rng)
{
    size_t n = 1 + (size_t)(gs_probe_random(rng) % VECTOR_MAX);
    unsigned kind = (unsigned)(gs_probe_random(rng) % 8);
    for (size_t i = 0; i < n; i++) {
        switch (kind) {
        case 0:
            x[i] = any_finite(rng);
            break;
        case 1:
            x[i] = in_exponents(-148, -120, rng); /* subnormals */
            break;
        case 2:
            x[i] = i % 2 ? -x[i - 1] : in_exponents(-20, 20, rng); /* cancels wholly, but for an odd one */
            break;
        case 3:
            x[i] = i % 3 == 0 ? 0x1p127f : i % 3 == 1 ? -0x1p127f : in_exponents(-149, -140, rng);
            break;
        case 4:
            x[i] = ldexpf(1, 24 - (int)(i % 49)); /* carries and ties */
            break;
        case 5:
            x[i] = i ? ldexpf(gs_probe_random(rng) >> 63 ? 1 : -1, -24) : 1; /* half units in the last place */
            break;
        case 6:
            x[i] = 0x1.fffffep127f; /* the greatest float again and again: overflows */
            break;
        default:
            x[i] = gs_probe_random(rng) >> 63 ? 0.0f : in_exponents(0, 1, rng);
        }
    }
    return n;
}

void shuffle(float *x, size_t n, uint64_t *rng)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)(gs_probe_random(rng) % i);
        float t = x[i - 1];
        x[i - 1] = x[j];
        x[j] = t;
    }
}
