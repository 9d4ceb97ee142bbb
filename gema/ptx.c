/* SPDX-License-Identifier: MIT */
/* Reads the instructions of one kernel from PTX text. */
#include "gema/ptx.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct label {
    uint32_t name;
    size_t at; /* index of the instruction that follows */
};

struct reader {
    const char *text, *at;
    unsigned line;
    struct gs_ptx_kernel *k;
    struct label *label;
    size_t n_labels, room_labels, room, room_operands, room_names;
    char *why;
    size_t why_size;
};

static int fail(struct reader *r, unsigned line, const char *what, const char *name)
{
    snprintf(r->why, r->why_size, "line %u: %s%s%.60s%s", line, what, *name ? " '" : "", name, *name ? "'" : "");
    return -EINVAL;
}

static void advance(struct reader *r)
{
    r->line += *r->at == '\n';
    r->at++;
}

static void skip_line(struct reader *r)
{
    while (*r->at && *r->at != '\n')
        advance(r);
}

static void skip_space(struct reader *r)
{
    for (;;) {
        if (isspace((unsigned char)*r->at)) {
            advance(r);
        } else if (r->at[0] == '/' && r->at[1] == '/') {
            skip_line(r);
        } else if (r->at[0] == '/' && r->at[1] == '*') {
            while (*r->at && !(r->at[0] == '*' && r->at[1] == '/'))
                advance(r);
            r->at += *r->at ? 2 : 0;
        } else {
            return;
        }
    }
}

static bool in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

/* Grows an array by doubling. */
static int reserve(void **v, size_t *room, size_t n, size_t size)
{
    if (n < *room)
        return 0;
    size_t more = 2 * *room + 64;
    void *p = realloc(*v, more * size);
    if (!p)
        return -ENOMEM;
    *v = p;
    *room = more;
    return 0;
}

/* The index of a name, or -ENOMEM. Kernels have some hundred names, so a plain search will do. */
static int64_t intern(struct reader *r, const char *s, size_t n)
{
    struct gs_ptx_kernel *k = r->k;
    for (size_t i = k->n_names; i-- > 0;)
        if (strncmp(k->name[i], s, n) == 0 && !k->name[i][n])
            return (int64_t)i;
    if (reserve((void **)&k->name, &r->room_names, k->n_names, sizeof(*k->name)))
        return -ENOMEM;
    k->name[k->n_names] = strndup(s, n);
    return k->name[k->n_names] ? (int64_t)k->n_names++ : -ENOMEM;
}

/* Whether `part` stands between points in the opcode. */
static bool has_part(const char *opcode, const char *part)
{
    size_t n = strlen(part);
    for (const char *p = strchr(opcode, '.'); p; p = strchr(p + 1, '.'))
        if (strncmp(p + 1, part, n) == 0 && !isalnum((unsigned char)p[1 + n]))
            return true;
    return false;
}

static bool base_is(const char *opcode, const char *list)
{
    size_t n = strcspn(opcode, ".");
    for (const char *p = list; *p; p += strspn(p, " ")) {
        size_t len = strcspn(p, " ");
        if (len == n && strncmp(p, opcode, n) == 0)
            return true;
        p += len;
    }
    return false;
}

static enum gs_ptx_class classify(const char *op)
{
    bool shared = has_part(op, "shared");
    if (base_is(op, "ld ldu"))
        return shared                                           ? GS_PTX_SHARED_LOAD
               : has_part(op, "param") || has_part(op, "const") ? GS_PTX_CONSTANT_LOAD
                                                                : GS_PTX_GLOBAL_LOAD;
    if (base_is(op, "st"))
        return shared ? GS_PTX_SHARED_STORE : GS_PTX_GLOBAL_STORE;
    if (base_is(op, "ldmatrix"))
        return GS_PTX_SHARED_LOAD;
    if (base_is(op, "stmatrix"))
        return GS_PTX_SHARED_STORE;
    if (base_is(op, "tex tld4 suld cp prefetch prefetchu"))
        return GS_PTX_GLOBAL_LOAD;
    if (base_is(op, "sust sured"))
        return GS_PTX_GLOBAL_STORE;
    if (base_is(op, "atom red"))
        return GS_PTX_ATOMIC;
    if (base_is(op, "bar barrier") && (has_part(op, "sync") || has_part(op, "red")) && !has_part(op, "warp"))
        return GS_PTX_BARRIER;
    if (base_is(op, "bra brx call"))
        return GS_PTX_BRANCH;
    if (base_is(op, "ret exit trap"))
        return GS_PTX_RETURN;
    if (base_is(op, "sin cos ex2 lg2 tanh rcp rsqrt sqrt div rem"))
        return GS_PTX_SPECIAL;
    return GS_PTX_ARITHMETIC;
}

/* Whether the first operand is written. */
static bool has_result(const char *op)
{
    return !base_is(op, "st stmatrix red sust sured bra brx call ret exit trap bar barrier membar fence prefetch "
                        "prefetchu cp nanosleep pmevent brkpt discard applypriority mbarrier");
}

static int add_operand(struct reader *r, const char *s, size_t n)
{
    struct gs_ptx_kernel *k = r->k;
    int64_t name = intern(r, s, n);
    if (name < 0 || reserve((void **)&k->operand, &r->room_operands, k->n_operands, sizeof(*k->operand)))
        return -ENOMEM;
    k->operand[k->n_operands++] = (uint32_t)name;
    return 0;
}

/* Reads the operands up to the semicolon: registers of the first one are written, if the instruction has a result. */
static int read_operands(struct reader *r, struct gs_ptx_instruction *in)
{
    bool result = has_result(in->opcode);
    unsigned depth = 0, read = in->n_read, written = 0;
    size_t first = r->k->n_operands;
    while (skip_space(r), *r->at && *r->at != ';') {
        const char *s = r->at;
        if (*s == '{' || *s == '[' || *s == '(')
            depth++;
        if ((*s == '}' || *s == ']' || *s == ')') && depth)
            depth--;
        if (*s == ',' && depth == 0)
            result = false;
        if (!in_name(*s)) {
            advance(r);
            continue;
        }
        while (in_name(*r->at) || (*r->at == '.' && in_name(r->at[1])))
            r->at++;
        if (isdigit((unsigned char)*s))
            continue;
        size_t n = (size_t)(r->at - s);
        if (*s == '%')
            n = strcspn(s, ".") < n ? strcspn(s, ".") : n; /* a vector's component stands for the vector */
        if (add_operand(r, s, n))
            return -ENOMEM;
        written += result;
        read += !result;
    }
    if (*r->at != ';')
        return fail(r, in->line, "the instruction doesn't end in a semicolon:", in->opcode);
    advance(r);
    /* The predicate was read first but belongs behind what is written. */
    if (in->n_read && written) {
        uint32_t predicate = r->k->operand[first - 1];
        memmove(&r->k->operand[first - 1], &r->k->operand[first], written * sizeof(uint32_t));
        r->k->operand[first - 1 + written] = predicate;
    }
    in->n_written = (uint16_t)written;
    in->n_read = (uint16_t)read;
    return 0;
}

static int read_predicate(struct reader *r, struct gs_ptx_instruction *in)
{
    advance(r);
    skip_space(r);
    if (*r->at == '!')
        advance(r);
    const char *s = r->at;
    while (in_name(*r->at))
        r->at++;
    in->predicated = true;
    in->n_read = 1;
    return add_operand(r, s, (size_t)(r->at - s));
}

static int read_instruction(struct reader *r)
{
    struct gs_ptx_kernel *k = r->k;
    if (reserve((void **)&k->v, &r->room, k->n, sizeof(*k->v)))
        return -ENOMEM;
    struct gs_ptx_instruction in = {.line = r->line, .target = GS_PTX_NO_TARGET, .registers = (uint32_t)k->n_operands};
    if (*r->at == '@' && read_predicate(r, &in))
        return -ENOMEM;
    skip_space(r);
    in.line = r->line;
    size_t n = 0;
    while (in_name(*r->at) || *r->at == '.' || *r->at == ':') {
        if (n + 1 < sizeof(in.opcode))
            in.opcode[n++] = *r->at;
        r->at++;
    }
    if (n == 0)
        return fail(r, r->line, "this is no instruction", "");
    in.class = classify(in.opcode);
    in.is_call = base_is(in.opcode, "call brx");
    int rc = read_operands(r, &in);
    if (rc)
        return rc;
    if (in.class == GS_PTX_BRANCH && in.n_read)
        in.label = k->operand[in.registers + in.n_read - 1u];
    k->v[k->n++] = in;
    return 0;
}

static int add_label(struct reader *r, const char *s, size_t n)
{
    int64_t name = intern(r, s, n);
    if (name < 0 || reserve((void **)&r->label, &r->room_labels, r->n_labels, sizeof(*r->label)))
        return -ENOMEM;
    r->label[r->n_labels++] = (struct label){(uint32_t)name, r->k->n};
    return 0;
}

static void skip_directive(struct reader *r)
{
    if (strncmp(r->at, ".loc", 4) == 0 && isspace((unsigned char)r->at[4])) {
        skip_line(r);
        return;
    }
    while (*r->at && *r->at != ';')
        advance(r);
}

/* One label, directive, brace or instruction. *depth counts open braces. */
static int read_statement(struct reader *r, unsigned *depth)
{
    if (*r->at == '{' || *r->at == '}') {
        *depth += *r->at == '{' ? 1u : UINT32_MAX;
        advance(r);
        return 0;
    }
    if (*r->at == ';') {
        advance(r);
        return 0;
    }
    if (*r->at == '.') {
        skip_directive(r);
        return 0;
    }
    size_t n = 0;
    while (in_name(r->at[n]))
        n++;
    size_t gap = n + strspn(r->at + n, " \t");
    if (n && r->at[gap] == ':' && r->at[gap + 1] != ':') {
        int rc = add_label(r, r->at, n);
        r->at += gap + 1;
        return rc;
    }
    return read_instruction(r);
}

static int read_body(struct reader *r)
{
    unsigned depth = 0;
    int rc = 0;
    while (*r->at && *r->at != '{')
        advance(r);
    do {
        skip_space(r);
        if (!*r->at)
            return fail(r, r->line, "the text ends inside the kernel", r->k->entry);
        rc = read_statement(r, &depth);
    } while (rc == 0 && depth);
    return rc;
}

/* Moves behind the next ".entry NAME"; n is 0 where there is none. A ".entry" in a comment or a string doesn't count.
 */
static const char *next_entry(struct reader *r, size_t *n)
{
    *n = 0;
    while (skip_space(r), *r->at) {
        if (*r->at == '"') {
            do
                advance(r);
            while (*r->at && *r->at != '"');
        }
        if (strncmp(r->at, ".entry", 6) == 0 && isspace((unsigned char)r->at[6])) {
            r->at += 6;
            skip_space(r);
            const char *s = r->at;
            while (in_name(*r->at))
                r->at++;
            *n = (size_t)(r->at - s);
            return s;
        }
        if (*r->at)
            advance(r);
    }
    return r->at;
}

/* Stands behind the wanted kernel's name. */
static int find_entry(struct reader *r, const char *kernel)
{
    size_t n, found = 0;
    struct reader at = {0};
    char names[200] = "";
    const char *s;
    while (s = next_entry(r, &n), n) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof(names) - used, "%s%.*s", used ? ", " : "", (int)n, s);
        if (kernel && (strncmp(s, kernel, n) != 0 || kernel[n]))
            continue;
        if (!found++) {
            at = *r;
            r->k->entry = strndup(s, n);
            if (!r->k->entry)
                return -ENOMEM;
        }
    }
    if (found == 1 || (found && kernel)) {
        *r = at;
        return 0;
    }
    if (!*names)
        snprintf(r->why, r->why_size, "there is no kernel (.entry) in this text; is it PTX?");
    else if (kernel)
        snprintf(r->why, r->why_size, "there is no kernel '%s'; there are: %s", kernel, names);
    else
        snprintf(r->why, r->why_size, "there are several kernels, name one of: %s", names);
    return -EINVAL;
}

static int resolve_branches(struct reader *r)
{
    for (size_t i = 0; i < r->k->n; i++) {
        struct gs_ptx_instruction *in = &r->k->v[i];
        if (in->class != GS_PTX_BRANCH || in->is_call)
            continue;
        for (size_t j = 0; j < r->n_labels; j++)
            if (r->label[j].name == in->label)
                in->target = (int64_t)r->label[j].at;
        if (in->target == GS_PTX_NO_TARGET)
            return fail(r, in->line, "the branch leads to a label that isn't there:", r->k->name[in->label]);
    }
    return 0;
}

int gs_ptx_parse(struct gs_ptx_kernel *k, const char *text, const char *kernel, char *why, size_t why_size)
{
    memset(k, 0, sizeof(*k));
    struct reader r = {.text = text, .at = text, .line = 1, .k = k, .why = why, .why_size = why_size};
    int rc = find_entry(&r, kernel);
    if (rc == 0)
        rc = read_body(&r);
    if (rc == 0)
        rc = resolve_branches(&r);
    free(r.label);
    if (rc == -ENOMEM)
        snprintf(why, why_size, "there is not enough memory to read the kernel");
    if (rc)
        gs_ptx_kernel_free(k);
    return rc;
}

void gs_ptx_kernel_free(struct gs_ptx_kernel *k)
{
    for (size_t i = 0; i < k->n_names; i++)
        free(k->name[i]);
    free(k->name);
    free(k->operand);
    free(k->v);
    free(k->entry);
    memset(k, 0, sizeof(*k));
}
