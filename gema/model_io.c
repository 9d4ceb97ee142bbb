/* SPDX-License-Identifier: MIT */
#include "gema/model_io.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "common/json_file.h"

static const char *const pieces_names[] = {"own", "any", "gang"};
static const char *const server_keys[GS_RESOURCES] = {"cpus", "links", "gpus"};

static json_t *chain_to_json(const struct gs_chain *c)
{
    json_t *list = json_array();
    for (size_t j = 0; j < c->n; j++) {
        const struct gs_segment *s = &c->segments[j];
        json_array_append_new(list,
                              json_pack("{s:s, s:I, s:I, s:o*, s:o*, s:o*}", "resource", gs_resource_names[s->resource],
                                        "best_ns", (json_int_t)s->best_ns, "worst_ns", (json_int_t)s->worst_ns,
                                        "pauses", s->pauses ? json_integer(s->pauses) : NULL, "pause_ns",
                                        s->pauses ? json_integer(s->pause_ns) : NULL, "chunks",
                                        s->chunks ? json_integer(s->chunks) : NULL));
    }
    return list;
}

/* {"gpu": 2000000}: NULL where there is none. */
static json_t *chunks_to_json(const int64_t *chunk_ns)
{
    json_t *v = json_object();
    for (int r = 0; r < GS_RESOURCES; r++)
        if (chunk_ns[r])
            json_object_set_new(v, gs_resource_names[r], json_integer(chunk_ns[r]));
    if (json_object_size(v))
        return v;
    json_decref(v);
    return NULL;
}

static json_t *task_to_json(const struct gs_model *m, const struct gs_task *t)
{
    json_t *chains = json_object();
    for (int g = 1; g <= m->servers[GS_GPU]; g++) {
        char key[16];
        snprintf(key, sizeof key, "%d", g);
        if (t->chains[g].n)
            json_object_set_new(chains, key, chain_to_json(&t->chains[g]));
    }
    return json_pack("{s:s, s:I, s:I, s:I, s:o, s:o, s:o*}", "name", t->name, "period_ns", (json_int_t)t->period_ns,
                     "deadline_ns", (json_int_t)t->deadline_ns, "priority", (json_int_t)t->priority, "mode",
                     t->fixed_mode ? json_integer(t->fixed_mode) : json_string("auto"), "segments", chains, "chunk_ns",
                     chunks_to_json(t->chunk_ns));
}

/* The number of users, or "yes": any. NULL: none. */
static json_t *liars_to_json(const struct gs_model *m)
{
    return m->liars == GS_LIARS_NO ? NULL : m->liars == GS_LIARS_ANY ? json_string("yes") : json_integer(m->liars);
}

json_t *gs_model_to_json(const struct gs_model *m)
{
    json_t *preemptive = json_array(), *tasks = json_array();
    bool chunked = m->chunked[GS_PCI] || m->chunked[GS_GPU];
    for (int r = 0; r < GS_RESOURCES; r++)
        if (m->preemptive[r])
            json_array_append_new(preemptive, json_string(gs_resource_names[r]));
    for (size_t i = 0; i < m->n_tasks; i++)
        json_array_append_new(tasks, task_to_json(m, &m->tasks[i]));
    return json_pack("{s:{s:i, s:i, s:i, s:o, s:s, s:o*, s:o*, s:o*, s:o*}, s:o}", "system", "cpus", m->servers[GS_CPU],
                     "links", m->servers[GS_PCI], "gpus", m->servers[GS_GPU], "preemptive", preemptive, "pieces",
                     pieces_names[m->pieces], "depth", chunked ? json_integer(m->depth) : NULL, "handover_ns",
                     chunked ? json_integer(m->handover_ns) : NULL, "chunk_ns", chunks_to_json(m->chunk_ns), "liars",
                     liars_to_json(m), "tasks", tasks);
}

static int index_of(const char *const *names, int n, const json_t *word)
{
    for (int i = 0; i < n && json_is_string(word); i++)
        if (strcmp(names[i], json_string_value(word)) == 0)
            return i;
    return -1;
}

/* A whole number in [min, max]. */
static bool whole(const json_t *v, int64_t min, int64_t max)
{
    return json_is_integer(v) && json_integer_value(v) >= min && json_integer_value(v) <= max;
}

/* "chunk_ns" of the system or of a task, named so. */
static void read_chunks(const json_t *of, const char *name, int64_t *chunk_ns, struct gs_mistakes *mistakes)
{
    const json_t *chunks = json_object_get(of, "chunk_ns"), *v;
    for (int r = 0; r < GS_RESOURCES && chunks; r++) {
        if (!(v = json_object_get(chunks, gs_resource_names[r])))
            continue;
        if (whole(v, 1, GS_CONFIG_MAX_NS))
            chunk_ns[r] = json_integer_value(v);
        else
            gs_mistakes_add(mistakes, 0, "%s: chunk_ns must be whole numbers above zero, by pci and gpu", name);
    }
}

static void read_chunking(struct gs_model *m, const json_t *system, struct gs_mistakes *mistakes)
{
    const json_t *depth = json_object_get(system, "depth"), *handover = json_object_get(system, "handover_ns"),
                 *liars = json_object_get(system, "liars");
    read_chunks(system, "system", m->chunk_ns, mistakes);
    if (whole(depth, 1, GS_CONFIG_MAX_SERVERS))
        m->depth = (int)json_integer_value(depth);
    else if (depth)
        gs_mistakes_add(mistakes, 0, "system: depth must be a whole number from 1 to %d", GS_CONFIG_MAX_SERVERS);
    if (whole(handover, 1, GS_CONFIG_MAX_NS))
        m->handover_ns = json_integer_value(handover);
    else if (handover)
        gs_mistakes_add(mistakes, 0, "system: handover_ns must be a whole number above zero");
    if (json_is_string(liars) && strcmp(json_string_value(liars), "yes") == 0)
        gs_model_set_liars(m, GS_LIARS_ANY);
    else if (whole(liars, 1, GS_CONFIG_MAX_LIARS))
        gs_model_set_liars(m, (int)json_integer_value(liars));
    else if (liars)
        gs_mistakes_add(mistakes, 0, "system: liars must be \"yes\" or a number of users from 1 to %d",
                        GS_CONFIG_MAX_LIARS);
    if (m->liars && (!m->chunk_ns[GS_PCI] || !m->chunk_ns[GS_GPU]))
        gs_mistakes_add(mistakes, 0, "system: liars: only with chunk_ns of pci and gpu");
}

/* Chunks are known on a resource: then all tasks are granted it in chunks. */
static void settle_chunked(struct gs_model *m, struct gs_mistakes *mistakes)
{
    for (int r = 0; r < GS_RESOURCES; r++) {
        m->chunked[r] = m->chunk_ns[r] > 0;
        for (size_t i = 0; i < m->n_tasks; i++)
            m->chunked[r] = m->chunked[r] || m->tasks[i].chunk_ns[r];
        if (m->chunked[r] && (r == GS_CPU || m->preemptive[r] || (r == GS_GPU && m->pieces != GS_PIECES_OWN)))
            gs_mistakes_add(mistakes, 0,
                            "chunk_ns is for pci and gpu, where they are not preemptive and pieces is \"own\"");
    }
}

static void read_system(struct gs_model *m, const json_t *system, struct gs_mistakes *mistakes)
{
    int servers[GS_RESOURCES] = {0, 1, 0};
    for (int r = 0; r < GS_RESOURCES; r++) {
        const json_t *v = json_object_get(system, server_keys[r]);
        if (whole(v, 1, GS_CONFIG_MAX_SERVERS))
            servers[r] = (int)json_integer_value(v);
        else if (v || r != GS_PCI)
            gs_mistakes_add(mistakes, 0, "system: %s must be a whole number from 1 to %d", server_keys[r],
                            GS_CONFIG_MAX_SERVERS);
    }
    gs_model_init(m, servers[GS_CPU], servers[GS_PCI], servers[GS_GPU]);
    const json_t *pieces = json_object_get(system, "pieces");
    const json_t *preemptive = json_object_get(system, "preemptive");
    if (preemptive) {
        memset(m->preemptive, 0, sizeof m->preemptive);
        if (!json_is_array(preemptive))
            gs_mistakes_add(mistakes, 0, "system: preemptive must be a list");
        for (size_t i = 0; i < json_array_size(preemptive); i++) {
            int r = index_of(gs_resource_names, GS_RESOURCES, json_array_get(preemptive, i));
            if (r < 0)
                gs_mistakes_add(mistakes, 0, "system: preemptive holds something that is none of cpu, pci, gpu");
            else
                m->preemptive[r] = true;
        }
    }
    int p = pieces ? index_of(pieces_names, 3, pieces) : GS_PIECES_OWN;
    if (p < 0)
        gs_mistakes_add(mistakes, 0, "system: pieces must be own, any or gang");
    else
        m->pieces = (enum gs_pieces)p;
    read_chunking(m, system, mistakes);
}

static int read_chain(struct gs_model *m, size_t task, const char *key, const json_t *list,
                      struct gs_mistakes *mistakes)
{
    const char *name = m->tasks[task].name;
    struct gs_segment s[GS_CONFIG_MAX_SEGMENTS];
    int gpus = 0, end = 0;
    if (sscanf(key, "%d%n", &gpus, &end) != 1 || key[end] || gpus < 1 || gpus > m->servers[GS_GPU])
        return gs_mistakes_add(mistakes, 0, "task %s: segments has a key '%s' that is no number of GPUs of the system",
                               name, key);
    if (json_array_size(list) < 1 || json_array_size(list) > GS_CONFIG_MAX_SEGMENTS)
        return gs_mistakes_add(mistakes, 0, "task %s: segments.%d must be a list of 1 to %d segments", name, gpus,
                               GS_CONFIG_MAX_SEGMENTS);
    size_t n = json_array_size(list);
    for (size_t j = 0; j < n; j++) {
        const json_t *v = json_array_get(list, j), *best = json_object_get(v, "best_ns"),
                     *worst = json_object_get(v, "worst_ns"), *pauses = json_object_get(v, "pauses"),
                     *pause = json_object_get(v, "pause_ns"), *chunks = json_object_get(v, "chunks");
        int r = index_of(gs_resource_names, GS_RESOURCES, json_object_get(v, "resource"));
        if (r < 0 || !whole(worst, 0, GS_CONFIG_MAX_NS) || (best && !whole(best, 0, json_integer_value(worst))))
            return gs_mistakes_add(
                mistakes, 0,
                "task %s: segment %zu of segments.%d needs a resource (cpu, pci or gpu), worst_ns, and "
                "best_ns not above it",
                name, j + 1, gpus);
        if ((pauses || pause) &&
            (!whole(pauses, 1, GS_CONFIG_MAX_PAUSES) || !whole(pause, 0, GS_CONFIG_MAX_NS) || r == GS_CPU))
            return gs_mistakes_add(
                mistakes, 0,
                "task %s: segment %zu of segments.%d: pauses (1 to %d) and pause_ns are of the link or a GPU", name,
                j + 1, gpus, GS_CONFIG_MAX_PAUSES);
        if (chunks && (!whole(chunks, 1, GS_CONFIG_MAX_CHUNKS) || r == GS_CPU))
            return gs_mistakes_add(mistakes, 0,
                                   "task %s: segment %zu of segments.%d: chunks (1 to %d) are of the link or a GPU",
                                   name, j + 1, gpus, GS_CONFIG_MAX_CHUNKS);
        s[j] = (struct gs_segment){(enum gs_resource)r,
                                   best ? json_integer_value(best) : 0,
                                   json_integer_value(worst),
                                   pauses ? (int)json_integer_value(pauses) : 0,
                                   pauses ? json_integer_value(pause) : 0,
                                   chunks ? (int)json_integer_value(chunks) : 0,
                                   0};
    }
    return gs_model_set_chain(m, task, gpus, s, n);
}

static int read_task(struct gs_model *m, size_t number, const json_t *v, struct gs_mistakes *mistakes)
{
    const json_t *name = json_object_get(v, "name"), *period = json_object_get(v, "period_ns"),
                 *deadline = json_object_get(v, "deadline_ns"), *priority = json_object_get(v, "priority"),
                 *mode = json_object_get(v, "mode");
    if (!json_is_string(name) || !whole(period, 1, GS_CONFIG_MAX_NS))
        return gs_mistakes_add(mistakes, 0, "task %zu needs a name and period_ns above zero", number + 1);
    deadline = deadline ? deadline : period;
    if (!whole(deadline, 1, json_integer_value(period)))
        return gs_mistakes_add(mistakes, 0, "task %s: deadline_ns must be above zero and not above period_ns",
                               json_string_value(name));
    int at = gs_model_add_task(m, json_string_value(name), json_integer_value(period), json_integer_value(deadline));
    if (at == -EINVAL)
        return gs_mistakes_add(mistakes, 0, "more than %d tasks", GS_CONFIG_MAX_TASKS);
    if (at < 0)
        return at;
    struct gs_task *t = &m->tasks[at];
    if (whole(priority, INT32_MIN, INT32_MAX) || whole(priority, -GS_CONFIG_MAX_NS, GS_CONFIG_MAX_NS))
        t->priority = json_integer_value(priority);
    else if (priority)
        gs_mistakes_add(mistakes, 0, "task %s: priority must be a whole number", t->name);
    if (whole(mode, 1, m->servers[GS_GPU]))
        t->fixed_mode = (int)json_integer_value(mode);
    else if (mode && !(json_is_string(mode) && strcmp(json_string_value(mode), "auto") == 0))
        gs_mistakes_add(mistakes, 0, "task %s: mode must be \"auto\" or a number of GPUs of the system", t->name);
    memcpy(t->chunk_ns, m->chunk_ns, sizeof t->chunk_ns);
    read_chunks(v, t->name, t->chunk_ns, mistakes);
    const char *key;
    json_t *list;
    json_object_foreach(json_object_get(v, "segments"), key, list)
    {
        int rc = read_chain(m, (size_t)at, key, list, mistakes);
        if (rc)
            return rc;
    }
    bool usable = false;
    for (int g = 1; g <= m->servers[GS_GPU]; g++)
        usable = usable || gs_model_may_use(m, (size_t)at, g);
    return usable ? 0 : gs_mistakes_add(mistakes, 0, "task %s has no segments for a mode that it may have", t->name);
}

int gs_model_from_json(struct gs_model *m, const json_t *json, struct gs_mistakes *mistakes)
{
    size_t before = mistakes->n;
    const json_t *tasks = json_object_get(json, "tasks");
    read_system(m, json_object_get(json, "system"), mistakes);
    if (m->servers[GS_GPU] < 1)
        return -EINVAL;
    if (!json_is_array(tasks))
        return gs_mistakes_add(mistakes, 0, "there is no list of tasks") ? -ENOMEM : -EINVAL;
    for (size_t i = 0; i < json_array_size(tasks); i++)
        if (read_task(m, i, json_array_get(tasks, i), mistakes))
            return -ENOMEM;
    settle_chunked(m, mistakes);
    if (mistakes->n > before)
        return -EINVAL;
    int rc = gs_model_finish(m);
    if (rc)
        gs_mistakes_add(mistakes, 0, "all times together are too long: more than 292 years");
    return rc ? -EINVAL : 0;
}

static int load_json(struct gs_model *m, const char *path, struct gs_mistakes *mistakes)
{
    json_error_t error;
    json_t *json = gs_json_load(path, GS_FILE_RESULT, JSON_REJECT_DUPLICATES, &error);
    *m = (struct gs_model){0};
    if (!json)
        return gs_mistakes_add(mistakes, error.line > 0 ? error.line : 0, "%s", error.text) ? -ENOMEM : -EINVAL;
    int rc = gs_model_from_json(m, json, mistakes);
    json_decref(json);
    return rc;
}

int gs_model_load(struct gs_model *m, const char *path, struct gs_mistakes *mistakes)
{
    const char *dot = strrchr(path, '.');
    if (dot && strcmp(dot, ".json") == 0)
        return load_json(m, path, mistakes);
    struct gs_config config;
    *m = (struct gs_model){0};
    int rc = gs_config_load(path, &config, mistakes);
    if (!rc)
        rc = gs_model_from_config(m, &config, mistakes);
    gs_config_free(&config);
    return rc;
}

static void write_chunks(const struct gs_model *m, const int64_t *chunk_ns, FILE *out)
{
    char buf[GS_DURATION_SIZE];
    for (int r = 0; r < GS_RESOURCES; r++)
        if (m->chunked[r] && chunk_ns[r])
            fprintf(out, "%s_chunk = %s\n", gs_resource_names[r], gs_format_duration(chunk_ns[r], buf));
}

static void write_task(const struct gs_model *m, size_t i, FILE *out)
{
    const struct gs_task *t = &m->tasks[i];
    char buf[GS_DURATION_SIZE], worst[GS_DURATION_SIZE];
    fprintf(out, "\n[task %s]\nperiod = %s\n", t->name, gs_format_duration(t->period_ns, buf));
    if (t->deadline_ns != t->period_ns)
        fprintf(out, "deadline = %s\n", gs_format_duration(t->deadline_ns, buf));
    fprintf(out, "priority = %zu\n", m->n_tasks - i);
    if (t->fixed_mode)
        fprintf(out, "mode = %d\n", t->fixed_mode);
    write_chunks(m, t->chunk_ns, out);
    for (int g = 1; g <= m->servers[GS_GPU]; g++) {
        const struct gs_chain *c = &t->chains[g];
        for (size_t j = 0; j < c->n; j++) {
            const struct gs_segment *s = &c->segments[j];
            if (!j)
                fprintf(out, "segments.%d = ", g);
            fprintf(out, "%s%s ", j ? ", " : "", gs_resource_names[s->resource]);
            if (s->best_ns)
                fprintf(out, "%s..", gs_format_duration(s->best_ns, buf));
            fprintf(out, "%s", gs_format_duration(s->worst_ns, worst));
            if (s->pauses)
                fprintf(out, " pauses %d %s", s->pauses, gs_format_duration(s->pause_ns, worst));
            if (s->chunks)
                fprintf(out, " chunks %d", s->chunks);
        }
        if (c->n)
            fputc('\n', out);
    }
}

int gs_model_write_config(const struct gs_model *m, FILE *out)
{
    bool any = false;
    fprintf(out, "[system]\ncpus = %d\nlinks = %d\ngpus = %d\npieces = %s\npreemptive =", m->servers[GS_CPU],
            m->servers[GS_PCI], m->servers[GS_GPU], pieces_names[m->pieces]);
    for (int r = 0; r < GS_RESOURCES; r++)
        if (m->preemptive[r]) {
            fprintf(out, "%s %s", any ? "," : "", gs_resource_names[r]);
            any = true;
        }
    fprintf(out, "%s\n", any ? "" : " none");
    if (m->chunked[GS_PCI] || m->chunked[GS_GPU]) {
        char buf[GS_DURATION_SIZE];
        fprintf(out, "depth = %d\nhandover = %s\n", m->depth, gs_format_duration(m->handover_ns, buf));
        write_chunks(m, m->chunk_ns, out);
    }
    if (m->liars)
        fprintf(out, m->liars == GS_LIARS_ANY ? "liars = yes\n" : "liars = %d\n", m->liars);
    for (size_t i = 0; i < m->n_tasks; i++)
        write_task(m, i, out);
    return ferror(out) ? -EIO : 0;
}
