/* SPDX-License-Identifier: MIT */
/* gpusparc-translate: a request on standard input, the reply on standard output. Run by gs_translate. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/log.h"
#include "translator/translation.h"

/* Reads everything. NULL where that fails. */
static char *read_all(int fd, size_t *bytes)
{
    size_t cap = 1 << 16;
    char *text = malloc(cap);
    *bytes = 0;
    while (text) {
        ssize_t n = read(fd, text + *bytes, cap - *bytes);
        if (n == 0)
            return text;
        if (n < 0 && errno != EINTR)
            break;
        *bytes += n > 0 ? (size_t)n : 0;
        char *grown = *bytes < cap ? text : realloc(text, cap *= 2);
        if (!grown)
            break;
        text = grown;
    }
    free(text);
    return NULL;
}

static int write_all(int fd, const char *text, size_t bytes)
{
    while (bytes > 0) {
        ssize_t n = write(fd, text, bytes);
        if (n < 0 && errno != EINTR)
            return -errno;
        text += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

int main(int argc, char **argv)
{
    (void)argv;
    gs_log_init("gpusparc-translate");
    if (argc > 1 || isatty(STDIN_FILENO)) {
        gs_error("this is a part of gpusparc, which runs it by itself; see `gpusparc explain` for what it does");
        return 2;
    }
    size_t bytes;
    char *text = read_all(STDIN_FILENO, &bytes);
    if (!text) {
        gs_error("the request can't be read");
        return 1;
    }
    struct gs_writer out = {0};
    const char *why = gs_translation(text, bytes, &out);
    int failed = why || out.failed || write_all(STDOUT_FILENO, out.text, out.bytes) != 0;
    if (why)
        gs_error("the request can't be read: %s", why);
    free(text);
    free(out.text);
    return failed;
}
