/* SPDX-License-Identifier: MIT */
/* libFuzzer target: any bytes as a config file and as JSON. What is accepted must survive being analyzed, and being
 * written and read again. Built with -DGS_FUZZ=ON and clang; with GS_FUZZ_MAIN a program that puts files together from
 * the sections of its corpus, by a seed that it prints: fuzz_config_main FILES SEED CORPUS_FILE... */
#include <stdio.h>
#include <stdlib.h>

#include "gema/assign.h"
#include "gema/model_io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use_model(const struct gs_model *m)
{
    enum { SMALL = 6, SEGMENTS = 30 };
    size_t segments = 0;
    for (size_t i = 0; i < m->n_tasks; i++)
        for (int g = 1; g <= m->servers[GS_GPU]; g++)
            segments += m->tasks[i].chains[g].n;
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (!out || gs_model_write_config(m, out))
        abort();
    fclose(out);
    struct gs_config config;
    struct gs_mistakes mistakes = {0};
    if (gs_config_parse(text, length, &config, &mistakes) && m->n_tasks)
        abort();
    gs_config_free(&config);
    gs_mistakes_free(&mistakes);
    free(text);
    if (m->n_tasks > SMALL || segments > SEGMENTS)
        return;
    int modes[SMALL];
    struct gs_assign_options o = {.max_nodes = 20};
    for (int k = 0; k < GS_ANALYSES; k++) {
        struct gs_analyzer *a = gs_analyzer_new(m, (enum gs_analysis)k);
        if (a && gs_assign(a, GS_POLICY_GLOBAL, &o, modes) >= 0)
            gs_analyze(a, modes);
        gs_analyzer_free(a);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gs_config config;
    struct gs_mistakes mistakes = {0};
    struct gs_model m = {0};
    if (gs_config_parse((const char *)data, size, &config, &mistakes) == 0 &&
        gs_model_from_config(&m, &config, &mistakes) == 0)
        use_model(&m);
    gs_model_free(&m);
    gs_config_free(&config);
    gs_mistakes_free(&mistakes);

    json_t *json = json_loadb((const char *)data, size, 0, NULL);
    m = (struct gs_model){0};
    if (json && gs_model_from_json(&m, json, &mistakes) == 0 && m.n_tasks <= 64)
        for (int k = 0; k < GS_ANALYSES; k++) {
            json_t *again = gs_model_to_json(&m);
            if (!again)
                abort();
            json_decref(again);
        }
    gs_model_free(&m);
    gs_mistakes_free(&mistakes);
    json_decref(json);
    return 0;
}

#ifdef GS_FUZZ_MAIN
#include <string.h>

#include "common/file.h"

enum { MOST_SECTIONS = 256, SECTIONS = 5, ROOM = 1 << 16 };
static struct {
    const char *text;
    size_t bytes;
} section[MOST_SECTIONS];
static size_t n_sections;

static void cut(const char *text, size_t bytes)
{
    for (size_t begin = 0; begin < bytes && n_sections < MOST_SECTIONS;) {
        const char *next = memmem(text + begin + 1, bytes - begin - 1, "\n[", 2);
        const size_t end = next ? (size_t)(next - text) + 1 : bytes;
        section[n_sections].text = text + begin;
        section[n_sections++].bytes = end - begin;
        begin = end;
    }
}

int main(int argc, char **argv)
{
    static char file[ROOM];
    if (argc < 4)
        return 2;
    unsigned seed = (unsigned)strtoul(argv[2], NULL, 10);
    printf("seed %u\n", seed);
    for (int i = 3; i < argc; i++) {
        char *text; /* kept: the sections lie in it */
        size_t bytes;
        if (gs_read_file(argv[i], ROOM / SECTIONS - 1, &text, &bytes) < 0)
            return 1;
        LLVMFuzzerTestOneInput((const uint8_t *)text, bytes);
        cut(text, bytes);
    }
    for (long i = strtol(argv[1], NULL, 10); i > 0; i--) {
        size_t n = 0;
        for (int k = rand_r(&seed) % SECTIONS; k >= 0; k--) {
            const size_t s = (size_t)rand_r(&seed) % n_sections;
            memcpy(file + n, section[s].text, section[s].bytes);
            n += section[s].bytes;
        }
        LLVMFuzzerTestOneInput((const uint8_t *)file, n);
    }
    return 0;
}
#endif
