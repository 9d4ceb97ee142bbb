/* SPDX-License-Identifier: MIT */
/* Values with units, and the list of mistakes. */
#include "common/config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const gs_resource_names[GS_RESOURCES] = {"cpu", "pci", "gpu"};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A decimal number with an optional fraction, times `unit`, exactly. Reads text[0..length). */
static int parse_scaled(const char *text, size_t length, uint64_t unit, uint64_t max, uint64_t *out)
{
    uint64_t whole = 0, fraction = 0, scale = 1;
    size_t i = 0, digits = 0;
    for (; i < length && is_digit(text[i]); i++, digits++)
        if (__builtin_mul_overflow(whole, 10u, &whole) ||
            __builtin_add_overflow(whole, (uint64_t)(text[i] - '0'), &whole))
            return -ERANGE;
    if (i < length && text[i] == '.') {
        size_t end = length;
        while (end > i + 1 && text[end - 1] == '0')
            end--; /* 1.50 is 1.5 */
        for (i++; i < end && is_digit(text[i]); i++, digits++) {
            if (scale > UINT64_C(1000000000000))
                return -EINVAL;
            fraction = fraction * 10 + (uint64_t)(text[i] - '0');
            scale *= 10;
        }
        if (i == end) {
            digits += length - end;
            i = length;
        }
    }
    if (i != length || !digits)
        return -EINVAL;
    uint64_t part;
    if (__builtin_mul_overflow(whole, unit, &whole) || __builtin_mul_overflow(fraction, unit, &part))
        return -ERANGE;
    if (part % scale)
        return -EINVAL;
    if (__builtin_add_overflow(whole, part / scale, out) || *out > max)
        return -ERANGE;
    return 0;
}

struct unit {
    const char *name;
    uint64_t factor;
};

static int parse_with_unit(const char *text, size_t length, const struct unit *units, uint64_t max, uint64_t *out)
{
    size_t number = 0;
    if (length && text[0] == '-')
        return -ERANGE;
    while (number < length && (is_digit(text[number]) || text[number] == '.'))
        number++;
    size_t unit = number;
    while (unit < length && text[unit] == ' ')
        unit++;
    for (; units->name; units++)
        if (strlen(units->name) == length - unit && memcmp(units->name, text + unit, length - unit) == 0)
            return parse_scaled(text, number, units->factor, max, out);
    return -EINVAL;
}

int gs_parse_duration(const char *text, size_t length, int64_t *ns)
{
    static const struct unit units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {NULL, 0}};
    uint64_t v;
    /* Zero is the same in every unit. */
    if (length == 1 && text[0] == '0') {
        *ns = 0;
        return 0;
    }
    int rc = parse_with_unit(text, length, units, (uint64_t)GS_CONFIG_MAX_NS, &v);
    if (!rc)
        *ns = (int64_t)v;
    return rc;
}

int gs_parse_bytes(const char *text, size_t length, uint64_t *bytes)
{
    static const struct unit units[] = {
        {"", 1}, {"B", 1}, {"KiB", 1024}, {"MiB", 1024 * 1024}, {"GiB", 1024 * 1024 * 1024}, {NULL, 0}};
    return parse_with_unit(text, length, units, UINT64_C(1) << 48, bytes);
}

int gs_parse_uid(const char *text, uint32_t *uid)
{
    uint64_t v;
    /* The largest one means "none". */
    if (memchr(text, '.', strlen(text)) || parse_scaled(text, strlen(text), 1, UINT32_MAX - 1, &v))
        return -EINVAL;
    *uid = (uint32_t)v;
    return 0;
}

char *gs_format_duration(int64_t ns, char buf[GS_DURATION_SIZE])
{
    static const struct unit units[] = {{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        int64_t f = (int64_t)units[i].factor;
        if (ns < f || (f == 1000000000 && ns % 1000))
            continue;
        char fraction[16];
        int n = snprintf(fraction, sizeof fraction, "%09" PRId64, ns % f * (1000000000 / f));
        while (n > 0 && fraction[n - 1] == '0')
            fraction[--n] = 0;
        snprintf(buf, GS_DURATION_SIZE, "%" PRId64 "%s%s%s", ns / f, n ? "." : "", fraction, units[i].name);
        return buf;
    }
    snprintf(buf, GS_DURATION_SIZE, "%" PRId64 "ns", ns);
    return buf;
}

char *gs_show_duration(int64_t ns, enum gs_rounding rounding, char buf[GS_DURATION_SIZE])
{
    int64_t unit = 1;
    while (ns / unit >= 100000)
        unit *= 10;
    const int64_t add = rounding == GS_ROUND_UP ? unit - 1 : rounding == GS_ROUND_DOWN ? 0 : unit / 2;
    return gs_format_duration((ns + add) / unit * unit, buf);
}

/* More than this nobody reads. */
enum { MAX_MISTAKES = 500 };

int gs_mistakes_add(struct gs_mistakes *m, int line, const char *fmt, ...)
{
    if (m->n > MAX_MISTAKES)
        return 0;
    if (m->n == MAX_MISTAKES)
        fmt = "more mistakes follow, which are not listed";
    struct gs_mistake *v = realloc(m->v, (m->n + 1) * sizeof *v);
    if (!v)
        return -ENOMEM;
    m->v = v;
    char *text;
    va_list ap;
    va_start(ap, fmt);
    int n = vasprintf(&text, fmt, ap);
    va_end(ap);
    if (n < 0)
        return -ENOMEM;
    v[m->n++] = (struct gs_mistake){line, text};
    return 0;
}

/* Stable, so that two mistakes of one line stay in the order in which they were found. */
void gs_mistakes_sort(struct gs_mistakes *m)
{
    for (size_t i = 1; i < m->n; i++) {
        struct gs_mistake x = m->v[i];
        size_t j = i;
        for (; j > 0 && m->v[j - 1].line > x.line; j--)
            m->v[j] = m->v[j - 1];
        m->v[j] = x;
    }
}

void gs_mistakes_print(const struct gs_mistakes *m, const char *path)
{
    for (size_t i = 0; i < m->n; i++) {
        if (m->v[i].line)
            fprintf(stderr, "%s:%d: %s\n", path, m->v[i].line, m->v[i].text);
        else
            fprintf(stderr, "%s: %s\n", path, m->v[i].text);
    }
}

void gs_mistakes_free(struct gs_mistakes *m)
{
    for (size_t i = 0; i < m->n; i++)
        free(m->v[i].text);
    free(m->v);
    *m = (struct gs_mistakes){0};
}
