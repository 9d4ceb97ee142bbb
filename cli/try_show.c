/* SPDX-License-Identifier: MIT */
/* gpusparc try: the verdict, the kernels that matter, and what to do next; as text, Markdown, JSON or a page. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/try.h"
#include "common/log.h"
#include "common/page.h"

enum { MOST_SHOWN = 10, CELL = 160 };

/* One row of the kernels' table, as numbers and words. */
struct kernel {
    const char *name, *reason;
    double share; /* of all kernels' time, 0 to 1 */
    long launches, split;
};

static double device_ns(const json_t *kernel)
{
    double sum = 0;
    json_t *ns;
    size_t i;
    json_array_foreach(json_object_get(kernel, "device_ns"), i, ns) sum += json_number_value(ns);
    return sum;
}

/* The reason that most launches had. */
static const char *reason_of(const json_t *kernel)
{
    const char *most = NULL;
    json_int_t count = 0;
    json_t *reason;
    size_t i;
    json_array_foreach(json_object_get(kernel, "reasons"), i, reason)
    {
        if (json_integer_value(json_object_get(reason, "count")) <= count)
            continue;
        count = json_integer_value(json_object_get(reason, "count"));
        most = json_string_value(json_object_get(reason, "reason"));
    }
    return most;
}

static int by_share(const void *a, const void *b)
{
    const struct kernel *x = a, *y = b;
    return x->share < y->share ? 1 : x->share > y->share ? -1 : strcmp(x->name, y->name);
}

/* Those that take most, first; *kernels is the caller's. */
static size_t kernels_of(const struct gs_try *t, struct kernel **kernels)
{
    const json_t *all = json_object_get(t->stats, "kernels");
    const size_t n = json_array_size(all);
    struct kernel *v = calloc(n + 1, sizeof *v);
    double sum = 0;
    *kernels = v;
    for (size_t i = 0; v && i < n; i++) {
        const json_t *k = json_array_get(all, i);
        const char *name = json_string_value(json_object_get(k, "name"));
        v[i] = (struct kernel){.name = name ? name : "",
                               .reason = reason_of(k),
                               .share = device_ns(k),
                               .launches = (long)json_integer_value(json_object_get(k, "launches")),
                               .split = (long)json_integer_value(json_object_get(k, "split"))};
        sum += v[i].share;
    }
    for (size_t i = 0; v && i < n && sum > 0; i++)
        v[i].share /= sum;
    if (v)
        qsort(v, n, sizeof *v, by_share);
    return v ? n : 0;
}

static bool has_no_kernels(const struct gs_try *t)
{
    return t->explained && json_array_size(json_object_get(t->stats, "kernels")) == 0;
}

/* Is there a kernel that one device alone ran at times? */
static bool has_unsplit(const struct gs_try *t)
{
    struct kernel *k;
    const size_t n = kernels_of(t, &k);
    bool any = false;
    for (size_t i = 0; i < n; i++)
        any |= k[i].split < k[i].launches;
    free(k);
    return any;
}

static const char *devices_of(const struct gs_try *t)
{
    return t->cpu ? "parts of the CPU" : t->gpus_only ? "GPUs" : "devices";
}

static struct gs_try_causes causes_of(const struct gs_try *t)
{
    struct gs_try_causes c = {.n = t->n, .devices = devices_of(t), .known = t->stats != NULL};
    const json_t *staged = json_object_get(json_object_get(t->stats, "bytes"), "staged");
    json_t *kernel;
    size_t i;
    c.staged = json_integer_value(json_object_get(staged, "bytes")) > 0;
    json_array_foreach(json_object_get(t->stats, "kernels"), i, kernel) c.split |=
        json_integer_value(json_object_get(kernel, "split")) > 0;
    return c;
}

static enum gs_try_way base_of(const struct gs_try *t)
{
    return t->cpu ? GS_TRY_SINGLE : GS_TRY_PLAIN;
}

static struct gs_try_verdict verdict_of(const struct gs_try *t, enum gs_try_way all)
{
    return gs_try_judge(&t->times, base_of(t), all, 0.05 / gs_looks_count(&t->looks));
}

static void say_blind(const struct gs_try *t, char *text, size_t bytes)
{
    struct kernel *k;
    const size_t n = kernels_of(t, &k);
    size_t split = 0;
    for (size_t i = 0; i < n; i++)
        split += k[i].split > 0;
    snprintf(text, bytes, "There is no GPU here, so how fast it would be can't be known");
    if (!has_no_kernels(t))
        snprintf(text + strlen(text), bytes - strlen(text),
                 ". Kernels that it launched: %zu; of these can be split: %zu", n, split);
    free(k);
}

static void say_cut(const struct gs_try *t, char *text, size_t bytes)
{
    if (t->cut == GS_TRY_CUT_FIRST)
        snprintf(text, bytes, "Not known: it was interrupted in the first plain run, after %.1f s", t->cut_s);
    else if (t->cut == GS_TRY_CUT_EARLY)
        snprintf(text, bytes,
                 "Not known: it was interrupted before each way had been run once; a plain run takes %.1f s", t->cut_s);
    else
        snprintf(text, bytes, "Not known: a plain run takes %.1f s, and --time is %g s", t->cut_s, t->time_s);
}

static void say_verdict(const struct gs_try *t, char *text, size_t bytes)
{
    if (t->cut) {
        say_cut(t, text, bytes);
        return;
    }
    if (t->blind) {
        say_blind(t, text, bytes);
        return;
    }
    const struct gs_try_verdict v = verdict_of(t, GS_TRY_ALL);
    const struct gs_try_causes c = causes_of(t);
    gs_try_say(text, bytes, &v, &c);
}

static void say_result(const struct gs_try *t, char *text, size_t bytes)
{
    if (t->hung_s > 0)
        snprintf(text, bytes, "WRONG: with %s it had not ended after %.0f s; a plain run took %.1f s",
                 gs_try_names[t->different_in], t->hung_s, t->times.first_s[GS_TRY_PLAIN]);
    else if (t->different)
        snprintf(text, bytes, "WRONG: with %s %s differs from the plain run's", gs_try_names[t->different_in],
                 t->different);
    else if (t->cut)
        snprintf(text, bytes, "Nothing was compared: there are too few runs");
    else if (t->varies)
        snprintf(text, bytes, "Not compared: what it prints or writes differs from run to run without gpusparc, too");
    else
        snprintf(text, bytes, "Exit status (%d) and output%s were the plain run's each time", t->status,
                 t->n_outputs ? " and files" : "");
}

static void add_word(char *text, size_t bytes, const char *option, const char *word)
{
    const size_t n = strlen(text);
    if (word)
        snprintf(text + n, bytes - n, strpbrk(word, " \t\n\"'$*?;&|<>()") ? "%s '%s'" : "%s %s", option, word);
}

/* The devices as they were given and the application's words behind `begin`, as far as there is room. */
static void say_command(const struct gs_try *t, const char *begin, char *text, size_t bytes)
{
    snprintf(text, bytes, "%s", begin);
    add_word(text, bytes, " --devices", t->devices);
    add_word(text, bytes, " --gpus", t->gpus);
    for (char *const *word = t->app; *word; word++)
        add_word(text, bytes, "", *word);
}

/* The same command with more time. */
static void say_again(const struct gs_try *t, const char *begin, char *text, size_t bytes)
{
    char words[512];
    snprintf(words, sizeof words, "%s%s", begin, t->multi ? " --multi" : "");
    for (size_t i = 0; i < t->n_outputs; i++)
        add_word(words, sizeof words, " --output", t->outputs[i]);
    say_command(t, words, text, bytes);
}

static void say_next(const struct gs_try *t, char *text, size_t bytes)
{
    char again[64];
    snprintf(again, sizeof again, "gpusparc try --time %.0fs", t->time_s * 4);
    const struct gs_try_verdict v = verdict_of(t, GS_TRY_ALL);
    if (t->cut) {
        /* A first plain run, each way once, six rounds and one that says why. */
        const double needed_s = fmax(t->cut_s * (2 + 7 * (t->multi ? 4 : 3)), t->time_s);
        snprintf(again, sizeof again, "with a smaller input, or gpusparc try --time %.0fs", ceil(needed_s / 10) * 10);
    }
    if (t->different)
        snprintf(text, bytes, "gpusparc run --verify says which launch's result is another");
    else if (has_no_kernels(t) && t->status)
        snprintf(text, bytes, "mend that, and try again");
    else if (has_no_kernels(t))
        say_command(t, "the application's OpenCL calls, one a line: gpusparc run --log", text, bytes);
    else if (t->blind && !t->cut)
        snprintf(text, bytes, "the same command on a machine with GPUs");
    else if (v.outcome == GS_TRY_FASTER && !t->cut)
        say_command(t, "gpusparc run", text, bytes);
    else if (v.outcome == GS_TRY_UNSURE || t->cut)
        say_again(t, again, text, bytes);
    else if (!has_unsplit(t))
        say_command(t, "what waits for what: gpusparc run --trace t.json", text, bytes);
    else
        snprintf(text, bytes, "the kernels below, from the top: what would have them split");
}

/* ---- text and Markdown ---- */

static void print_times(const struct gs_try *t, bool markdown)
{
    if (!t->times.n)
        return;
    printf(markdown ? "\n| way | median, ms | first run, ms |\n| --- | ---: | ---: |\n"
                    : "\nway            median ms  first run ms\n");
    for (int way = 0; way < GS_TRY_WAYS; way++) {
        if (way == GS_TRY_MULTI && !t->multi)
            continue;
        printf(markdown ? "| %s | %.1f | %.1f |\n" : "%-12s %11.1f %13.1f\n", gs_try_names[way],
               gs_try_median(&t->times, way) * 1e3, t->times.first_s[way] * 1e3);
    }
}

static void print_kernels(const struct gs_try *t, bool markdown)
{
    struct kernel *k;
    const size_t n = kernels_of(t, &k);
    if (n)
        printf(markdown ? "\n| %% of kernels' time | kernel | launches | split | why not | what would have it split |\n"
                          "| ---: | --- | ---: | ---: | --- | --- |\n"
                        : "\ntime  kernel                    launches    split  why not split\n");
    for (size_t i = 0; i < n && i < MOST_SHOWN; i++) {
        const char *why = k[i].split < k[i].launches && k[i].reason ? k[i].reason : NULL;
        if (markdown) {
            printf("| %.1f | %s | %ld | %ld | %s | %s |\n", k[i].share * 100, k[i].name, k[i].launches, k[i].split,
                   why ? why : "", why ? gs_try_remedy(why) : "");
            continue;
        }
        printf("%3.0f %%  %-24s %9ld %8ld  %s\n", k[i].share * 100, k[i].name, k[i].launches, k[i].split,
               why ? why : "");
        if (why)
            printf("%52swhat would help: %s\n", "", gs_try_remedy(why));
    }
    if (n > MOST_SHOWN)
        printf("%s%zu more kernels; --json has all\n", markdown ? "\n" : "", n - MOST_SHOWN);
    free(k);
}

/* That nothing was gained may have a simple reason. */
static bool say_failure(const struct gs_try *t, char *text, size_t bytes)
{
    if (t->status)
        snprintf(text, bytes, "It ends with exit status %d without gpusparc, too%s%s. Does it do its work?", t->status,
                 *t->said ? ": " : "", t->said);
    return t->status != 0;
}

/* What is to be known besides, one sentence after the other: false behind the last. */
static bool say_remark(const struct gs_try *t, size_t nth, char *text, size_t bytes)
{
    enum { MOST = 4 };
    struct gs_try_outlier o;
    if (!t->cut && say_failure(t, text, bytes) && nth-- == 0)
        return true;
    if (has_no_kernels(t) && nth-- == 0) {
        snprintf(text, bytes,
                 "It launched no OpenCL kernel under gpusparc, so there was nothing to split. Does it use OpenCL, by "
                 "the system's libOpenCL.so.1, and not CUDA alone?");
        return true;
    }
    if (nth < MOST && gs_try_find_outlier(&t->times, nth, &o)) {
        snprintf(text, bytes, "An outlier: round %zu, %s, took %.1f ms; %.1f ms is usual.", o.round,
                 gs_try_names[o.way], o.s * 1e3, o.usual_s * 1e3);
        return true;
    }
    const struct gs_try_verdict v = verdict_of(t, GS_TRY_ALL);
    snprintf(text, bytes, "%zu of %zu runs were such: was the machine busy?", v.outliers, v.runs);
    return nth == MOST && v.outliers > MOST;
}

static void print(const struct gs_try *t, bool markdown)
{
    char text[512];
    const char *line = markdown ? "\n%s.\n" : "%s.\n";
    say_verdict(t, text, sizeof text);
    printf(markdown ? "**%s.**\n" : "%s.\n", text);
    if (t->multi && t->times.n) {
        const struct gs_try_verdict v = verdict_of(t, GS_TRY_MULTI);
        const struct gs_try_causes c = {.n = t->n, .devices = devices_of(t)}; /* the statistics are of mode auto */
        gs_try_say(text, sizeof text, &v, &c);
        printf(markdown ? "\nIn mode multi: %s.\n" : "In mode multi: %s.\n", text);
    }
    say_result(t, text, sizeof text);
    printf(line, text);
    for (size_t i = 0; say_remark(t, i, text, sizeof text); i++)
        printf(markdown ? "\n%s\n" : "%s\n", text);
    print_times(t, markdown);
    print_kernels(t, markdown);
    say_next(t, text, sizeof text);
    printf("\nNext: %s\n", text);
}

/* ---- JSON ---- */

static json_t *factor_json(const struct gs_try_factor *f)
{
    json_t *j = json_pack("{s:f}", "times", f->times);
    if (f->low > 0) {
        json_object_set_new(j, "low", json_real(f->low));
        json_object_set_new(j, "high", json_real(f->high));
    }
    return j;
}

static json_t *verdict_json(const struct gs_try_verdict *v)
{
    static const char *const words[] = {"faster", "slower", "no difference", "not sure"};
    return json_pack("{s:s, s:o, s:o, s:o}", "outcome", words[v->outcome], "all", factor_json(&v->all), "by_one",
                     factor_json(&v->by_single), "by_others", json_pack("{s:f}", "times", v->by_more));
}

static const char *const keys[GS_TRY_WAYS] = {"plain", "single", "default", "multi"};

static json_t *outliers_json(const struct gs_try *t)
{
    json_t *all = json_array();
    struct gs_try_outlier o;
    for (size_t i = 0; gs_try_find_outlier(&t->times, i, &o); i++)
        json_array_append_new(all, json_pack("{s:s, s:i, s:f, s:f}", "way", keys[o.way], "round", (int)o.round, "s",
                                             o.s, "usual_s", o.usual_s));
    return all;
}

static json_t *times_json(const struct gs_try *t)
{
    json_t *all = json_object();
    for (int way = 0; way < GS_TRY_WAYS; way++) {
        json_t *s = json_array();
        for (size_t i = 0; i < t->times.n; i++)
            json_array_append_new(s, json_real(t->times.s[way][i]));
        if (way != GS_TRY_MULTI || t->multi)
            json_object_set_new(all, keys[way], json_pack("{s:f, s:o}", "first_s", t->times.first_s[way], "s", s));
        else
            json_decref(s);
    }
    return all;
}

static json_t *kernels_json(const struct gs_try *t)
{
    struct kernel *k;
    const size_t n = kernels_of(t, &k);
    json_t *all = json_array();
    for (size_t i = 0; i < n; i++) {
        json_t *j = json_pack("{s:s, s:f, s:I, s:I}", "name", k[i].name, "share", k[i].share, "launches",
                              (json_int_t)k[i].launches, "split", (json_int_t)k[i].split);
        if (j && k[i].reason && k[i].split < k[i].launches) {
            json_object_set_new(j, "reason", json_string(k[i].reason));
            json_object_set_new(j, "remedy", json_string(gs_try_remedy(k[i].reason)));
        }
        json_array_append_new(all, j);
    }
    free(k);
    return all;
}

static void print_json(const struct gs_try *t)
{
    char verdict[512], result[512];
    const struct gs_try_verdict v = verdict_of(t, GS_TRY_ALL);
    say_verdict(t, verdict, sizeof verdict);
    say_result(t, result, sizeof result);
    json_t *j =
        json_pack("{s:s, s:s, s:b, s:b, s:i, s:i, s:s, s:i, s:o, s:o, s:o}", "verdict", verdict, "result", result,
                  "same", !t->different && !t->varies && !t->cut, "compared", !t->varies && !t->cut, "status",
                  t->status, "devices", (int)t->n, "base", keys[base_of(t)], "rounds", (int)t->times.n, "outliers",
                  outliers_json(t), "times", times_json(t), "kernels", kernels_json(t));
    if (!t->blind)
        json_object_set_new(j, "default", verdict_json(&v));
    if (t->multi && !t->blind) {
        const struct gs_try_verdict m = verdict_of(t, GS_TRY_MULTI);
        json_object_set_new(j, "multi", verdict_json(&m));
    }
    json_dumpf(j, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(j);
}

/* ---- a page ---- */

static int write_page(const struct gs_try *t)
{
    char text[512];
    struct kernel *k;
    FILE *f = fopen(t->html, "we");
    if (!f) {
        const int err = -errno;
        gs_error("%s: %s", t->html, strerror(-err));
        return err;
    }
    say_command(t, "gpusparc try", text, sizeof text);
    gs_page_begin(f, text);
    say_verdict(t, text, sizeof text);
    gs_page_conclusion(f, "%s", text);
    say_result(t, text, sizeof text);
    gs_page_text(f, "%s.", text);
    for (size_t i = 0; say_remark(t, i, text, sizeof text); i++)
        gs_page_text(f, "%s", text);
    if (t->times.n) {
        gs_page_table(f, "way|#median, ms|#first run, ms");
        for (int way = 0; way < GS_TRY_WAYS; way++) {
            if (way == GS_TRY_MULTI && !t->multi)
                continue;
            gs_page_row(f);
            gs_page_cell(f, "%s", gs_try_names[way]);
            gs_page_number(f, gs_try_median(&t->times, way) * 1e3, "%.1f", gs_try_median(&t->times, way) * 1e3);
            gs_page_number(f, t->times.first_s[way] * 1e3, "%.1f", t->times.first_s[way] * 1e3);
        }
        gs_page_table_end(f);
    }
    if (t->stats)
        gs_page_heading(f, "Its kernels");
    if (t->stats)
        gs_page_table(f, "kernel|#% of their time|#launches|#split|why not split|what would have it split");
    const size_t n = kernels_of(t, &k);
    for (size_t i = 0; i < n; i++) {
        const char *why = k[i].split < k[i].launches && k[i].reason ? k[i].reason : NULL;
        gs_page_row(f);
        gs_page_cell(f, "%s", k[i].name);
        gs_page_number(f, k[i].share, "%.1f", k[i].share * 100);
        gs_page_number(f, (double)k[i].launches, "%ld", k[i].launches);
        gs_page_number(f, (double)k[i].split, "%ld", k[i].split);
        gs_page_cell(f, "%s", why ? why : "");
        gs_page_cell(f, "%s", why ? gs_try_remedy(why) : "");
    }
    free(k);
    if (t->stats)
        gs_page_table_end(f);
    say_next(t, text, sizeof text);
    gs_page_text(f, "Next: %s", text);
    gs_page_end(f);
    const bool bad = ferror(f);
    if (fclose(f) != 0 || bad) {
        gs_error("%s can't be written: %s", t->html, strerror(errno));
        return -EIO;
    }
    return 0;
}

int gs_try_show(const struct gs_try *t)
{
    if (t->json)
        print_json(t);
    else
        print(t, t->markdown);
    return t->html ? write_page(t) : 0;
}
