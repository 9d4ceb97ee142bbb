/* SPDX-License-Identifier: MIT */
/* The config file: INI with [system] and [task NAME] sections. Reading finds every mistake in one run and names it by
 * file and line. What it says of schedulability is gema's affair (gema/model.h makes a task set of it); what it says of
 * grants is the daemon's. A new key is a field here and a line in the table of config.c. */
#ifndef GS_COMMON_CONFIG_H
#define GS_COMMON_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a segment of a task occupies. */
enum gs_resource { GS_CPU, GS_PCI, GS_GPU, GS_RESOURCES };

/* "cpu", "pci", "gpu" */
extern const char *const gs_resource_names[GS_RESOURCES];

/* How the pieces of a multi-GPU segment are served. OWN: each waits for its own GPU (what the daemon does). ANY: each
 * takes whichever GPU is free. GANG: all start at once, and nothing of lower priority overtakes one that waits. */
enum gs_pieces { GS_PIECES_OWN, GS_PIECES_ANY, GS_PIECES_GANG };

enum gs_admission { GS_ADMISSION_WARN, GS_ADMISSION_REFUSE, GS_ADMISSION_BEST_EFFORT };

enum gs_realtime { GS_REALTIME_YES, GS_REALTIME_NO };
/* Of how many users applications without a task may keep units, as the bounds count it; or a number of users. */
enum { GS_LIARS_NO = 0, GS_LIARS_ANY = -1 };

/* Is the daemon awake when a unit that others wait for will probably come back? */
enum gs_awake { GS_AWAKE_AUTO, GS_AWAKE_YES, GS_AWAKE_NO };

/* How an application that is connected alone is cut: as it suits it, or as beside others. */
enum gs_alone { GS_ALONE_LARGE, GS_ALONE_CHUNKS };

/* Who may have a GPU alone for a measurement: root and the daemon's own user, or all. */
enum gs_probes { GS_PROBES_OWNER, GS_PROBES_ALL };

enum {
    GS_CONFIG_MAX_SERVERS = 64, /* CPUs that matter to the analysis, GPUs, links */
    GS_CONFIG_MAX_TASKS = 1024,
    GS_CONFIG_MAX_SEGMENTS = 256, /* of one chain */
    GS_CONFIG_MAX_PAUSES = 1000,  /* of one segment */
    GS_CONFIG_MAX_CHUNKS = 1000000,
    GS_CONFIG_MAX_NAME = 43, /* of a task */
    GS_CONFIG_MAX_LIARS = 1000,
};

/* How long it counts that a job has used more than its segments say: a length of time, at most; as long as its process
 * is there; until the config is read again. */
enum { GS_OVERRUNS_PROCESS = -1, GS_OVERRUNS_RELOAD = 0 };

/* No duration in a config file is longer: 13 days. */
#define GS_CONFIG_MAX_NS (INT64_C(1) << 50)

/* So much longer than `depth` chunks, or `depth` chunks more if that is longer, may a unit keep others waiting before
 * it is taken back. */
#define GS_CONFIG_PATIENCE_NS INT64_C(50000000)
/* All of a user's units share that, of which a hundredth of the time comes back; a unit for which none is left is an
 * offence. For so long after it a unit has a millisecond instead. */
#define GS_CONFIG_FORGET_NS INT64_C(600000000000)
#define GS_CONFIG_LATE_NS INT64_C(1000000)
enum { GS_CONFIG_COMES_BACK = 100 };

/* Default of `handover`: twice the median that bench/daemon.sh measured under load. */
#define GS_CONFIG_HANDOVER_NS 50000

/* The values of gs_config_task.mode that are no number of GPUs. */
enum { GS_MODE_AUTO = 0, GS_MODE_MULTI = -1 };

struct gs_config_segment {
    enum gs_resource resource;
    int64_t best_ns;  /* shortest time it can take; 0 where the file doesn't say */
    int64_t worst_ns; /* longest, best_ns <= worst_ns */
    int pauses;       /* of the link or GPUs: so many times they are given up in between, */
    int64_t pause_ns; /* for so long in all, beside worst_ns */
    int chunks;       /* of the link or each of its GPUs: it is granted in so many chunks at most; 0: not given */
};

/* segments.N: what a job does when it may use N GPUs. A GPU segment's time is that of each of its N pieces. */
struct gs_config_chain {
    int line;
    struct gs_config_segment *segments; /* owned */
    size_t n_segments;
};

/* On which GPU a job in single-GPU mode begins: one that is free, the last job's before others; or always on another
 * one than the last, to measure what moving costs. */
enum gs_moves { GS_MOVES_FREE, GS_MOVES_ALWAYS };

struct gs_config_task {
    char *name;          /* owned, as all strings here */
    int line;            /* of its [task NAME] */
    char *match;         /* path of the executable, a shell pattern; NULL: by --task only */
    char *user;          /* who may run it, besides root and the daemon's own user; NULL: nobody else; "*": all */
    int64_t period_ns;   /* 0: not given (a mistake has been reported) */
    int64_t deadline_ns; /* default: the period */
    bool has_priority;
    int priority;                                             /* larger is more urgent */
    int mode;                                                 /* a number of GPUs, GS_MODE_AUTO or GS_MODE_MULTI */
    int warmup;                                               /* jobs of each process that don't count; -1: not given */
    enum gs_moves moves;                                      /* with one GPU of several; default: free */
    uint64_t transfer_chunk_bytes, kernel_chunk;              /* 0: the system's */
    int64_t chunk_ns[GS_RESOURCES];                           /* its longest chunk, of PCI and GPU; 0: the system's */
    struct gs_config_chain chains[GS_CONFIG_MAX_SERVERS + 1]; /* by number of GPUs, index 0 unused; line 0: not given */
};

struct gs_config_system {
    int line;                      /* of [system]; 0: no such section */
    int gpus_line, depth_line;     /* of these two keys; 0: not given */
    int servers[GS_RESOURCES];     /* cpus, links, gpus; 0: not given (links: 1) */
    bool preemptive[GS_RESOURCES]; /* default: the CPU alone */
    enum gs_pieces pieces;
    enum gs_admission admission;
    uint64_t transfer_chunk_bytes;  /* default 2 MiB */
    uint64_t kernel_chunk;          /* work-groups per compute unit, default 16 */
    int depth;                      /* units of one resource that an application may hold at a time; default 2 */
    int64_t chunk_ns[GS_RESOURCES]; /* the longest chunk of any application, of PCI and GPU; 0: not given */
    int64_t handover_ns;            /* for so long a resource idles when it changes hands; default 50 us */
    int64_t watchdog_ns;            /* after so long a unit that others wait for is taken back; default 1 s */
    int64_t overruns_ns;            /* default 10 minutes, and no longer than the process is there; or a GS_OVERRUNS_ */
    int liars;                      /* users whose applications without a task keep units, or a GS_LIARS_; default no */
    enum gs_realtime realtime;      /* SCHED_FIFO for tasks where permitted; default yes */
    enum gs_probes probes;          /* default: owner */
    enum gs_awake awake;            /* default: auto, where there are processors to spare */
    enum gs_alone alone;            /* default: large */
    char *hosts;                    /* whose devices applications get, as for gpusparc run --hosts; NULL: not given */
};

struct gs_config {
    struct gs_config_system system;
    struct gs_config_task *tasks; /* owned; in the order of the file */
    size_t n_tasks;
};

struct gs_mistake {
    int line; /* 0: of the file as a whole */
    char *text;
};

/* Every mistake found, in the order of lines. All zeros is none. */
struct gs_mistakes {
    struct gs_mistake *v; /* owned */
    size_t n;
};

/* Reads the file into *config, which is overwritten. 0; -EINVAL with at least one mistake; -ENOMEM; or, with one
 * mistake that says so, what opening or reading gave. *config is to be freed in every case. */
int gs_config_load(const char *path, struct gs_config *config, struct gs_mistakes *mistakes);

/* The same of a regular file only, without ever waiting: a pipe or a device is a mistake. */
int gs_config_load_regular(const char *path, struct gs_config *config, struct gs_mistakes *mistakes);

/* The same of a text in memory, which needs no final zero. */
int gs_config_parse(const char *text, size_t length, struct gs_config *config, struct gs_mistakes *mistakes);

void gs_config_free(struct gs_config *config);

/* Adds a mistake; -ENOMEM where there is no room for it. For whoever checks more than this reader. */
int gs_mistakes_add(struct gs_mistakes *m, int line, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void gs_mistakes_sort(struct gs_mistakes *m);
/* Prints them as `PATH:LINE: text` lines on stderr. */
void gs_mistakes_print(const struct gs_mistakes *m, const char *path);
void gs_mistakes_free(struct gs_mistakes *m);

/* "1.5ms" -> 1500000. Units ns, us, ms, s; a fraction of a nanosecond is refused. 0, -EINVAL or -ERANGE (negative, or
 * above GS_CONFIG_MAX_NS). `length` bytes are read, all of them belong to the value. */
int gs_parse_duration(const char *text, size_t length, int64_t *ns);

/* A user's number. 0; -EINVAL: none that a process may have. */
int gs_parse_uid(const char *text, uint32_t *uid);

/* "2MiB" -> 2097152; units KiB, MiB, GiB, or none for bytes. 0, -EINVAL, -ERANGE. */
int gs_parse_bytes(const char *text, size_t length, uint64_t *bytes);

/* Writes a duration in its largest unit that needs no fraction beyond six digits and loses nothing: "1.5ms". Returns
 * buf. */
enum { GS_DURATION_SIZE = 40 };
char *gs_format_duration(int64_t ns, char buf[GS_DURATION_SIZE]);

/* The same for people, with the five digits that matter. What must not be too small, such as a bound, is rounded up. */
enum gs_rounding { GS_ROUND_NEAREST, GS_ROUND_UP, GS_ROUND_DOWN };
char *gs_show_duration(int64_t ns, enum gs_rounding rounding, char buf[GS_DURATION_SIZE]);

#endif
