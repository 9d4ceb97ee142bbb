/* SPDX-License-Identifier: MIT */
/* libFuzzer target: any bytes as a config file and as JSON. What is accepted must survive being analyzed, and being
 * written and read again. Built with -DGS_FUZZ=ON and clang. */
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
