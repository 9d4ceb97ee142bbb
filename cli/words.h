/* SPDX-License-Identifier: MIT */
/* The words of a command, as execvp() takes them. */
#ifndef GS_CLI_WORDS_H
#define GS_CLI_WORDS_H

#include <limits.h>

#include "common/settings.h"

enum { GS_WORDS = 32 + 4 * GS_MAX_DEVICES };

/* All zeros: no word yet. */
struct gs_words {
    char *v[GS_WORDS + 1]; /* null behind the last */
    unsigned n;
    char ssh[2 * PATH_MAX], timeout[32], alive[2][48]; /* what gs_words_ssh() lets words point to */
};

/* Adds a word, which isn't copied. One that there is no room for is left out. */
void gs_words_add(struct gs_words *w, const char *word);

/* Begins with an ssh that asks nobody anything: the words of GPUSPARC_SSH, and options. It gives up after so long; who
 * is silent for alive_s is asked, and is gone after so many times. No terminal; no forwarding that fails in silence; no
 * connection of another ssh's. */
void gs_words_ssh(struct gs_words *w, int timeout_ms, int alive_s, int times);

#endif
