/* SPDX-License-Identifier: MIT */
#include "tests/access/oracle/plan.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct plan {
    char *text, *at;
    const char *path;
};

static void damaged(const struct plan *p)
{
    fprintf(stderr, "%s: byte %td can't be read\n", p->path, p->at - p->text);
    exit(2);
}

struct plan *plan_open(const char *path)
{
    struct plan *p = calloc(1, sizeof *p);
    FILE *f = fopen(path, "r");
    size_t cap = 0;
    if (!p || !f || getdelim(&p->text, &cap, 0, f) < 0) {
        perror(path);
        exit(2);
    }
    fclose(f);
    p->at = p->text;
    p->path = path;
    return p;
}

void plan_close(struct plan *p)
{
    free(p->text);
    free(p);
}

static void skip_space(struct plan *p)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
}

/* The next word, if it is this letter. */
static bool take(struct plan *p, char letter)
{
    skip_space(p);
    if (*p->at != letter)
        return false;
    p->at++;
    return true;
}

static uint64_t number(struct plan *p)
{
    char *end;
    const uint64_t v = strtoull(p->at, &end, 10);
    if (end == p->at)
        damaged(p);
    p->at = end;
    return v;
}

static void hex(struct plan *p, struct plan_arg *a)
{
    skip_space(p);
    for (a->bytes = 0; isxdigit((unsigned char)p->at[0]) && a->bytes < sizeof a->value; p->at += 2) {
        char two[3] = {p->at[0], p->at[1], 0};
        a->value[a->bytes++] = (unsigned char)strtoul(two, NULL, 16);
    }
    if (a->bytes == 0 || !isspace((unsigned char)*p->at))
        damaged(p);
}

bool plan_next_kernel(struct plan *p, struct plan_kernel *k)
{
    if (!take(p, 'K')) {
        if (*p->at)
            damaged(p);
        return false;
    }
    k->seed = number(p);
    skip_space(p);
    const size_t n = strcspn(p->at, " \n");
    if (n == 0 || n >= sizeof k->name)
        damaged(p);
    memcpy(k->name, p->at, n);
    k->name[n] = 0;
    p->at += n;
    k->n_args = (uint32_t)number(p);
    k->barriers = number(p) != 0;
    if (k->n_args > MACHINE_ARGS)
        damaged(p);
    return true;
}

static void read_arg(struct plan *p, struct plan_arg *a)
{
    memset(a, 0, sizeof *a);
    if (take(p, 'v')) {
        a->kind = PLAN_VALUE;
        hex(p, a);
    } else if (take(p, 'b')) {
        a->kind = PLAN_BUFFER;
        skip_space(p);
        a->contents = *p->at++;
        a->width = (unsigned)number(p);
        a->lo = (int64_t)number(p);
        a->hi = (int64_t)number(p);
    } else if (take(p, 's')) {
        a->kind = PLAN_SAME;
        a->same = (uint32_t)number(p);
    } else if (take(p, 'l')) {
        a->kind = PLAN_LOCAL;
        a->bytes = (uint32_t)number(p);
    } else if (take(p, 'z')) {
        a->kind = PLAN_NULL;
    } else {
        damaged(p);
    }
}

bool plan_next_launch(struct plan *p, const struct plan_kernel *k, struct plan_launch *l)
{
    if (!take(p, 'L'))
        return false;
    l->geometry.dims = (uint32_t)number(p);
    for (unsigned d = 0; d < 3; d++)
        l->geometry.offset[d] = number(p);
    for (unsigned d = 0; d < 3; d++)
        l->geometry.global[d] = number(p);
    for (unsigned d = 0; d < 3; d++)
        l->geometry.local[d] = number(p);
    l->slack = (uint32_t)number(p);
    l->seed = number(p);
    for (uint32_t i = 0; i < k->n_args; i++)
        read_arg(p, &l->args[i]);
    return true;
}
