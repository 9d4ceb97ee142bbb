/* SPDX-License-Identifier: MIT */
#include "common/options.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"

enum { MOST_LETTERS = 40 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Letters to be changed, added, removed or exchanged with their neighbours to make b of a (optimal string alignment).
 */
static size_t distance(const char *a, const char *b)
{
    const size_t n = strlen(a), m = strlen(b);
    size_t d[MOST_LETTERS + 1][MOST_LETTERS + 1];
    if (n > MOST_LETTERS || m > MOST_LETTERS)
        return MOST_LETTERS;
    for (size_t i = 0; i <= n; i++)
        d[i][0] = i;
    for (size_t j = 0; j <= m; j++)
        d[0][j] = j;
    for (size_t i = 1; i <= n; i++)
        for (size_t j = 1; j <= m; j++) {
            d[i][j] = least(d[i - 1][j - 1] + (a[i - 1] != b[j - 1]), least(d[i - 1][j], d[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[n][m];
}

const char *gs_nearest(const char *word, const char *(*name)(const void *list, size_t i), const void *list)
{
    const size_t letters = strlen(word);
    const char *best = NULL;
    size_t fewest = letters < 4 ? 2 : letters / 3 + 2; /* so many are too many */
    for (size_t i = 0; name(list, i); i++) {
        const char *candidate = name(list, i);
        const size_t wrong = letters > 1 && strncmp(candidate, word, letters) == 0 ? 0 : distance(word, candidate);
        if (wrong < fewest) {
            fewest = wrong;
            best = candidate;
        }
    }
    return best;
}

static const char *option_name(const void *list, size_t i)
{
    return ((const struct option *)list)[i].name;
}

/* The option of that name, which is there. */
static const struct option *find_option(const struct option *options, const char *name)
{
    while (strcmp(options->name, name) != 0)
        options++;
    return options;
}

/* The letter of an option of one letter, of which there are none; 0: it isn't that. Several may stand in one word,
 * which getopt then hasn't left yet. */
static int short_option(char *const *argv)
{
    const char *last = argv[optind - 1], *next = argv[optind];
    const bool within = next && next[0] == '-' && next[1] == optopt && next[2];
    return optopt && (within || last[0] != '-' || last[1] != '-') ? optopt : 0;
}

void gs_option_why(char *why, size_t bytes, char *const *argv, const struct option *options)
{
    const char *word = argv[optind - 1] + 2;
    char name[64];
    if (short_option(argv)) {
        snprintf(why, bytes, "there is no option '-%c'", short_option(argv));
        return;
    }
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    const char *meant = gs_nearest(name, option_name, options);
    /* getopt knows it, or takes it for the beginning of one, but for its value. */
    if (optopt && meant)
        snprintf(why, bytes,
                 find_option(options, meant)->has_arg == no_argument ? "--%s takes no value" : "--%s needs a value",
                 meant);
    else if (meant)
        snprintf(why, bytes, "there is no option '--%s'; did you mean --%s?", name, meant);
    else
        snprintf(why, bytes, "there is no option '--%s'", name);
}

void gs_usage_error(const char *why, const char *command)
{
    const size_t n = strlen(why);
    gs_error("%s%s see %s --help", why, n && why[n - 1] == '?' ? "" : ";", command);
}

void gs_option_error(char *const *argv, const struct option *options, const char *command)
{
    char why[256];
    gs_option_why(why, sizeof why, argv, options);
    gs_usage_error(why, command);
}
