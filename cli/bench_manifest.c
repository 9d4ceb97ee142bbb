/* SPDX-License-Identifier: MIT */
/* gpusparc bench: reads samples/MANIFEST. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench.h"
#include "common/file.h"
#include "common/log.h"

static char *trimmed(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    char *end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1]))
        *--end = '\0';
    return text;
}

/* OPTION:DEFAULT:ROOT:MULTIPLE, several of them separated by blanks. */
static bool parse_sizes(char *text, struct gs_bench_sample *sample)
{
    char *save = NULL;
    for (char *word = strtok_r(text, " \t", &save); word; word = strtok_r(NULL, " \t", &save)) {
        if (sample->size_count == GS_BENCH_MAX_SIZES)
            return false;
        struct gs_bench_size *s = &sample->sizes[sample->size_count++];
        char multiple[GS_BENCH_NAME];
        if (sscanf(word, "%31[^:]:%lf:%d:%31s", s->option, &s->value, &s->root, multiple) != 4)
            return false;
        s->multiple = strcmp(multiple, "p2") == 0 ? 0 : strtol(multiple, NULL, 10);
        if (s->value < 1 || s->root < 1 || (s->multiple < 1 && strcmp(multiple, "p2") != 0))
            return false;
    }
    return sample->size_count > 0;
}

static bool parse_line(char *line, struct gs_bench_sample *sample)
{
    char *field[4];
    for (int i = 0; i < 4; i++) {
        field[i] = line;
        line = i < 3 ? strchr(line, '|') : line;
        if (!line)
            return false;
        if (i < 3)
            *line++ = '\0';
    }
    const char *name = trimmed(field[0]), *class = trimmed(field[1]), *small = trimmed(field[2]);
    if (!*name || strlen(name) >= sizeof(sample->name) || strlen(class) >= sizeof(sample->class) ||
        strlen(small) >= sizeof(sample->small))
        return false;
    *sample = (struct gs_bench_sample){0};
    strcpy(sample->name, name);
    strcpy(sample->class, class);
    strcpy(sample->small, small);
    return parse_sizes(trimmed(field[3]), sample);
}

static int add_sample(struct gs_bench_sample **samples, size_t *count, const struct gs_bench_sample *sample)
{
    struct gs_bench_sample *more = realloc(*samples, (*count + 1) * sizeof(**samples));
    if (!more)
        return -ENOMEM;
    more[(*count)++] = *sample;
    *samples = more;
    return 0;
}

int gs_bench_read_manifest(const char *path, struct gs_bench_sample **samples, size_t *count)
{
    char *whole, *rest;
    size_t bytes;
    int err = gs_read_file(path, GS_FILE_TEXT, &whole, &bytes), number = 0;
    *samples = NULL;
    *count = 0;
    if (err < 0) {
        gs_error("the list of samples %s can't be read: %s", path, strerror(-err));
        return err;
    }
    rest = whole;
    while (err == 0 && rest) {
        struct gs_bench_sample sample;
        char *text = trimmed(strsep(&rest, "\n"));
        number++;
        if (!*text || *text == '#')
            continue;
        err = parse_line(text, &sample) ? add_sample(samples, count, &sample) : -EINVAL;
        if (err == -EINVAL)
            gs_error("%s:%d: expected NAME | CLASS | ARGUMENTS | OPTION:DEFAULT:ROOT:MULTIPLE", path, number);
    }
    free(whole);
    if (err) {
        free(*samples);
        *samples = NULL;
        *count = 0;
    }
    return err;
}

long gs_bench_scaled(const struct gs_bench_size *size, double scale)
{
    const double exact = size->value * pow(scale, 1.0 / size->root);
    if (size->multiple == 0)
        return lround(exp2(fmax(1, round(log2(exact)))));
    const long multiples = lround(exact / (double)size->multiple);
    return (multiples > 0 ? multiples : 1) * size->multiple;
}

void gs_bench_add(struct gs_bench_words *words, const char *format, ...)
{
    va_list args;
    char *word = NULL;
    char **more = realloc(words->word, (words->count + 2) * sizeof(*more));
    va_start(args, format);
    if (!more || vasprintf(&word, format, args) < 0) {
        gs_error("there is no memory for a command line");
        exit(1);
    }
    va_end(args);
    more[words->count++] = word;
    more[words->count] = NULL;
    words->word = more;
}

void gs_bench_add_split(struct gs_bench_words *words, const char *text)
{
    for (size_t n; *(text += strspn(text, " ")); text += n) {
        n = strcspn(text, " ");
        gs_bench_add(words, "%.*s", (int)n, text);
    }
}

void gs_bench_free_words(struct gs_bench_words *words)
{
    for (size_t i = 0; i < words->count; i++)
        free(words->word[i]);
    free(words->word);
    *words = (struct gs_bench_words){0};
}
