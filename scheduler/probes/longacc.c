/* SPDX-License-Identifier: MIT */
/* The exact sum of floats, and its correct rounding. */
#include "scheduler/probes/longacc.h"

#include <math.h>
#include <string.h>

enum { DIGIT_BITS = 32, ALL_BITS = DIGIT_BITS * GS_LONGACC_DIGITS, MAX_PENDING = 100 };
_Static_assert(sizeof(float) == 4 && sizeof(double) == 8, "IEEE 754 binary32 and binary64");

static uint32_t bits_of(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof(u));
    return u;
}

static void normalise_digits(int64_t *digit)
{
    int64_t carry = 0;
    for (int i = 0; i + 1 < GS_LONGACC_DIGITS; i++) {
        int64_t v = digit[i] + carry, low = v & (int64_t)UINT32_MAX;
        carry = (v - low) / ((int64_t)1 << DIGIT_BITS); /* exact, and the floor: low is not negative */
        digit[i] = low;
    }
    digit[GS_LONGACC_DIGITS - 1] += carry;
}

void gs_longacc_normalise(struct gs_longacc *a)
{
    normalise_digits(a->digit);
    a->pending = 0;
}

/* Adds sign * |x| for a finite x given by its bits. */
static void add_finite(struct gs_longacc *a, uint32_t u, bool negative)
{
    uint32_t exponent = (u >> 23) & 0xff;
    int64_t mantissa = (int64_t)(u & 0x7fffff) | (exponent ? 0x800000 : 0);
    uint32_t shift = exponent ? exponent - 1 : 0;
    int64_t v = mantissa << (shift % DIGIT_BITS);
    a->digit[shift / DIGIT_BITS] += negative ? -v : v;
    if (++a->pending == MAX_PENDING)
        gs_longacc_normalise(a);
}

void gs_longacc_add(struct gs_longacc *a, float x)
{
    uint32_t u = bits_of(x);
    bool negative = u >> 31;
    a->any = true;
    a->not_minus_zero = a->not_minus_zero || u != UINT32_C(0x80000000);
    if ((u & 0x7f800000) != 0x7f800000) {
        add_finite(a, u, negative);
    } else {
        a->nan = a->nan || (u & 0x7fffff);
        a->plus_infinity = a->plus_infinity || u == UINT32_C(0x7f800000);
        a->minus_infinity = a->minus_infinity || u == UINT32_C(0xff800000);
    }
}

void gs_longacc_add_many(struct gs_longacc *a, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        gs_longacc_add(a, x[i]);
}

void gs_longacc_subtract(struct gs_longacc *a, float x)
{
    a->any = a->not_minus_zero = true;
    add_finite(a, bits_of(x), !(bits_of(x) >> 31));
}

void gs_longacc_merge(struct gs_longacc *a, const struct gs_longacc *b)
{
    struct gs_longacc other = *b;
    gs_longacc_normalise(a);
    gs_longacc_normalise(&other);
    for (int i = 0; i < GS_LONGACC_DIGITS; i++)
        a->digit[i] += other.digit[i];
    gs_longacc_normalise(a);
    a->nan = a->nan || b->nan;
    a->plus_infinity = a->plus_infinity || b->plus_infinity;
    a->minus_infinity = a->minus_infinity || b->minus_infinity;
    a->any = a->any || b->any;
    a->not_minus_zero = a->not_minus_zero || b->not_minus_zero;
}

/* The sum's sign, and its size as digits of 0 ... 2^32 - 1 but for the last. */
static int magnitude(const struct gs_longacc *a, uint64_t *out)
{
    int64_t digit[GS_LONGACC_DIGITS];
    memcpy(digit, a->digit, sizeof(digit));
    normalise_digits(digit);
    bool negative = digit[GS_LONGACC_DIGITS - 1] < 0, any = false;
    for (int i = 0; negative && i < GS_LONGACC_DIGITS; i++)
        digit[i] = -digit[i];
    if (negative)
        normalise_digits(digit);
    for (int i = 0; i < GS_LONGACC_DIGITS; i++) {
        out[i] = (uint64_t)digit[i];
        any = any || digit[i];
    }
    return !any ? 0 : negative ? -1 : 1;
}

int gs_longacc_sign(const struct gs_longacc *a)
{
    uint64_t digit[GS_LONGACC_DIGITS];
    return magnitude(a, digit);
}

static int top_bit(const uint64_t *digit)
{
    for (int i = GS_LONGACC_DIGITS - 1; i >= 0; i--)
        if (digit[i])
            return DIGIT_BITS * i + 63 - __builtin_clzll(digit[i]);
    return -1;
}

static unsigned bit_at(const uint64_t *digit, int bit)
{
    if (bit < 0)
        return 0;
    int i = bit / DIGIT_BITS < GS_LONGACC_DIGITS ? bit / DIGIT_BITS : GS_LONGACC_DIGITS - 1;
    return (unsigned)(digit[i] >> (bit - i * DIGIT_BITS)) & 1;
}

static bool any_below(const uint64_t *digit, int bit)
{
    for (int b = 0; b < bit; b++)
        if (bit_at(digit, b))
            return true;
    return false;
}

/* Rounds to `precision` bits, none of them below bit `lowest` of the accumulator (a format's subnormals). */
static double rounded(const uint64_t *digit, int sign, int precision, int lowest)
{
    int top = top_bit(digit), low = top - precision + 1;
    low = low > lowest ? low : lowest;
    uint64_t m = 0;
    for (int b = top; b >= low; b--)
        m = m << 1 | bit_at(digit, b);
    bool half = bit_at(digit, low - 1);
    if (half && (any_below(digit, low - 1) || (m & 1)))
        m++;
    return sign * ldexp((double)m, low + GS_LONGACC_UNIT); /* at most 2^precision: exact, unless it overflows */
}

/* NaN, infinities and zeros. True where *out is the answer. */
static bool special(const struct gs_longacc *a, int sign, double *out)
{
    if (a->nan || (a->plus_infinity && a->minus_infinity))
        *out = NAN;
    else if (a->plus_infinity || a->minus_infinity)
        *out = a->plus_infinity ? INFINITY : -INFINITY;
    else if (sign == 0)
        *out = a->any && !a->not_minus_zero ? -0.0 : 0.0;
    else
        return false;
    return true;
}

float gs_longacc_to_float(const struct gs_longacc *a)
{
    uint64_t digit[GS_LONGACC_DIGITS];
    int sign = magnitude(a, digit);
    double v;
    if (!special(a, sign, &v))
        v = rounded(digit, sign, 24, 0);
    /* v has at most 24 bits, so only what lies at or beyond 2^128 changes here: it becomes infinite. */
    return (float)v;
}

double gs_longacc_to_double(const struct gs_longacc *a)
{
    uint64_t digit[GS_LONGACC_DIGITS];
    int sign = magnitude(a, digit);
    double v;
    return special(a, sign, &v) ? v : rounded(digit, sign, 53, 0);
}
