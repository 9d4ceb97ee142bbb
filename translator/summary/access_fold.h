/* SPDX-License-Identifier: MIT */
/* What two constants come to. A value is what C has in a type: of a U64 of 2^63 and more, its bits. */
#ifndef GS_TRANSLATOR_SUMMARY_ACCESS_FOLD_H
#define GS_TRANSLATOR_SUMMARY_ACCESS_FOLD_H

#include "translator/summary/access_program.h"

static inline int64_t gs_int_wrap(uint8_t type, int64_t v)
{
    const unsigned unused = 64 - gs_int_bits(type);
    const uint64_t raw = (uint64_t)v << unused;
    return gs_int_signed(type) ? (int64_t)raw >> unused : (int64_t)(raw >> unused);
}

/* x op y in `type`, to be wrapped to that type; a comparison compares operands of type `of`. False: C leaves the result
 * undefined, 64 bits don't hold it, or `op` hasn't two operands. */
static inline bool gs_int_fold(uint8_t op, uint8_t type, uint8_t of, int64_t x, int64_t y, int64_t *v)
{
    const bool is_signed = gs_int_signed(type), less = gs_int_signed(of) ? x < y : (uint64_t)x < (uint64_t)y;
    const uint64_t ux = (uint64_t)x, uy = (uint64_t)y;
    const unsigned shift = (unsigned)(uy % gs_int_bits(type));
    switch (op) {
    case GS_N_ADD:
        *v = (int64_t)(ux + uy);
        return true;
    case GS_N_SUB:
        *v = (int64_t)(ux - uy);
        return true;
    case GS_N_MUL:
        *v = (int64_t)(ux * uy);
        return true;
    case GS_N_DIV:
    case GS_N_REM:
        if (y == 0 || (is_signed && x == INT64_MIN && y == -1))
            return false;
        if (is_signed)
            *v = op == GS_N_DIV ? x / y : x % y;
        else
            *v = (int64_t)(op == GS_N_DIV ? ux / uy : ux % uy);
        return true;
    case GS_N_SHL:
        *v = (int64_t)(ux << shift);
        return true;
    case GS_N_SHR:
        *v = is_signed ? x >> shift : (int64_t)(ux >> shift);
        return true;
    case GS_N_AND:
        *v = x & y;
        return true;
    case GS_N_OR:
        *v = x | y;
        return true;
    case GS_N_XOR:
        *v = x ^ y;
        return true;
    case GS_N_MIN:
    case GS_N_MAX:
        *v = (is_signed ? x < y : ux < uy) == (op == GS_N_MIN) ? x : y;
        return true;
    case GS_N_EQ:
        *v = x == y;
        return true;
    case GS_N_LT:
        *v = less;
        return true;
    case GS_N_LE:
        *v = less || x == y;
        return true;
    case GS_N_LAND:
        *v = x && y;
        return true;
    case GS_N_LOR:
        *v = x || y;
        return true;
    default:
        return false;
    }
}

#endif
