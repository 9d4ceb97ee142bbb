/* SPDX-License-Identifier: MIT */
/* Device profiles of the timing model: the built-in one, and their JSON. */
#include "gema/timing.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
#define SAME(i, l) {(i), {(l), (l), (l)}}

const struct gs_timing_profile gs_timing_fermi = {
    .name = "fermi", .clock_mhz = 607, .warp_schedulers = 2, .scheduler_cycles = 2,
    .cost = {
        [GS_PTX_ARITHMETIC] = SAME(6, 18),            /* Table 7: Reg, Reg RaW */
        [GS_PTX_SPECIAL] = SAME(6, 22),               /* Tables 19 and 20: COS */
        [GS_PTX_SHARED_LOAD] = SAME(26, 26),          /* Table 7: LDS */
        [GS_PTX_SHARED_STORE] = SAME(30, 30),         /* Table 7: STS */
        [GS_PTX_GLOBAL_LOAD] = {6, {350, 370, 500}},  /* Table 7: LD.E; the average is section 5.4's slope */
        [GS_PTX_GLOBAL_STORE] = SAME(34, 34),         /* Table 7: ST.E */
        [GS_PTX_CONSTANT_LOAD] = SAME(6, 18),         /* not measured: an operand of arithmetic */
        [GS_PTX_ATOMIC] = {6, {350, 370, 500}},       /* not measured: as a load */
        [GS_PTX_BARRIER] = SAME(6, 6),                /* not measured */
        [GS_PTX_BRANCH] = SAME(6, 6),                 /* not measured */
        [GS_PTX_RETURN] = SAME(6, 6),                 /* not measured */
    },
};

static const struct { const char *name, *word; } classes[GS_PTX_CLASSES] = {
    [GS_PTX_ARITHMETIC] = {"arithmetic", "alu"},      [GS_PTX_SPECIAL] = {"special", "sfu"},
    [GS_PTX_SHARED_LOAD] = {"shared_load", "lds"},    [GS_PTX_SHARED_STORE] = {"shared_store", "sts"},
    [GS_PTX_GLOBAL_LOAD] = {"global_load", "ld"},     [GS_PTX_GLOBAL_STORE] = {"global_store", "st"},
    [GS_PTX_CONSTANT_LOAD] = {"constant_load", "ldc"}, [GS_PTX_ATOMIC] = {"atomic", "atom"},
    [GS_PTX_BARRIER] = {"barrier", "bar"},            [GS_PTX_BRANCH] = {"branch", "bra"},
    [GS_PTX_RETURN] = {"return", "ret"},
};
/* clang-format on */

const char *gs_timing_class_name(enum gs_ptx_class class)
{
    return classes[class].name;
}

const char *gs_timing_class_word(enum gs_ptx_class class)
{
    return classes[class].word;
}

static const double max_cycles = 1e9;

static bool is_cycles(double v)
{
    return v >= 0 && v <= max_cycles;
}

static int class_of(const char *name, size_t n)
{
    int i = 0;
    while (i < GS_PTX_CLASSES && (strncmp(classes[i].name, name, n) != 0 || classes[i].name[n]))
        i++;
    return i;
}

static int bad(char *why, size_t why_size, const char *what, const char *key)
{
    snprintf(why, why_size, "the device profile's \"%.60s\" %s", key, what);
    return -EINVAL;
}

/* "latency": one number for all cases, or [best, average, worst]. */
static bool read_latency(const json_t *j, double *latency)
{
    for (size_t c = 0; c < GS_TIMING_CASES; c++) {
        const json_t *v = json_is_array(j) ? json_array_get(j, c) : j;
        if (!json_is_number(v) || !is_cycles(json_number_value(v)))
            return false;
        latency[c] = json_number_value(v);
    }
    return (!json_is_array(j) || json_array_size(j) == GS_TIMING_CASES) && latency[0] <= latency[1] &&
           latency[1] <= latency[2];
}

static int read_class(struct gs_timing_cost *cost, const char *key, const json_t *j, char *why, size_t why_size)
{
    const json_t *issue = json_object_get(j, "issue");
    if (!json_is_number(issue) || !is_cycles(json_number_value(issue)) ||
        !read_latency(json_object_get(j, "latency"), cost->latency))
        return bad(why, why_size,
                   "wants {\"issue\": CYCLES, \"latency\": CYCLES or [BEST, AVERAGE, WORST]} in rising order", key);
    cost->issue = json_number_value(issue);
    return 0;
}

static int read_member(struct gs_timing_profile *p, const char *key, const json_t *v, char *why, size_t why_size)
{
    double number = json_number_value(v);
    int class = class_of(key, strlen(key));
    if (class < GS_PTX_CLASSES)
        return read_class(&p->cost[class], key, v, why, why_size);
    if (strcmp(key, "name") == 0 && json_is_string(v)) {
        snprintf(p->name, sizeof(p->name), "%s", json_string_value(v));
        return 0;
    }
    if (strcmp(key, "clock_mhz") == 0 && json_is_number(v) && number >= 0 && number <= 1e6) {
        p->clock_mhz = number;
        return 0;
    }
    bool small = json_is_integer(v) && number >= 1 && number <= 1024;
    if (strcmp(key, "warp_schedulers") == 0 && small) {
        p->warp_schedulers = (unsigned)number;
        return 0;
    }
    if (strcmp(key, "scheduler_cycles") == 0 && small) {
        p->scheduler_cycles = (unsigned)number;
        return 0;
    }
    /* A probe may write down more than the model uses, under a name of its own. */
    return strcmp(key, "measured") == 0 ? 0 : bad(why, why_size, "is unknown, or has a value that it can't have", key);
}

int gs_timing_profile_read(struct gs_timing_profile *p, const char *json, char *why, size_t why_size)
{
    json_error_t error;
    json_t *j = json_loads(json, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_object(j)) {
        snprintf(why, why_size, "line %d: the device profile is no JSON object: %.100s", error.line, error.text);
        json_decref(j);
        return -EINVAL;
    }
    memset(p, 0, sizeof(*p));
    p->warp_schedulers = p->scheduler_cycles = 1;
    int rc = 0;
    const char *key;
    json_t *v;
    json_object_foreach(j, key, v)
    {
        if (rc == 0)
            rc = read_member(p, key, v, why, why_size);
    }
    for (int i = 0; i < GS_PTX_CLASSES && rc == 0; i++)
        if (!json_object_get(j, classes[i].name))
            rc = bad(why, why_size, "is missing", classes[i].name);
    json_decref(j);
    return rc;
}

/* Whole numbers without a fraction. */
static json_t *number_json(double v)
{
    return v == floor(v) ? json_integer((json_int_t)v) : json_real(v);
}

static json_t *class_json(const struct gs_timing_cost *cost)
{
    json_t *j = json_object(), *latency = json_array();
    json_object_set_new(j, "issue", number_json(cost->issue));
    for (int c = 0; c < GS_TIMING_CASES; c++)
        json_array_append_new(latency, number_json(cost->latency[c]));
    json_object_set_new(j, "latency", latency);
    return j;
}

char *gs_timing_profile_write(const struct gs_timing_profile *p)
{
    json_t *j = json_pack("{s:s, s:o, s:i, s:i}", "name", p->name, "clock_mhz", number_json(p->clock_mhz),
                          "warp_schedulers", (int)p->warp_schedulers, "scheduler_cycles", (int)p->scheduler_cycles);
    for (int i = 0; i < GS_PTX_CLASSES; i++)
        json_object_set_new(j, classes[i].name, class_json(&p->cost[i]));
    char *text = json_dumps(j, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
    json_decref(j);
    return text;
}

static bool set_cost(struct gs_timing_cost *cost, const char *part, double v)
{
    static const char *const cases[] = {"best", "average", "worst"};
    bool known = false;
    if (!*part || strcmp(part, "issue") == 0) {
        cost->issue = v;
        known = true;
    }
    for (int c = 0; c < GS_TIMING_CASES; c++)
        if (!*part || strcmp(part, "latency") == 0 || strcmp(part, cases[c]) == 0) {
            cost->latency[c] = v;
            known = true;
        }
    return known;
}

int gs_timing_profile_set(struct gs_timing_profile *p, const char *assignment, char *why, size_t why_size)
{
    const char *eq = strchr(assignment, '=');
    char *end = NULL, part[16] = "";
    double v = eq && eq[1] ? strtod(eq + 1, &end) : -1;
    size_t n = strcspn(assignment, ".=");
    if (eq && assignment[n] == '.')
        snprintf(part, sizeof(part), "%.*s", (int)(eq - assignment - (ptrdiff_t)n - 1), assignment + n + 1);
    int class = class_of(assignment, n);
    bool ok = end && !*end && is_cycles(v);
    if (ok && class < GS_PTX_CLASSES)
        ok = set_cost(&p->cost[class], part, v);
    else if (ok && n == strlen("clock_mhz") && strncmp(assignment, "clock_mhz", n) == 0 && !*part)
        p->clock_mhz = v;
    else
        ok = false;
    if (!ok) {
        snprintf(why, why_size,
                 "--set wants CLASS=CYCLES or CLASS.issue, .latency, .best, .average or .worst=CYCLES, not '%.60s'",
                 assignment);
        return -EINVAL;
    }
    return 0;
}
