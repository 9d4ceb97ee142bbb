/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>

#include "translator/summary/summary.h"

/* Drivers find them anywhere among the options (PoCL), so do we. Those that are not here have changed no bit between a
 * kernel and its translation: docs/translator.md has the measurements. */
static const char *const reordering[] = {"-cl-fast-relaxed-math", "-cl-unsafe-math-optimizations"};

/* Words of pragmas that do the same for a part of the text: `clang fp reassociate(on)`, `float_control(precise, off)`.
 */
static const char *const pragmas[] = {"reassociate", "float_control"};

static const char *find(const char *text, const char *const *words, size_t n)
{
    for (size_t i = 0; text && i < n; i++)
        if (strstr(text, words[i]))
            return words[i];
    return NULL;
}

const char *gs_reordering_option(const char *options)
{
    return find(options, reordering, sizeof reordering / sizeof *reordering);
}

const char *gs_reordering_pragma(const struct gs_summary *s)
{
    const char *found = NULL;
    for (uint32_t i = 0; s && i < s->n_units && !found; i++)
        found = find(s->units[i], pragmas, sizeof pragmas / sizeof *pragmas);
    return found;
}

void gs_summary_reorders(struct gs_summary *s, bool relaxed)
{
    for (uint32_t i = 0; i < s->n_kernels; i++)
        s->kernels[i].reorders = relaxed && s->kernels[i].hidden;
}
