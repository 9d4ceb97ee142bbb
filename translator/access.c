/* SPDX-License-Identifier: MIT */
/* The text form of access programs. */
#include "translator/access.h"

struct gs_access_program {
    uint32_t n_args;
};

void gs_access_write(struct gs_writer *w, const struct gs_access_program *a)
{
    gs_put_u64(w, a->n_args);
}

const struct gs_access_program *gs_access_parse(struct gs_reader *r, uint32_t n_args)
{
    struct gs_access_program *a = gs_get_alloc(r, 1, sizeof *a);
    if (!a)
        return NULL;
    a->n_args = (uint32_t)gs_get_below(r, (uint64_t)n_args + 1);
    return r->why ? NULL : a;
}
