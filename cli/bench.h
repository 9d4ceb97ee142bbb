/* SPDX-License-Identifier: MIT */
/* What `gpusparc bench` is made of: the list of samples, the processes it starts, what it measured, what it shows. */
#ifndef GS_CLI_BENCH_H
#define GS_CLI_BENCH_H

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/bench_interval.h"

enum { GS_BENCH_NAME = 32, GS_BENCH_MAX_SIZES = 4, GS_BENCH_MAX_MODES = 8 };

/* --- The samples (samples/MANIFEST) --- */

/* An option of a sample that sets its size. */
struct gs_bench_size {
    char option[GS_BENCH_NAME];
    double value;  /* its default */
    int root;      /* the data grows with this power of it */
    long multiple; /* it is rounded to; 0: to a power of two */
};

struct gs_bench_sample {
    char name[GS_BENCH_NAME], class[GS_BENCH_NAME];
    char small[256]; /* arguments of a small run */
    struct gs_bench_size sizes[GS_BENCH_MAX_SIZES];
    int size_count;
};

/* Reads a manifest. *samples is the caller's, to be freed. 0, or -errno with the reason said on stderr. */
int gs_bench_read_manifest(const char *path, struct gs_bench_sample **samples, size_t *count);

/* The value of a size option where the data is `scale` times its default. */
long gs_bench_scaled(const struct gs_bench_size *size, double scale);

/* --- Words of a command line --- */

struct gs_bench_words {
    char **word; /* ends in NULL */
    size_t count;
};

void gs_bench_add(struct gs_bench_words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds each word of a text that are separated by blanks. */
void gs_bench_add_split(struct gs_bench_words *words, const char *text);
void gs_bench_free_words(struct gs_bench_words *words);

/* --- Processes --- */

struct gs_bench_end {
    int status;         /* exit status; 128 + the number of the signal that ended it; -ETIMEDOUT; -EINTR; -errno */
    long max_rss_kib;   /* the most memory it had */
    char output[65536]; /* the beginning of its stdout */
    char error[512];    /* the last line of its stderr */
};

/* Set by SIGINT and SIGTERM: what runs is ended and nothing new begins. */
extern volatile sig_atomic_t gs_bench_stopped;

/* Runs a program to its end, for `timeout_s` seconds at most. Returns end->status. */
int gs_bench_execute(const struct gs_bench_words *command, double timeout_s, struct gs_bench_end *end);

/* Are there both files, with the same bytes? */
bool gs_bench_same_files(const char *a, const char *b);

/* Runs up to GS_BENCH_MAX_MODES programs to their ends. They are started together and take turns of `turn_s` seconds,
 * in which all others are stopped; who ends gives its turn on when it is gone. 0, or the first status that isn't. */
int gs_bench_execute_in_turns(const struct gs_bench_words *commands, int n, double turn_s, double timeout_s,
                              struct gs_bench_end *ends);

/* --- What was measured --- */

enum gs_bench_phase { GS_BENCH_WRITE, GS_BENCH_KERNEL, GS_BENCH_READ, GS_BENCH_TOTAL, GS_BENCH_PHASES };

/* One run of a sample: the medians of its iterations. `mode` is plain, single, or multi and the number of devices. */
struct gs_bench_row {
    char sample[GS_BENCH_NAME], mode[GS_BENCH_NAME];
    double scale;
    int run;
    double ms[GS_BENCH_PHASES];
};

/* A folder that holds runs.csv (every run, in the order of running) and checks.json (of each sample, scale and mode,
 * whether the bytes equal the plain run's, and the shim's statistics). */
struct gs_bench_store {
    const char *dir;
    FILE *file; /* runs.csv, open for appending */
    struct gs_bench_row *rows;
    size_t count;
    json_t *checks; /* array of {sample, scale, mode, outcome, stats, merge_ms} */
};

/* Makes the folder. Where `resume` is set, reads what is there, which must have been measured with the same settings;
 * otherwise a folder that holds results already is refused. 0, or -errno with the reason said on stderr. */
int gs_bench_open_store(struct gs_bench_store *store, const char *dir, bool resume, const json_t *settings);
/* To show only: makes and changes nothing. What the runs were made with (the caller's reference), or NULL, said. */
json_t *gs_bench_open_report(struct gs_bench_store *store, const char *dir);

/* Reads only the runs of a folder. */
int gs_bench_read_runs(struct gs_bench_store *store, const char *dir);
int gs_bench_add_row(struct gs_bench_store *store, const struct gs_bench_row *row);

/* Takes over `check`. */
int gs_bench_add_check(struct gs_bench_store *store, json_t *check);
const struct gs_bench_row *gs_bench_find_row(const struct gs_bench_store *store, const char *sample, double scale,
                                             const char *mode, int run);
json_t *gs_bench_find_check(const struct gs_bench_store *store, const char *sample, double scale, const char *mode);
void gs_bench_close_store(struct gs_bench_store *store);

/* --- What comes of it --- */

/* How sure a speed-up has to be. */
struct gs_bench_certainty {
    double alpha; /* the probability that the interval misses it */
    double limit; /* "slower" means: the speed-up is below it */
};

enum gs_bench_verdict { GS_BENCH_NONE, GS_BENCH_UNSURE, GS_BENCH_SLOWER, GS_BENCH_NOT_SLOWER };

/* One sample in one mode at one scale. */
struct gs_bench_result {
    const struct gs_bench_sample *sample;
    double scale;
    const char *mode;
    int runs;
    double ms[GS_BENCH_PHASES];     /* medians over the runs */
    double run_ms[GS_BENCH_PHASES]; /* of one run: the one whose total is in the middle */
    double base_kernel_share;       /* of the base's time, what its kernels take: 0 to 1 */
    double merge_ms; /* of the kernels' time, what merging takes, per iteration; 0 where nothing is merged */
    /* The base's time over this mode's: median, lowest and highest over the runs, each beside the base's of that
     * number.
     */
    double speedup, lowest, highest;
    double ratio[GS_INTERVAL_MOST]; /* the same of each run of the first GS_INTERVAL_MOST; 0: there is none */
    double interval[2];             /* in which it lies (cli/bench_interval.h); zeros: there are too few runs */
    enum gs_bench_verdict verdict;  /* none for the base */
    long launches, split;
    const json_t *check; /* the store's; NULL where it wasn't checked */
};

/* One for each sample, scale and mode of which there is a run, in the order of measurement; *results is the caller's.
 */
int gs_bench_results(const struct gs_bench_store *store, const struct gs_bench_sample *samples, size_t sample_count,
                     const char *base, const struct gs_bench_certainty *sure, struct gs_bench_result **results,
                     size_t *count);

/* The same of one; 0, or -ENOMEM. */
int gs_bench_result(const struct gs_bench_store *store, const struct gs_bench_sample *sample, double scale,
                    const char *mode, const char *base, const struct gs_bench_certainty *sure,
                    struct gs_bench_result *result);

/* The geometric mean of the speed-ups in a mode. Its interval is that of the means of each run over all samples. */
struct gs_bench_mean {
    int samples;              /* 0: there are none, and all else is 0 */
    bool unsure;              /* of each of them it isn't sure whether it is slower: nothing is known of their mean */
    double mean, interval[2]; /* interval: zeros where too few runs have all samples */
};

/* Over one class or (NULL) all, and over those whose kernels take at least `kernel_share` of the base's time. */
struct gs_bench_mean gs_bench_mean(const struct gs_bench_result *results, size_t count, const char *mode,
                                   const char *class, double kernel_share, double alpha);

/* With which command the folder's runs were made, and how busy the machine was, in one line; false: it isn't known. */
bool gs_bench_circumstances(const char *dir, char *text, size_t bytes);

void gs_bench_print_table(FILE *out, const struct gs_bench_result *results, size_t count, const char *base,
                          const struct gs_bench_certainty *sure);
json_t *gs_bench_json(const struct gs_bench_result *results, size_t count, const char *base,
                      const struct gs_bench_certainty *sure);
int gs_bench_write_csv(const char *dir, const struct gs_bench_result *results, size_t count);

/* The phases of base and split runs, and the speed-ups, as SVG. 0; -ENODATA: there is nothing to draw, and nothing was
 * written; -ENOMEM. */
int gs_bench_draw_bars(FILE *f, const struct gs_bench_result *results, size_t count, const char *base);
int gs_bench_draw_speedups(FILE *f, const struct gs_bench_result *results, size_t count, const char *base);

/* Both in files: bars.svg and speedup.svg. */
int gs_bench_write_pictures(const char *dir, const struct gs_bench_result *results, size_t count, const char *base);

/* All of it as one HTML page; `dir` has environment.json. 0, or -errno with a message. */
int gs_bench_write_html(const char *path, const char *dir, const struct gs_bench_result *results, size_t count,
                        const char *base, const struct gs_bench_certainty *sure);

#endif
