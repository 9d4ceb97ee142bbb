/* SPDX-License-Identifier: MIT */
#include "common/links.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cache.h"

/* Numbers are whole: an application's locale may write fractions with a comma. */
static const double byte_unit = 1e6;

struct gs_link_cost gs_link_cost(double latency_us, double gb_per_s)
{
    if (!(latency_us > 0) || !(gb_per_s > 0))
        return (struct gs_link_cost){0, 0};
    return (struct gs_link_cost){latency_us * 1e3, 1 / gb_per_s};
}

static bool is_known(const struct gs_link_cost *c)
{
    return c->piece_ns > 0 && c->byte_ns > 0;
}

struct gs_links gs_links_read(const char *name)
{
    size_t bytes = 0;
    char *text = gs_cache_read(name, &bytes);
    const struct gs_links l = text ? gs_links_parse(text, bytes) : (struct gs_links){0};
    free(text);
    return l;
}

void gs_links_write(const char *name, const struct gs_links *links)
{
    struct gs_links all = gs_links_read(name);
    char text[GS_LINKS_TEXT_BYTES];
    if (is_known(&links->host))
        all.host = links->host;
    if (is_known(&links->peer))
        all.peer = links->peer;
    const size_t bytes = gs_links_print(&all, text);
    if (bytes)
        gs_cache_write(name, text, bytes);
}

static size_t print_cost(const char *name, const struct gs_link_cost *c, char *text, size_t room)
{
    if (!is_known(c) || c->piece_ns > 1e12 || c->byte_ns > 1e6)
        return 0;
    const int n = snprintf(text, room, "%s %" PRIu64 " %" PRIu64 "\n", name, (uint64_t)(c->piece_ns + 0.5),
                           (uint64_t)(c->byte_ns * byte_unit + 0.5));
    return n > 0 && (size_t)n < room ? (size_t)n : 0;
}

size_t gs_links_print(const struct gs_links *links, char text[GS_LINKS_TEXT_BYTES])
{
    const size_t n = print_cost("memory", &links->host, text, GS_LINKS_TEXT_BYTES);
    return n + print_cost("windows", &links->peer, text + n, GS_LINKS_TEXT_BYTES - n);
}

/* A line that is nothing but a name and two numbers. */
static bool parse_cost(const char *line, const char *name, struct gs_link_cost *c)
{
    const uint64_t most = 1000000000000; /* a minus sign makes a larger one */
    uint64_t piece, byte;
    const size_t n = strlen(name);
    int end = 0;
    if (strncmp(line, name, n) != 0 || sscanf(line + n, " %12" SCNu64 " %12" SCNu64 "%n", &piece, &byte, &end) != 2 ||
        line[n + (size_t)end] || piece > most || byte > most)
        return false;
    *c = (struct gs_link_cost){(double)piece, (double)byte / byte_unit};
    return true;
}

/* What earlier versions have kept, as "host" and "peer", may tell of GPUs that had other work. */
struct gs_links gs_links_parse(const char *text, size_t bytes)
{
    struct gs_links l = {0};
    const char *end;
    for (; (end = memchr(text, '\n', bytes)); bytes -= (size_t)(end + 1 - text), text = end + 1) { /* a whole line */
        char line[64];
        snprintf(line, sizeof line, "%.*s", (int)(end - text), text);
        if (!parse_cost(line, "memory", &l.host))
            parse_cost(line, "windows", &l.peer);
    }
    return l;
}

size_t gs_links_request(const struct gs_settings *s, const char *what, char *out, size_t room)
{
    const char *direct = secure_getenv("GPUSPARC_REMOTE_DIRECT");
    size_t n = (size_t)snprintf(out, room, "%s\n", what);
    if (s->transfer == GS_TRANSFER_PLAIN || s->transfer == GS_TRANSFER_PINNED)
        n += (size_t)snprintf(out + n, room - n, "GPUSPARC_TRANSFER=%s\n",
                              s->transfer == GS_TRANSFER_PLAIN ? "plain" : "pinned");
    if (s->remote) /* where they are is in the driver's variables */
        n += (size_t)snprintf(out + n, room - n, "GPUSPARC_REMOTE=yes\n");
    if (s->remote && direct)
        n += (size_t)snprintf(out + n, room - n, "GPUSPARC_REMOTE_DIRECT=%s\n", direct);
    if (s->gpus)
        n += (size_t)snprintf(out + n, room - n, "GPUSPARC_GPUS=%u\n", s->gpus);
    if (s->spec == GS_SPEC_CPU)
        n += (size_t)snprintf(out + n, room - n, "GPUSPARC_DEVICES=cpu:%u\n", s->spec_n);
    else if (s->spec == GS_SPEC_GPU || s->spec == GS_SPEC_ALL)
        n += (size_t)snprintf(out + n, room - n, "GPUSPARC_DEVICES=%s\n", s->spec == GS_SPEC_GPU ? "gpu" : "all");
    else if (s->spec == GS_SPEC_INDICES)
        for (unsigned i = 0; i < s->spec_n; i++)
            n += (size_t)snprintf(out + n, room - n, "%s%u%s", i ? "," : "GPUSPARC_DEVICES=", s->spec_index[i],
                                  i + 1 == s->spec_n ? "\n" : "");
    return n;
}
