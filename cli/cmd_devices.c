/* SPDX-License-Identifier: MIT */
/* gpusparc devices: what there is, which of it forms the group, and what joins it. */
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/device_check.h"
#include "cli/device_links.h"
#include "cli/hosts.h"
#include "cli/hosts_links.h"
#include "cli/show.h"
#include "common/log.h"
#include "common/options.h"
#include "shim/pooled/turns.h"
#include "shim/devices/group.h"

enum { MAX_PLATFORMS = 32, MAX_LISTED = 64 };

static const char usage[] =
    "Usage: gpusparc devices [--hosts LIST] [--devices SPEC] [--gpus N] [--memory pooled[+host:SIZE]]\n"
    "                        [--measure] [--json]\n"
    "       gpusparc devices --check[=SECONDS] [--devices SPEC] [--gpus N] [--json]\n"
    "Lists the OpenCL devices of the machine and those that an application's work would be spread over,\n"
    "with what their links carry, once that has been measured.\n\n"
    "  --hosts LIST    as for gpusparc run: their devices, what a round trip, a launch and a transfer to each costs\n"
    "  --devices SPEC  as for gpusparc run\n"
    "  --gpus N        as for gpusparc run\n"
    "  --memory pooled[+host:SIZE]  as for gpusparc run: how much memory an application would see\n"
    "  --measure       measure the links now (some seconds on GPUs); the figures are kept in the cache, and auto\n"
    "                  mode's predictions begin with those of the links between devices\n"
    "  --check[=SECONDS]  does gpusparc work here? A small application runs plain and split over all of these "
    "devices,\n"
    "                  and their bytes are compared; a line each on that, the translator, windows between GPUs, the\n"
    "                  cache and the daemon: ok, not (with what to do), or - (not needed). A run that has not ended\n"
    "                  after SECONDS (default 30) hangs\n"
    "  --json          JSON on stdout\n\n"
    "Exit status: 0; 1 where there is no device, the links can't be measured, or --check has found that something\n"
    "doesn't work; 2 for wrong usage.\n";

static const struct option options[] = {
    {"hosts", required_argument, NULL, 'h'}, {"devices", required_argument, NULL, 'd'},
    {"gpus", required_argument, NULL, 'g'},  {"memory", required_argument, NULL, 'p'},
    {"measure", no_argument, NULL, 'm'},     {"json", no_argument, NULL, 'j'},
    {"check", optional_argument, NULL, 'c'}, {NULL, 0, NULL, 0},
};

static const char *type_name(cl_device_type type)
{
    return type & CL_DEVICE_TYPE_GPU ? "gpu" : type & CL_DEVICE_TYPE_CPU ? "cpu" : "other";
}

static json_t *describe(cl_device_id dev)
{
    char name[256] = "", version[256] = "", driver[256] = "";
    cl_uint units = 0;
    cl_ulong memory = 0;
    cl_device_type type = 0;
    const struct _cl_icd_dispatch *cl = gs_real();
    cl->clGetDeviceInfo(dev, CL_DEVICE_NAME, sizeof name, name, NULL);
    cl->clGetDeviceInfo(dev, CL_DEVICE_VERSION, sizeof version, version, NULL);
    cl->clGetDeviceInfo(dev, CL_DRIVER_VERSION, sizeof driver, driver, NULL);
    cl->clGetDeviceInfo(dev, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
    cl->clGetDeviceInfo(dev, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, NULL);
    cl->clGetDeviceInfo(dev, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    return json_pack("{s:s, s:s, s:I, s:I, s:s, s:s}", "name", name, "type", type_name(type), "compute_units",
                     (json_int_t)units, "memory_bytes", (json_int_t)memory, "version", version, "driver", driver);
}

static json_t *list_platforms(void)
{
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_uint n = 0;
    json_t *all = json_array();
    if (!gs_real()->clGetPlatformIDs || gs_real()->clGetPlatformIDs(MAX_PLATFORMS, platforms, &n) != CL_SUCCESS)
        return all;
    for (cl_uint p = 0; p < n && p < MAX_PLATFORMS; p++) {
        cl_device_id devices[MAX_LISTED];
        cl_uint count = 0;
        char name[256] = "";
        json_t *list = json_array();
        gs_real()->clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, sizeof name, name, NULL);
        gs_real()->clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MAX_LISTED, devices, &count);
        for (cl_uint i = 0; i < count && i < MAX_LISTED; i++)
            json_array_append_new(list, describe(devices[i]));
        json_array_append_new(all, json_pack("{s:s, s:o}", "platform", name, "devices", list));
    }
    return all;
}

static json_t *describe_group(const struct gs_group *g)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < g->n; i++)
        json_array_append_new(list, describe(g->dev[i]));
    return json_pack("{s:o, s:b, s:b, s:s*}", "devices", list, "sub_devices", (int)g->sub_devices, "shared_memory",
                     (int)g->shared_memory, "reason", g->reason);
}

static void print_device(size_t i, const json_t *d)
{
    printf("  %zu  %-40s %-5s %4" JSON_INTEGER_FORMAT " units %8.1f GiB  driver %s\n", i,
           json_string_value(json_object_get(d, "name")), json_string_value(json_object_get(d, "type")),
           json_integer_value(json_object_get(d, "compute_units")),
           (double)json_integer_value(json_object_get(d, "memory_bytes")) / (1024.0 * 1024 * 1024),
           json_string_value(json_object_get(d, "driver")));
}

static void print_platforms(const json_t *platforms)
{
    size_t i, k;
    json_t *p, *d;
    json_array_foreach(platforms, i, p)
    {
        printf("%s\n", json_string_value(json_object_get(p, "platform")));
        json_array_foreach(json_object_get(p, "devices"), k, d) print_device(k, d);
    }
}

static void print_group(const json_t *group)
{
    size_t k;
    json_t *d;
    const bool parts =
        json_is_true(json_object_get(group, "sub_devices")) && json_array_size(json_object_get(group, "devices")) > 1;
    printf("the group%s%s\n", parts ? ": parts of the CPU device" : "",
           json_is_true(json_object_get(group, "shared_memory")) ? ", joined by the host's memory" : "");
    json_array_foreach(json_object_get(group, "devices"), k, d) print_device(k, d);
    if (json_is_string(json_object_get(group, "reason")))
        printf("  %s\n", json_string_value(json_object_get(group, "reason")));
}

/* "host" or a place in the group. */
static const char *end_name(const json_t *end, char text[24])
{
    if (json_is_string(end))
        return json_string_value(end);
    snprintf(text, 24, "device %" JSON_INTEGER_FORMAT, json_integer_value(end));
    return text;
}

static void print_links(const json_t *group, const json_t *links)
{
    size_t i;
    json_t *l;
    bool between = false;
    const size_t n = json_array_size(json_object_get(group, "devices"));
    if (links)
        printf("its links, measured %s\n", json_string_value(json_object_get(links, "measured")));
    else
        puts("its links have not been measured; gpusparc devices --measure does it");
    json_array_foreach(json_object_get(links, "links"), i, l)
    {
        char from[24], to[24];
        between |= json_is_integer(json_object_get(l, "from")) && json_is_integer(json_object_get(l, "to"));
        printf("  %-9s -> %-9s  %-9s %9.2f GB/s %9.1f us\n", end_name(json_object_get(l, "from"), from),
               end_name(json_object_get(l, "to"), to), json_string_value(json_object_get(l, "path")),
               json_number_value(json_object_get(l, "gb_per_s")), json_number_value(json_object_get(l, "latency_us")));
    }
    if (n > 1 && !between && json_is_true(json_object_get(group, "shared_memory")))
        puts("  between the devices nothing needs to be copied: they share the host's memory");
}

/* Whose choice of devices fits none wants to know what there is. */
static int show_no_group(bool as_json, const char *why)
{
    json_t *platforms = list_platforms();
    if (as_json && json_array_size(platforms)) {
        json_t *all = json_pack("{s:O, s:n, s:o, s:i}", "platforms", platforms, "group", "error", json_string(why),
                                "status", GS_EXIT_FAILED);
        json_dumpf(all, stdout, JSON_INDENT(2));
        putchar('\n');
        json_decref(all);
    } else {
        print_platforms(platforms);
    }
    json_decref(platforms);
    fflush(stdout);
    gs_error("%s", why);
    return GS_EXIT_FAILED;
}

static atomic_bool hosts_done;

/* The servers end where nobody talks to them. */
static void *attend_hosts(void *arg)
{
    while (!atomic_load(&hosts_done)) {
        const struct gs_host *lost = gs_hosts_attend(arg, -1, 100);
        if (!lost)
            continue;
        gs_error("host %s is lost: %s", lost->name, lost->why);
        _exit(GS_EXIT_FAILED);
    }
    return NULL;
}

/* Whose device it is, and what that costs, as `host` and `link`. */
static void add_link(json_t *device, cl_device_id dev, const char *host, size_t bytes)
{
    struct gs_host_link link;
    json_object_set_new(device, "host", json_stringn(host, bytes));
    if (gs_host_link_measure(dev, &link))
        json_object_set_new(device, "link",
                            json_pack("{s:f, s:f, s:f}", "round_trip_us", link.round_trip_us, "launch_us",
                                      link.launch_us, "gb_per_s", link.gb_per_s));
}

/* The way between each two hosts. */
static json_t *describe_ways(const struct gs_hosts *hosts)
{
    json_t *ways = json_array();
    for (unsigned i = 0; i < hosts->n; i++)
        for (unsigned j = i + 1; j < hosts->n; j++) {
            const bool direct = gs_hosts_are_linked(hosts, i, j);
            const char *why = *hosts->link[i][j].why ? hosts->link[i][j].why : hosts->link[j][i].why;
            if (hosts->host[i].state != GS_HOST_READY || hosts->host[j].state != GS_HOST_READY)
                continue;
            json_t *way =
                json_pack("{s:[ss], s:b}", "hosts", hosts->host[i].name, hosts->host[j].name, "direct", (int)direct);
            if (!direct && *why)
                json_object_set_new(way, "why", json_string(why));
            json_array_append_new(ways, way);
        }
    return ways;
}

static void print_ways(const json_t *ways)
{
    for (size_t i = 0; i < json_array_size(ways); i++) {
        const json_t *way = json_array_get(ways, i), *both = json_object_get(way, "hosts");
        const char *why = json_string_value(json_object_get(way, "why"));
        printf("%s and %s: bytes go %s%s%s%s\n", json_string_value(json_array_get(both, 0)),
               json_string_value(json_array_get(both, 1)),
               json_is_true(json_object_get(way, "direct")) ? "directly" : "through this machine", why ? " (" : "",
               why ? why : "", why ? ")" : "");
    }
}

static void show_host_devices(const struct gs_group *g, const struct gs_hosts *hosts, const char *names, bool as_json)
{
    json_t *list = json_array(), *ways = describe_ways(hosts);
    for (unsigned i = 0; i < g->n; i++) {
        const size_t n = strcspn(names, ",");
        json_t *d = describe(g->dev[i]);
        add_link(d, g->dev[i], names, n);
        names += n + (names[n] == ',');
        json_array_append_new(list, d);
        if (as_json)
            continue;
        const json_t *link = json_object_get(d, "link");
        print_device(i, d);
        printf("     on %s", json_string_value(json_object_get(d, "host")));
        if (link)
            printf(": round trip %.0f us, launch %.0f us, %.2f GB/s",
                   json_real_value(json_object_get(link, "round_trip_us")),
                   json_real_value(json_object_get(link, "launch_us")),
                   json_real_value(json_object_get(link, "gb_per_s")));
        putchar('\n');
    }
    if (as_json) {
        json_t *all = json_pack("{s:O, s:O}", "devices", list, "between", ways);
        json_dumpf(all, stdout, JSON_INDENT(2));
        putchar('\n');
        json_decref(all);
    } else {
        print_ways(ways);
    }
    json_decref(list);
    json_decref(ways);
}

/* Settings other than the default are those of indices that --devices gives. */
static int show_hosts(const char *hosts_list, struct gs_settings *settings, bool as_json)
{
    static struct gs_hosts hosts;
    struct gs_group group;
    char why[512];
    pthread_t attendant;
    int status = GS_EXIT_FAILED;
    if (gs_hosts_parse(&hosts, hosts_list, "--hosts", why, sizeof why) < 0) {
        gs_usage_error(why, "gpusparc devices");
        return GS_EXIT_USAGE;
    }
    int err = gs_hosts_start(&hosts, false, why, sizeof why);
    const bool attended =
        !err && gs_hosts_set_environment(&hosts) == 0 && pthread_create(&attendant, NULL, attend_hosts, &hosts) == 0;
    settings->remote = getenv("GPUSPARC_REMOTE");
    if (!err)
        err = gs_group_make(&group, settings, why, sizeof why);
    if (err)
        gs_error("%s", why);
    else
        show_host_devices(&group, &hosts, settings->remote, as_json);
    if (!err)
        status = GS_EXIT_OK;
    fflush(stdout);
    atomic_store(&hosts_done, true);
    if (attended)
        pthread_join(attendant, NULL);
    gs_hosts_end(&hosts);
    return status;
}

/* What the command line says beside the settings. */
struct wishes {
    const char *hosts, *devices, *gpus;
    bool as_json, measure;
    double check_s; /* 0: no --check */
};

enum { CHECK_S = 30, MOST_CHECK_S = 3600 };

static int read_check(const char *seconds, double *s, char *why, size_t why_bytes)
{
    char *end = NULL;
    *s = seconds ? strtod(seconds, &end) : CHECK_S;
    if (!seconds || (end != seconds && !*end && *s > 0 && *s <= MOST_CHECK_S))
        return 0;
    snprintf(why, why_bytes, "--check=%s wants a number of seconds, %d at most", seconds, MOST_CHECK_S);
    return -1;
}

static int read_option(int opt, char **argv, struct gs_settings *settings, struct wishes *w, char *why,
                       size_t why_bytes)
{
    switch (opt) {
    case 'j':
        w->as_json = true;
        return 0;
    case 'm':
        w->measure = true;
        return 0;
    case 'h':
        w->hosts = optarg;
        return 0;
    case 'c':
        return read_check(optarg, &w->check_s, why, why_bytes);
    case 'd':
        w->devices = optarg;
        return gs_settings_set(settings, "GPUSPARC_DEVICES", "--devices", optarg, why, why_bytes);
    case 'g':
        w->gpus = optarg;
        return gs_settings_set(settings, "GPUSPARC_GPUS", "--gpus", optarg, why, why_bytes);
    case 'p':
        return gs_settings_set(settings, "GPUSPARC_MEMORY", "--memory", optarg, why, why_bytes);
    default:
        gs_option_why(why, why_bytes, argv, options);
        return -1;
    }
}

static int read_words(int argc, char **argv, struct gs_settings *settings, struct wishes *w, char *why,
                      size_t why_bytes)
{
    int opt, bad = gs_settings_from_env(settings, why, why_bytes);
    opterr = 0;
    while (!bad && (opt = getopt_long(argc, argv, "", options, NULL)) != -1)
        bad = read_option(opt, argv, settings, w, why, why_bytes);
    if (bad)
        return bad;
    if (optind < argc) {
        snprintf(why, why_bytes, "'%s' is one argument too many", argv[optind]);
        return -1;
    }
    const char *other = w->hosts ? "--hosts" : settings->pooled ? "--memory" : "--measure";
    if (w->check_s > 0 && (w->hosts || settings->pooled || w->measure)) {
        snprintf(why, why_bytes, "--check is for this machine's devices, and goes without %s", other);
        return -1;
    }
    if (settings->pooled && w->hosts) {
        snprintf(why, why_bytes, "--memory can't be had with --hosts");
        return -1;
    }
    if (settings->pooled)
        settings->mode = GS_MODE_MULTI; /* as the application runs: a CPU alone is divided */
    return 0;
}

/* What the one device that an application sees would say of its memory, and of its largest buffer. NULL: it sees the
 * first device as it is. */
static json_t *describe_memory(const json_t *group, const struct gs_settings *settings)
{
    uint64_t bytes = settings->pooled_host;
    size_t i;
    json_t *d;
    if (!settings->pooled)
        return NULL;
    json_array_foreach(json_object_get(group, "devices"), i, d) bytes +=
        gs_pool_space_of((uint64_t)json_integer_value(json_object_get(d, "memory_bytes")));
    return json_pack("{s:I, s:I}", "bytes", (json_int_t)bytes, "of_the_host", (json_int_t)settings->pooled_host);
}

static void print_memory(const json_t *memory)
{
    char all[GS_SHOW], host[GS_SHOW];
    const uint64_t of_host = (uint64_t)json_integer_value(json_object_get(memory, "of_the_host"));
    if (!memory)
        return;
    printf("with --memory pooled an application sees one device with %s%s%s%s and buffers of any size up to that\n",
           gs_show_bytes((uint64_t)json_integer_value(json_object_get(memory, "bytes")), all), of_host ? ", " : "",
           of_host ? gs_show_bytes(of_host, host) : "", of_host ? " of it the host's," : "");
}

static int show(const struct gs_group *group, const struct gs_settings *settings, bool as_json, bool measure)
{
    json_t *platforms = list_platforms(), *of_group = describe_group(group);
    json_t *links = gs_device_links(group, settings, measure), *memory = describe_memory(of_group, settings);
    if (as_json) {
        json_t *all = json_pack("{s:O, s:O, s:O*, s:O*}", "platforms", platforms, "group", of_group, "memory", memory,
                                "links", links);
        json_dumpf(all, stdout, JSON_INDENT(2));
        putchar('\n');
        json_decref(all);
    } else {
        print_platforms(platforms);
        print_group(of_group);
        print_memory(memory);
        print_links(of_group, links);
    }
    json_decref(platforms);
    json_decref(of_group);
    json_decref(memory);
    const bool failed = measure && !links;
    json_decref(links);
    return failed ? GS_EXIT_FAILED : GS_EXIT_OK;
}

static int run(int argc, char **argv)
{
    struct gs_settings settings;
    struct gs_group group;
    struct wishes w = {0};
    char why[256];
    if (read_words(argc, argv, &settings, &w, why, sizeof why)) {
        gs_usage_error(why, "gpusparc devices");
        return GS_EXIT_USAGE;
    }
    const bool checks = w.check_s > 0;
    const char *hosts = w.hosts ? w.hosts : getenv("GPUSPARC_HOSTS");
    if (!checks && hosts && *hosts && strcmp(hosts, "none") != 0)
        return show_hosts(hosts, &settings, w.as_json);
    if (checks)
        settings.mode = GS_MODE_MULTI; /* as the application runs; a CPU alone is divided */
    if (gs_group_make(&group, &settings, why, sizeof why) < 0)
        return show_no_group(w.as_json, why);
    return checks ? gs_device_check(&group, &settings, w.devices, w.gpus, w.check_s, w.as_json)
                  : show(&group, &settings, w.as_json, w.measure);
}

const struct gs_command gs_cmd_devices = {
    .name = "devices",
    .summary = "lists the devices and the group they form",
    .usage = usage,
    .run = run,
};
