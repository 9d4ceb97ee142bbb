/* SPDX-License-Identifier: MIT */
/* Asks a --stats file: stats FILE ASKED...; each is `split:KERNEL` (every launch was split), `some:KERNEL` (one at
 * least), `single:KERNEL[:PART OF THE REASON]` (none was), `why:KERNEL:PART OF THE REASON` (some were not),
 * `right` (no verified launch was wrong, and the ways of a kernel's launches add up), `devices:N`,
 * `way:KERNEL:WAY` (some went that way of shim/launch/route.c), `took:PHASE` (write, kernel, merge or read took time),
 * `path:PATH` (bytes went so, which took time). Exits 1 with a line for each that doesn't hold. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

static json_t *stats;

static long long number(const json_t *of, const char *key)
{
    return json_integer_value(json_object_get(of, key));
}

static const json_t *kernel(const char *name)
{
    size_t i;
    json_t *k;
    json_array_foreach(json_object_get(stats, "kernels"), i,
                       k) if (strcmp(json_string_value(json_object_get(k, "name")), name) == 0) return k;
    return NULL;
}

static int has_reason(const json_t *k, const char *part)
{
    size_t i;
    json_t *r;
    json_array_foreach(json_object_get(k, "reasons"), i,
                       r) if (strstr(json_string_value(json_object_get(r, "reason")), part)) return 1;
    return 0;
}

/* Each launch went one of the ways, and those that were split in parts. Pooled memory has ways of its own. */
static int ways_add_up(const json_t *k)
{
    const char *way;
    json_t *n;
    const json_t *ways = json_object_get(k, "ways");
    long long all = 0;
    json_object_foreach((json_t *)ways, way, n) all += json_integer_value(n);
    return json_object_get(stats, "memory")
               ? !all
               : all == number(k, "launches") && number(ways, "parts") + number(ways, "verified") == number(k, "split");
}

static int holds(char *asked)
{
    char *name = strchr(asked, ':'), *reason = NULL;
    if (name)
        *name++ = '\0';
    if (strcmp(asked, "right") == 0) {
        size_t i;
        json_t *k;
        json_array_foreach(json_object_get(stats, "kernels"), i, k) if (number(k, "wrong") || !ways_add_up(k)) return 0;
        return 1;
    }
    if (!name)
        return 0;
    if (strcmp(asked, "devices") == 0)
        return number(stats, "devices") == strtoll(name, NULL, 10);
    if (strcmp(asked, "took") == 0) {
        char key[64];
        snprintf(key, sizeof key, "%s_ns", name);
        return number(stats, key) > 0;
    }
    if (strcmp(asked, "path") == 0) {
        const json_t *path = json_object_get(json_object_get(stats, "bytes"), name);
        return number(path, "bytes") > 0 && number(path, "ns") > 0;
    }
    reason = strchr(name, ':');
    if (reason)
        *reason++ = '\0';
    const json_t *k = kernel(name);
    if (!k || !number(k, "launches"))
        return 0;
    if (strcmp(asked, "split") == 0)
        return number(k, "split") == number(k, "launches") && number(k, "parts") > 1;
    if (strcmp(asked, "some") == 0)
        return number(k, "split") > 0 && number(k, "parts") > 1;
    if (strcmp(asked, "way") == 0)
        return reason && number(json_object_get(k, "ways"), reason) > 0;
    if (strcmp(asked, "why") == 0)
        return reason && has_reason(k, reason);
    return strcmp(asked, "single") == 0 && number(k, "split") == 0 && (!reason || has_reason(k, reason));
}

int main(int argc, char **argv)
{
    json_error_t error;
    int failed = 0;
    stats = argc > 1 ? json_load_file(argv[1], 0, &error) : NULL;
    if (!stats) {
        fprintf(stderr, "%s: %s\n", argc > 1 ? argv[1] : "no file", argc > 1 ? error.text : "");
        return 2;
    }
    for (int i = 2; i < argc; i++) {
        char asked[256];
        snprintf(asked, sizeof asked, "%s", argv[i]);
        if (!holds(asked)) {
            fprintf(stderr, "%s: not so: %s\n", argv[1], argv[i]);
            failed = 1;
        }
    }
    if (failed)
        json_dumpf(stats, stderr, JSON_INDENT(1));
    json_decref(stats);
    return failed;
}
