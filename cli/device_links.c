/* SPDX-License-Identifier: MIT */
#include "cli/device_links.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/paths.h"
#include "common/cache.h"
#include "common/hash.h"
#include "common/log.h"
#include "common/spawn.h"
#include "common/links.h"

enum { TIMEOUT_MS = 60000 };

/* What the figures belong to: the devices and their driver, in this order, and the path asked for. */
static void cache_name(const struct gs_group *g, const struct gs_settings *s, char name[GS_HASH_HEX_BYTES])
{
    char text[8192];
    size_t n = (size_t)snprintf(text, sizeof text, "gpusparc-links 1 %d %d", (int)g->shared_memory, (int)s->transfer);
    for (unsigned i = 0; i < g->n && n < sizeof text; i++) {
        char device[256] = "", driver[256] = "";
        cl_uint units = 0;
        unsigned char uuid[CL_UUID_SIZE_KHR] = {0};
        gs_real()->clGetDeviceInfo(g->dev[i], CL_DEVICE_NAME, sizeof device, device, NULL);
        gs_real()->clGetDeviceInfo(g->dev[i], CL_DRIVER_VERSION, sizeof driver, driver, NULL);
        gs_real()->clGetDeviceInfo(g->dev[i], CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
        gs_real()->clGetDeviceInfo(g->dev[i], CL_DEVICE_UUID_KHR, sizeof uuid, uuid, NULL);
        n += (size_t)snprintf(text + n, sizeof text - n, "\n%s, %s, %u units ", device, driver, units);
        for (size_t k = 0; k < sizeof uuid && n < sizeof text; k++)
            n += (size_t)snprintf(text + n, sizeof text - n, "%02x", uuid[k]);
    }
    gs_hash_hex(text, n < sizeof text ? n : sizeof text - 1, name);
}

/* Lets the probe measure; NULL where it can't. */
static json_t *probe(const struct gs_settings *settings, const char *what, const char **how)
{
    char path[PATH_MAX], input[512], *output = NULL;
    size_t bytes = 0;
    const size_t n = gs_links_request(settings, what, input, sizeof input);
    if (gs_library_path("gpusparc-link-probe", path, sizeof path) < 0)
        return NULL;
    json_t *links = NULL;
    if (gs_spawn(path, input, n, TIMEOUT_MS, 0, &output, &bytes, how) == 0)
        links = json_loadb(output, bytes, 0, NULL);
    free(output);
    return links;
}

static bool is_between(const json_t *link)
{
    return json_is_integer(json_object_get(link, "from")) && json_is_integer(json_object_get(link, "to"));
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of a figure of the links between devices; 0: there are none. */
static double median_between(const json_t *links, const char *figure)
{
    double v[GS_MAX_DEVICES * GS_MAX_DEVICES];
    size_t n = 0, i;
    const json_t *link;
    json_array_foreach(links, i, link)
    {
        if (is_between(link) && n < sizeof v / sizeof *v)
            v[n++] = json_number_value(json_object_get(link, figure));
    }
    qsort(v, n, sizeof *v, compare);
    return n ? v[n / 2] : 0;
}

static struct gs_link_cost cost_between(const json_t *links)
{
    return gs_link_cost(median_between(links, "latency_us"), median_between(links, "gb_per_s"));
}

/* What auto mode begins with. */
static void keep_costs(const struct gs_group *g, const struct gs_settings *s, const json_t *host, const json_t *peer)
{
    const struct gs_links links = {cost_between(host), cost_between(peer)};
    char name[GS_LINKS_NAME_BYTES];
    gs_links_name(g->dev, g->n, g->shared_memory, s->transfer, name);
    gs_links_write(name, &links);
}

/* Windows, where they can be had, are the way that would be used. */
static json_t *measure_links(const struct gs_group *g, const struct gs_settings *settings)
{
    const char *how = "gave no figures";
    json_t *links = probe(settings, "host", &how), *link;
    size_t i;
    if (!links) {
        gs_error("the links can't be measured: gpusparc-link-probe %s", how);
        return NULL;
    }
    const bool windows = settings->transfer == GS_TRANSFER_AUTO || settings->transfer == GS_TRANSFER_PEER;
    json_t *peer = windows && g->type & CL_DEVICE_TYPE_GPU && g->n > 1 ? probe(settings, "peer", &how) : NULL;
    keep_costs(g, settings, links, peer);
    for (i = json_array_size(links); json_array_size(peer) && i-- > 0;)
        if (is_between(json_array_get(links, i)))
            json_array_remove(links, i);
    json_array_foreach(peer, i, link) json_array_append(links, link);
    json_decref(peer);
    char date[32];
    const time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    return json_pack("{s:s, s:o}", "measured", date, "links", links);
}

json_t *gs_device_links(const struct gs_group *group, const struct gs_settings *settings, bool measure)
{
    char name[GS_HASH_HEX_BYTES];
    size_t bytes = 0;
    cache_name(group, settings, name);
    if (!measure) {
        char *kept = gs_cache_read(name, &bytes);
        json_t *links = kept ? json_loadb(kept, bytes, 0, NULL) : NULL;
        free(kept);
        if (!json_is_array(json_object_get(links, "links"))) {
            json_decref(links);
            return NULL;
        }
        return links;
    }
    json_t *links = measure_links(group, settings);
    char *text = links ? json_dumps(links, JSON_COMPACT) : NULL;
    if (text)
        gs_cache_write(name, text, strlen(text));
    free(text);
    return links;
}
