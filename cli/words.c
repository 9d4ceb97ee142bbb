/* SPDX-License-Identifier: MIT */
#include "cli/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OWN = 8 };

void gs_words_add(struct gs_words *w, const char *word)
{
    if (w->n < GS_WORDS)
        w->v[w->n++] = (char *)word; /* execvp() changes none */
}

void gs_words_ssh(struct gs_words *w, int timeout_ms, int alive_s, int times)
{
    const char *told = getenv("GPUSPARC_SSH");
    char *rest;
    snprintf(w->ssh, sizeof w->ssh, "%s", told && *told ? told : "ssh");
    for (char *word = strtok_r(w->ssh, " ", &rest); word && w->n < MOST_OWN; word = strtok_r(NULL, " ", &rest))
        gs_words_add(w, word);
    snprintf(w->timeout, sizeof w->timeout, "ConnectTimeout=%d", (timeout_ms + 999) / 1000);
    snprintf(w->alive[0], sizeof *w->alive, "ServerAliveInterval=%d", alive_s);
    snprintf(w->alive[1], sizeof *w->alive, "ServerAliveCountMax=%d", times);
    const char *const settings[] = {
        "BatchMode=yes", "ExitOnForwardFailure=yes", "ControlPath=none", w->alive[0], w->alive[1], w->timeout};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        gs_words_add(w, "-o");
        gs_words_add(w, settings[i]);
    }
    gs_words_add(w, "-T");
}
