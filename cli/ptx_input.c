/* SPDX-License-Identifier: MIT */
/* The options that name a path through a PTX kernel. */
#include "cli/ptx_input.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/file.h"
#include "common/log.h"

bool cli_read_number(const char *text, uint64_t least, uint64_t most, const char *option, uint64_t *value)
{
    char *end = NULL;
    errno = 0;
    unsigned long long v = isdigit((unsigned char)*text) ? strtoull(text, &end, 10) : 0;
    if (end && !*end && !errno && v >= least && v <= most) {
        *value = v;
        return true;
    }
    gs_error("%s wants a number from %" PRIu64 " to %" PRIu64 ", not '%s'", option, least, most, text);
    return false;
}

char *cli_read_file(const char *path)
{
    char *text;
    size_t bytes;
    const int err = gs_read_file(path, GS_FILE_TEXT, &text, &bytes);
    if (err < 0)
        gs_error("%s could not be read: %s", path, strerror(-err));
    return text;
}

/* Splits "NAME=N"; the copy of NAME is owned by p. Null with a message. */
static const char *split(struct ptx_input *p, const char *text, const char *option, uint64_t most, uint64_t *n)
{
    const char *eq = strrchr(text, '=');
    if (!eq || eq == text) {
        gs_error("%s wants NAME=N, not '%s'", option, text);
        return NULL;
    }
    if (!cli_read_number(eq + 1, 1, most, option, n))
        return NULL;
    char **owned = realloc(p->owned, (p->n_owned + 1) * sizeof(*owned));
    char *name = strndup(text, (size_t)(eq - text));
    if (owned)
        p->owned = owned;
    if (!owned || !name) {
        free(name);
        gs_error("there is not enough memory to read the options");
        return NULL;
    }
    return p->owned[p->n_owned++] = name;
}

static bool add_loop(struct ptx_input *p, const char *text)
{
    uint64_t n;
    const char *name = split(p, text, "--loop", GS_PTX_MAX_TRACE, &n);
    struct gs_ptx_loop *v = name ? realloc(p->loop, (p->walk.n_loops + 1) * sizeof(*v)) : NULL;
    if (!v)
        return false;
    p->loop = v;
    v[p->walk.n_loops++] = (struct gs_ptx_loop){name, n};
    p->walk.loop = v;
    return true;
}

static bool add_expand(struct ptx_input *p, const char *text)
{
    uint64_t n;
    const char *name = split(p, text, "--expand", 10000, &n);
    struct gs_ptx_expand *v = name ? realloc(p->expand, (p->walk.n_expand + 1) * sizeof(*v)) : NULL;
    if (!v)
        return false;
    p->expand = v;
    v[p->walk.n_expand++] = (struct gs_ptx_expand){name, (unsigned)n};
    p->walk.expand = v;
    return true;
}

bool ptx_input_option(struct ptx_input *p, int option, const char *argument)
{
    switch (option) {
    case PTX_FILE:
        p->file = argument;
        return true;
    case PTX_KERNEL:
        p->kernel = argument;
        return true;
    case PTX_PATH:
        p->walk.path = argument;
        return true;
    case PTX_LOOP:
        return add_loop(p, argument);
    case PTX_EXPAND:
        return add_expand(p, argument);
    default:
        return false;
    }
}

void ptx_input_free(struct ptx_input *p)
{
    for (size_t i = 0; i < p->n_owned; i++)
        free(p->owned[i]);
    free(p->owned);
    free(p->loop);
    free(p->expand);
}

bool ptx_input_read(const struct ptx_input *p, struct gs_ptx_kernel *kernel, struct gs_ptx_trace *trace)
{
    char why[300];
    char *text = cli_read_file(p->file);
    if (!text)
        return false;
    int rc = gs_ptx_parse(kernel, text, p->kernel, why, sizeof(why));
    free(text);
    if (rc == 0) {
        rc = gs_ptx_walk(kernel, &p->walk, trace, why, sizeof(why));
        if (rc)
            gs_ptx_kernel_free(kernel);
    }
    if (rc)
        gs_error("%s: %s", p->file, why);
    return rc == 0;
}
