/* SPDX-License-Identifier: MIT */
/* Reads the launches at the head of a test kernel. */
#include "tests/kernels/spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reading {
    struct spec *s;
    const char *path;
    uint64_t random;
    char dir[512];
};

static void bad(const struct reading *r, const char *what)
{
    fprintf(stderr, "%s: %s\n", r->path, what);
    exit(2);
}

static char *read_text(const struct reading *r, const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    size_t cap = 0;
    if (!f)
        bad(r, path);
    if (getdelim(&text, &cap, 0, f) < 0 && !text)
        text = calloc(1, 1);
    fclose(f);
    return text;
}

/* splitmix64 */
static uint64_t next_random(struct reading *r)
{
    uint64_t z = (r->random += 0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static size_t type_bytes(const struct reading *r, const char *type)
{
    static const struct {
        const char *name;
        size_t bytes;
    } types[] = {{"char", 1}, {"uchar", 1}, {"short", 2}, {"ushort", 2}, {"int", 4},
                 {"uint", 4}, {"float", 4}, {"long", 8},  {"ulong", 8},  {"double", 8}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, type) == 0)
            return types[i].bytes;
    bad(r, "unknown type");
    return 0;
}

static void put_number(const char *type, unsigned char *at, double v)
{
    long long i = (long long)v;
    float f = (float)v;
    if (strcmp(type, "float") == 0)
        memcpy(at, &f, sizeof f);
    else if (strcmp(type, "double") == 0)
        memcpy(at, &v, sizeof v);
    else if (strstr(type, "long"))
        memcpy(at, &i, 8);
    else if (strstr(type, "int"))
        memcpy(at, &i, 4);
    else if (strstr(type, "short"))
        memcpy(at, &i, 2);
    else
        memcpy(at, &i, 1);
}

static struct spec_arg *new_arg(struct reading *r, enum spec_kind kind)
{
    if (r->s->n_launches == 0)
        bad(r, "an argument before any kernel");
    struct spec_launch *l = &r->s->launches[r->s->n_launches - 1];
    if (l->n_args == SPEC_ARGS)
        bad(r, "too many arguments");
    struct spec_arg *a = &l->args[l->n_args++];
    a->kind = kind;
    return a;
}

static void fill(struct reading *r, struct spec_arg *a, const char *type, const char *how, double limit)
{
    size_t k = type_bytes(r, type);
    bool real = strcmp(type, "float") == 0 || strcmp(type, "double") == 0;
    double sum = 0;
    a->data = calloc(a->bytes + 8, 1);
    for (size_t i = 0; i < a->bytes / k && strcmp(how, "zero") != 0; i++) {
        double v = (double)i;
        if (strcmp(how, "rising") == 0) {
            v = sum;
            sum += (double)(next_random(r) % (uint64_t)limit);
        }
        if (strcmp(how, "around") == 0)
            v = (double)(next_random(r) % (2 * (uint64_t)limit)) - limit;
        if (strcmp(how, "random") == 0)
            v = real ? limit * (double)(next_random(r) >> 11) * 0x1p-53 : (double)(next_random(r) % (uint64_t)limit);
        put_number(type, a->data + i * k, v);
    }
}

static void read_buffer(struct reading *r, const char *rest)
{
    char type[16], how[16];
    double limit = 100;
    size_t n;
    struct spec_arg *a = new_arg(r, SPEC_BUFFER);
    if (sscanf(rest, "%15s %zu %15s %lf", type, &n, how, &limit) < 3)
        bad(r, rest);
    a->bytes = n * type_bytes(r, type);
    fill(r, a, type, how, limit);
}

static void read_value(struct reading *r, const char *rest)
{
    char type[16];
    double v;
    struct spec_arg *a = new_arg(r, SPEC_VALUE);
    if (sscanf(rest, "%15s %lf", type, &v) != 2)
        bad(r, rest);
    a->bytes = type_bytes(r, type);
    a->data = calloc(8, 1);
    put_number(type, a->data, v);
}

static void read_image(struct reading *r, const char *rest)
{
    char how[16];
    struct spec_arg *a = new_arg(r, SPEC_IMAGE);
    if (sscanf(rest, "%15s %zu %zu", how, &a->width, &a->height) != 3)
        bad(r, rest);
    a->writable = strcmp(how, "write") == 0;
    a->bytes = a->width * a->height * 16;
    fill(r, a, "uint", a->writable ? "zero" : "random", 1000);
}

/* The numbers behind the word, if it is there; how many. */
static unsigned read_sizes(const char *rest, const char *word, size_t v[3])
{
    const char *at = strstr(rest, word);
    int n = at ? sscanf(at + strlen(word), "%zu %zu %zu", &v[0], &v[1], &v[2]) : 0;
    return n > 0 ? (unsigned)n : 0;
}

static void read_launch(struct reading *r, const char *rest)
{
    if (r->s->n_launches == SPEC_LAUNCHES)
        bad(r, "too many launches");
    struct spec_launch *l = &r->s->launches[r->s->n_launches++];
    sscanf(rest, "%63s", l->kernel);
    l->dims = read_sizes(rest, " global ", l->global);
    const unsigned local = read_sizes(rest, " local ", l->local);
    l->has_local = local > 0 && local == l->dims;
    read_sizes(rest, " offset ", l->offset);
}

static void read_file(struct reading *r, struct spec_unit *u, const char *name, const char *file)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", r->dir, file);
    u->name = name ? strdup(name) : NULL;
    u->text = read_text(r, path);
}

static void read_options(struct reading *r, const char *rest)
{
    const char *dir = strstr(rest, "DIR");
    int n = dir ? snprintf(r->s->options, sizeof r->s->options, "%.*s%s%s", (int)(dir - rest), rest, r->dir, dir + 3)
                : snprintf(r->s->options, sizeof r->s->options, "%s", rest);
    if (n < 0 || (size_t)n >= sizeof r->s->options)
        bad(r, "the options are too long");
}

static void read_program_line(struct reading *r, const char *word, const char *rest)
{
    struct spec *s = r->s;
    char name[128], file[128];
    if (strcmp(word, "options") == 0)
        read_options(r, rest);
    else if (strcmp(word, "version") == 0)
        s->version = (unsigned)atoi(rest);
    else if (strcmp(word, "extension") == 0)
        sscanf(rest, "%63s", s->extension);
    else if (strcmp(word, "unit") == 0 && s->n_units < SPEC_UNITS && sscanf(rest, "%127s", file) == 1)
        read_file(r, &s->units[s->n_units++], NULL, file);
    else if (strcmp(word, "header") == 0 && s->n_headers < SPEC_UNITS && sscanf(rest, "%127s %127s", name, file) == 2)
        read_file(r, &s->headers[s->n_headers++], name, file);
    else if (strcmp(word, "kernel") == 0)
        read_launch(r, rest);
    else
        bad(r, word);
}

static void read_line(struct reading *r, const char *word, const char *rest)
{
    struct spec_launch *l = r->s->n_launches ? &r->s->launches[r->s->n_launches - 1] : NULL;
    if (l && strcmp(word, "expect") == 0)
        snprintf(l->expect, sizeof l->expect, "%s", rest);
    else if (strcmp(word, "buffer") == 0)
        read_buffer(r, rest);
    else if (strcmp(word, "same") == 0)
        new_arg(r, SPEC_SAME)->same = (unsigned)atoi(rest);
    else if (strcmp(word, "value") == 0)
        read_value(r, rest);
    else if (strcmp(word, "shared") == 0)
        new_arg(r, SPEC_SHARED)->bytes = (size_t)atoi(rest);
    else if (strcmp(word, "image") == 0)
        read_image(r, rest);
    else if (strcmp(word, "sampler") == 0)
        new_arg(r, SPEC_SAMPLER);
    else
        read_program_line(r, word, rest);
}

void spec_read(struct spec *s, const char *path, uint64_t seed)
{
    struct reading r = {.s = s, .path = path, .random = seed};
    const char *slash = strrchr(path, '/');
    memset(s, 0, sizeof *s);
    snprintf(r.dir, sizeof r.dir, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    s->units[s->n_units++].text = read_text(&r, path);
    for (const char *line = s->units[0].text; *line;) {
        size_t n = strcspn(line, "\n");
        char word[32], rest[512] = "";
        int at = 0;
        char copy[600];
        snprintf(copy, sizeof copy, "%.*s", (int)n, line);
        if (strncmp(copy, "//!", 3) == 0 && sscanf(copy + 3, "%31s %n", word, &at) == 1) {
            snprintf(rest, sizeof rest, "%s", at ? copy + 3 + at : "");
            read_line(&r, word, rest);
        }
        line += n + (line[n] == '\n');
    }
    if (s->n_launches == 0)
        bad(&r, "no kernel is launched");
}

void spec_free(struct spec *s)
{
    for (unsigned i = 0; i < s->n_units; i++)
        free(s->units[i].text);
    for (unsigned i = 0; i < s->n_headers; i++) {
        free(s->headers[i].text);
        free(s->headers[i].name);
    }
    for (unsigned i = 0; i < s->n_launches; i++)
        for (unsigned a = 0; a < s->launches[i].n_args; a++)
            free(s->launches[i].args[a].data);
}
