/* SPDX-License-Identifier: MIT */
/* Programs of the timing model: from words, and from a path through a PTX kernel. */
#include "gema/timing.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void gs_timing_program_free(struct gs_timing_program *p)
{
    free(p->op);
    free(p->operand);
    memset(p, 0, sizeof(*p));
}

int gs_timing_program_from_ptx(struct gs_timing_program *p, const struct gs_ptx_kernel *k,
                               const struct gs_ptx_trace *trace)
{
    memset(p, 0, sizeof(*p));
    p->op = malloc((trace->n + 1) * sizeof(*p->op));
    p->operand = malloc((k->n_operands + 1) * sizeof(*p->operand));
    if (!p->op || !p->operand) {
        gs_timing_program_free(p);
        return -ENOMEM;
    }
    memcpy(p->operand, k->operand, k->n_operands * sizeof(*p->operand));
    p->n_registers = k->n_names;
    for (size_t i = 0; i < trace->n; i++) {
        const struct gs_ptx_instruction *in = &k->v[trace->v[i]];
        p->op[p->n++] = (struct gs_timing_op){in->class, in->registers, in->n_written, in->n_read};
    }
    return 0;
}

/* Word i writes register i; `distance` > 0: it reads that of the word so far before it. */
static int add(struct gs_timing_program *p, enum gs_ptx_class class, size_t distance)
{
    if ((p->n & (p->n - 1)) == 0) { /* full, as its room is a power of two */
        size_t room = p->n ? 2 * p->n : 1;
        struct gs_timing_op *op = realloc(p->op, room * sizeof(*op));
        if (!op)
            return -ENOMEM;
        p->op = op;
        uint32_t *operand = realloc(p->operand, 2 * room * sizeof(*operand));
        if (!operand)
            return -ENOMEM;
        p->operand = operand;
    }
    uint32_t first = 2 * (uint32_t)p->n;
    p->operand[first] = (uint32_t)p->n;
    p->operand[first + 1] = (uint32_t)(p->n - distance);
    p->op[p->n++] = (struct gs_timing_op){class, first, 1, distance > 0};
    p->n_registers = p->n;
    return 0;
}

static int fail(char *why, size_t why_size, const char *text, const char *at, const char *what)
{
    snprintf(why, why_size, "the program '%.60s' %s at character %td", text, what, at - text + 1);
    return -EINVAL;
}

static int class_of(const char *word, size_t n)
{
    int i = 0;
    while (i < GS_PTX_CLASSES) {
        const char *name = gs_timing_class_word((enum gs_ptx_class)i);
        if (strncmp(name, word, n) == 0 && !name[n])
            break;
        i++;
    }
    return i;
}

/* A number behind *at, or `none` where there is none; capped, so that it can't overflow. */
static size_t read_number(const char **at, size_t none)
{
    size_t v = isdigit((unsigned char)**at) ? 0 : none;
    for (; isdigit((unsigned char)**at); (*at)++)
        v = v > GS_PTX_MAX_TRACE ? v : 10 * v + (size_t)(**at - '0');
    return v;
}

/* One word, its dependency and its repetition. */
static int read_word(struct gs_timing_program *p, const char *text, const char **at, char *why, size_t why_size)
{
    const char *begin = *at;
    size_t n = 0, distance = 0, times = 1;
    while (isalpha((unsigned char)begin[n]))
        n++;
    int class = class_of(begin, n);
    if (n == 0 || class == GS_PTX_CLASSES)
        return fail(why, why_size, text, begin,
                    "has a word that is none of alu sfu lds sts ld st ldc atom bar bra ret");
    *at += n;
    if (**at == '!') {
        (*at)++;
        distance = read_number(at, 1);
        if (distance == 0 || distance > p->n)
            return fail(why, why_size, text, begin, "reads the result of an instruction that isn't there");
    }
    *at += strspn(*at, " \t\n");
    if (**at == 'x') {
        (*at)++;
        times = read_number(at, 0);
        if (times == 0)
            return fail(why, why_size, text, begin, "has an x without a number");
    }
    if (times > GS_PTX_MAX_TRACE - p->n)
        return fail(why, why_size, text, begin, "becomes longer than 1048576 instructions");
    int rc = 0;
    for (size_t i = 0; i < times && rc == 0; i++)
        rc = add(p, (enum gs_ptx_class) class, distance);
    return rc;
}

int gs_timing_program_read(struct gs_timing_program *p, const char *text, char *why, size_t why_size)
{
    memset(p, 0, sizeof(*p));
    const char *at = text;
    int rc = 0;
    while (rc == 0) {
        at += strspn(at, " \t\n,");
        if (!*at)
            break;
        rc = read_word(p, text, &at, why, why_size);
    }
    if (rc == 0 && p->n == 0)
        rc = fail(why, why_size, text, at, "has no instruction");
    if (rc == -ENOMEM)
        snprintf(why, why_size, "there is not enough memory for the program");
    if (rc)
        gs_timing_program_free(p);
    return rc;
}
