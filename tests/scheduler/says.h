/* SPDX-License-Identifier: MIT */
/* Does a text have a sentence of docs/messages.md? tests/docs/messages.sh asks for such a test for each sentence. */
#ifndef GS_TESTS_SCHEDULER_SAYS_H
#define GS_TESTS_SCHEDULER_SAYS_H

#include <stdbool.h>
#include <string.h>

/* `sentence` as the page has it: anything may stand in the text where the sentence has %s or the like. */
static inline bool says(const char *text, const char *sentence)
{
    char piece[512];
    while (text && *sentence) {
        const size_t n = strcspn(sentence, "%");
        if (n >= sizeof piece)
            return false;
        memcpy(piece, sentence, n);
        piece[n] = '\0';
        text = strstr(text, piece);
        sentence += n;
        if (text)
            text += n;
        if (*sentence)
            sentence += strcspn(sentence, "sdu") + 1;
    }
    return text != NULL;
}

#endif
