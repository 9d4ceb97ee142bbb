/* SPDX-License-Identifier: MIT */
#include "cli/json_failure.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/mistakes_json.h"
#include "common/log.h"

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

void gs_json_failure_end(int status)
{
    if (!errors || status == GS_EXIT_OK || fflush(stdout) != 0 || printed)
        return;
    if (status > 128 && !json_array_size(errors))
        return; /* gpusparc-probe was stopped, and has printed what it knows */
    const json_t *first = json_array_get(errors, 0);
    json_t *said = json_pack("{s:s, s:O, s:i}", "error", first ? json_string_value(first) : "standard error says why",
                             "errors", errors, "status", status);
    json_dumpf(said, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(said);
}
