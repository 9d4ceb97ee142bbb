/* SPDX-License-Identifier: MIT */
/* A long accumulator: the exact sum of any number of floats, in any order, and its correctly rounded value (Kulisch;
 * as in Collange, Defour, Graillat and Iakymchuk, "Full-speed deterministic bit-accurate parallel floating-point
 * summation", 2014). The digits are the same that the probe's kernel makes on a device. */
#ifndef GS_PROBES_LONGACC_H
#define GS_PROBES_LONGACC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* digit[i] counts units of 2^(32 * i - 149): 2^-149 is the least subnormal float, 2^128 is beyond the greatest, and 2
 * digits more hold the sums of 2^60 floats. */
enum { GS_LONGACC_DIGITS = 11, GS_LONGACC_UNIT = -149 };

/* Zeroed memory is the empty sum, but for `pending`, which is then 0 too. Digits are signed and may be up to 2^63 in
 * size; gs_longacc_normalise() brings all but the last into 0 ... 2^32 - 1. */
struct gs_longacc {
    int64_t digit[GS_LONGACC_DIGITS];
    uint32_t pending; /* floats added since the last normalisation; each adds less than 2^56 to one digit */
    bool nan, plus_infinity, minus_infinity;
    bool any, not_minus_zero; /* to tell -0 from +0 */
};

void gs_longacc_add(struct gs_longacc *a, float x);
void gs_longacc_add_many(struct gs_longacc *a, const float *x, size_t n);
void gs_longacc_merge(struct gs_longacc *a, const struct gs_longacc *b);
void gs_longacc_normalise(struct gs_longacc *a);

/* Takes a finite value away. */
void gs_longacc_subtract(struct gs_longacc *a, float x);

/* The sum rounded to nearest, ties to even. Infinities and NaN as IEEE 754's addition gives them in any order: NaN for
 * a NaN or infinities of both signs. The empty sum is +0; a sum of nothing but -0 is -0, every other zero +0. */
float gs_longacc_to_float(const struct gs_longacc *a);
double gs_longacc_to_double(const struct gs_longacc *a);

/* -1, 0, 1; of a finite sum. */
int gs_longacc_sign(const struct gs_longacc *a);

#endif
