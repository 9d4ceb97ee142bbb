/* SPDX-License-Identifier: MIT */
#include "common/json_failure.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/utf8.h"

json_t *gs_text_json(const char *from)
{
    char *copy = strdup(from);
    for (char *c = copy; c && *c;) {
        const size_t n = gs_utf8_bytes(c);
        if (!n)
            *c = '?';
        c += n ? n : 1;
    }
    json_t *j = copy ? json_string(copy) : NULL;
    free(copy);
    return j;
}

static json_t *errors; /* sentences */
static bool printed;

static void keep(const char *sentence)
{
    json_array_append_new(errors, gs_text_json(sentence));
}

static ssize_t count(void *unused, const char *bytes, size_t n)
{
    (void)unused;
    printed |= n > 0;
    for (size_t done = 0; done < n;) {
        const ssize_t m = write(STDOUT_FILENO, bytes + done, n - done);
        if (m < 0 && errno == EINTR)
            continue;
        if (m <= 0)
            return 0;
        done += (size_t)m;
    }
    return (ssize_t)n;
}

void gs_json_failure_begin(void)
{
    FILE *f = fopencookie(NULL, "w", (cookie_io_functions_t){.write = count});
    if (!f)
        return;
    if (isatty(STDOUT_FILENO))
        setvbuf(f, NULL, _IOLBF, BUFSIZ);
    stdout = f;
    errors = json_array();
    gs_log_tell_errors(keep);
}

void gs_json_failure_is_said(void)
{
    printed = true;
}

void gs_json_failure_end(int status)
{
    if (!errors || status == 0 || fflush(stdout) != 0 || printed)
        return;
    if (status > 128 && !json_array_size(errors))
        return; /* Ctrl-C, before anything was known */
    const json_t *first = json_array_get(errors, 0);
    json_t *said = json_pack("{s:s, s:O, s:i}", "error", first ? json_string_value(first) : "standard error says why",
                             "errors", errors, "status", status);
    json_dumpf(said, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(said);
}
