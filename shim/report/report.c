/* SPDX-License-Identifier: MIT */
#include "shim/report/report.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <sys/resource.h>
#include <unistd.h>
#include <sys/stat.h>

#include "common/lock/locked.h"
#include "common/lock/rank.h"
#include "common/log.h"
#include "common/stream.h"

enum { MAX_KERNELS = 4096 };

static struct {
    pthread_mutex_t lock; /* all below but the atomics in r */
    struct gs_report r;
    struct gs_kernel_stats nobodys; /* where there is no memory */
    unsigned n_kernels;
    int claimed; /* our own file, or -1 */
    bool taken;  /* the file is another process's */
} told = {.lock = PTHREAD_MUTEX_INITIALIZER, .claimed = -1};
GS_RANKED(told.lock, GS_RANK_REPORT);

/* ---- the files of --stats and --trace ---- */

int gs_report_open(const char *path)
{
    struct stat st;
    /* Without waiting for a pipe's other end. */
    const int low = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (low < 0)
        return -errno;
    int fd = low > STDERR_FILENO ? low : fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    const int err = fd < 0 || fstat(fd, &st) < 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -ENOTSUP;
    if (fd != low)
        close(low);
    if (err && fd >= 0)
        close(fd);
    return err ? err : fd;
}

/* Locks the open file, not the process's: the lock goes with the last descriptor, and a forked child has it too. */
static int lock_file(int fd, short type, int command)
{
    struct flock whole = {.l_type = type, .l_whence = SEEK_SET};
    return fcntl(fd, command, &whole) < 0 ? -errno : 0;
}

/* Locks the file if nobody else has it open to write. Old contents go, unless the launcher has emptied the file. */
static int lock_as_writer(int fd)
{
    const char *run = secure_getenv("GPUSPARC_RUN");
    const int err = lock_file(fd, F_WRLCK, F_OFD_SETLK);
    if (!err && !(run && *run) && ftruncate(fd, 0) < 0)
        return -errno;
    return err;
}

/* Does another process write the file, or has one in this run? If not, it is empty, and ours until the end. */
static bool is_taken(int fd)
{
    struct stat st;
    const int err = lock_as_writer(fd);
    return err == -EAGAIN || err == -EACCES || (!err && fstat(fd, &st) == 0 && st.st_size > 0);
}

int gs_report_join(int fd)
{
    const int err = lock_as_writer(fd);
    return err && err != -EAGAIN && err != -EACCES ? err : lock_file(fd, F_RDLCK, F_OFD_SETLKW);
}

/* ---- counts ---- */

void gs_report_bytes(unsigned what, uint64_t bytes)
{
    atomic_fetch_add_explicit(&told.r.moved[what], bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&told.r.moves[what], 1, memory_order_relaxed);
}

void gs_report_later(enum gs_counter what, int more)
{
    atomic_fetch_add(&told.r.moves[what], (uint_fast64_t)more);
}

void gs_report_holds(unsigned device, uint64_t bytes, uint64_t space)
{
    atomic_uint_fast64_t *held = &told.r.most_held[device];
    uint_fast64_t most = atomic_load(held);
    while (most < bytes && !atomic_compare_exchange_weak(held, &most, bytes)) {
    }
    atomic_store(&told.r.space[device], space);
}

/* The first process with a kernel gets the file, the others one each. Errors are reported at the end. */
static void claim_file(void)
{
    const char *file = gs_settings()->stats;
    if (!file || strcmp(file, "-") == 0 || gs_stream_of(file) || (told.claimed = gs_report_open(file)) < 0)
        return;
    told.taken = is_taken(told.claimed);
    if (told.taken)
        close(told.claimed);
}

static struct gs_kernel_stats *find_kernel(const char *name)
{
    struct gs_kernel_stats *k = told.r.kernels;
    while (k && strcmp(k->name, name) != 0)
        k = k->next;
    return k;
}

struct gs_kernel_stats *gs_report_kernel(const char *whole)
{
    char name[GS_RAN_NAME]; /* cut as in gs_ran.name */
    snprintf(name, sizeof name, "%s", whole);
    GS_LOCKED(&told.lock);
    if (!told.r.kernels)
        claim_file();
    struct gs_kernel_stats *k = find_kernel(name);
    if (!k && told.n_kernels >= MAX_KERNELS) {
        snprintf(name, sizeof name, "(others)");
        k = find_kernel(name);
    }
    if (k)
        return k;
    k = calloc(1, sizeof *k);
    if (!k || !(k->name = strdup(name))) {
        free(k);
        return &told.nobodys;
    }
    told.n_kernels++;
    k->next = told.r.kernels;
    told.r.kernels = k;
    return k;
}

/* text NULL: counts nothing. */
static void count(struct gs_report_count c[GS_REPORT_COUNTS], const char *text)
{
    unsigned i = 0;
    while (i < GS_REPORT_COUNTS && text && c[i].count && strncmp(c[i].text, text, sizeof c->text - 1) != 0)
        i++;
    if (i < GS_REPORT_COUNTS && text && c[i].count++ == 0)
        snprintf(c[i].text, sizeof c->text, "%s", text);
}

void gs_report_split(struct gs_kernel_stats *k, unsigned parts, unsigned dim, const char *way)
{
    GS_LOCKED(&told.lock);
    count(k->way, way);
    k->launches++;
    k->split++;
    k->last_dim = dim;
    if (parts > k->most_parts)
        k->most_parts = parts;
}

void gs_report_single(struct gs_kernel_stats *k, const char *reason, enum gs_left left, const char *way)
{
    GS_LOCKED(&told.lock);
    count(k->way, way);
    count(k->reason, reason);
    k->launches++;
    k->left_for_now += left == GS_CHOSEN_FOR_NOW;
}

void gs_report_choice(struct gs_kernel_stats *k, uint64_t single_ns, uint64_t split_ns, bool unplanned)
{
    GS_LOCKED(&told.lock);
    k->chosen = true;
    k->single_ns = single_ns;
    k->split_ns = split_ns;
    k->unplanned = unplanned;
}

void gs_report_verified(struct gs_kernel_stats *k, bool right)
{
    GS_LOCKED(&told.lock);
    k->verified++;
    k->wrong += !right;
}

/* The phase that a command belongs to, as the paper's Figure 5 has them; GS_PHASES: to none. */
static enum gs_phase phase_of(const struct gs_ran *r)
{
    if (r->label.purpose == GS_FOR_MERGE || r->label.purpose == GS_FOR_REDUCTION)
        return GS_PHASE_MERGE;
    if (r->kind == GS_KIND_KERNEL)
        return GS_PHASE_KERNEL;
    const bool to_or_from_app = r->label.way == GS_WAY_DIRECT || r->label.way == GS_WAY_STAGED;
    if (!to_or_from_app || r->label.part >= 0)
        return GS_PHASES;
    return r->kind == GS_KIND_UPLOAD ? GS_PHASE_WRITE : r->kind == GS_KIND_DOWNLOAD ? GS_PHASE_READ : GS_PHASES;
}

/* The path that a transfer took; GS_PATHS: none of them. */
static enum gs_path path_of(const struct gs_ran *r)
{
    const bool by_host = r->kind == GS_KIND_UPLOAD || r->kind == GS_KIND_DOWNLOAD;
    if (r->kind == GS_KIND_PEER)
        return GS_PATH_PEER;
    if (*r->name || !(by_host || r->kind == GS_KIND_COPY))
        return GS_PATHS;
    if (!by_host)
        return GS_PATH_COPY;
    if (r->label.way == GS_WAY_PINNED)
        return GS_PATH_PINNED;
    if (r->label.purpose != GS_FOR_APP)
        return GS_PATHS;
    return r->label.way == GS_WAY_STAGED ? GS_PATH_STAGED : GS_PATH_DIRECT;
}

static void add_path_time(const struct gs_ran *r)
{
    const enum gs_path path = path_of(r);
    if (path == GS_PATHS)
        return;
    gs_busy_add(&told.r.busy[path], r->start_ns, r->end_ns);
    if (path == GS_PATH_DIRECT || path == GS_PATH_STAGED) {
        gs_report_moved(path, r->bytes);
        gs_busy_add(&told.r.busy[r->kind == GS_KIND_UPLOAD ? GS_PATH_APP_WRITE : GS_PATH_APP_READ], r->start_ns,
                    r->end_ns);
    }
}

void gs_report_command(const struct gs_ran *r)
{
    if (!gs_settings()->stats || r->label.purpose == GS_FOR_VERIFY)
        return;
    const enum gs_phase phase = phase_of(r);
    struct gs_kernel_stats *k = phase == GS_PHASE_KERNEL ? gs_report_kernel(r->name) : NULL;
    GS_LOCKED(&told.lock);
    if (k) {
        const uint64_t ns = r->end_ns - r->start_ns;
        k->shortest_ns = !gs_report_kernel_ns(k) || ns < k->shortest_ns ? ns : k->shortest_ns;
        k->longest_ns = ns > k->longest_ns ? ns : k->longest_ns;
        k->busy_ns[r->device] += ns;
    }
    if (phase != GS_PHASES)
        gs_busy_add(&told.r.phases[phase], r->start_ns, r->end_ns);
    if (phase == GS_PHASE_MERGE)
        gs_busy_add(&told.r.busy[r->label.purpose == GS_FOR_MERGE ? GS_PATH_MERGE : GS_PATH_REDUCE], r->start_ns,
                    r->end_ns);
    add_path_time(r);
}

/* Says why there are no statistics. Only in the process that was started, without children. */
static void say_nothing_was_seen(void)
{
    const char *run = secure_getenv("GPUSPARC_RUN"), *wanted = secure_getenv("GPUSPARC_STATS"),
               *verify = secure_getenv("GPUSPARC_VERIFY");
    struct rusage others;
    if (!run || atol(run) != (long)getpid() || getrusage(RUSAGE_CHILDREN, &others) != 0 || others.ru_maxrss != 0)
        return;
    if (wanted && *wanted)
        gs_error("there are no statistics: %s made no OpenCL kernel under gpusparc", program_invocation_short_name);
    if (verify && strcmp(verify, "1") == 0)
        gs_warn(GS_S_VERIFIED_NO_KERNEL, program_invocation_short_name);
}

/* Patterns of --only or --not that no kernel of the application has. */
static void say_unmatched(const char *option, const char *list)
{
    char pattern[GS_RAN_NAME], names[160] = "";
    size_t used = 0;
    for (const struct gs_kernel_stats *k = told.r.kernels; k && used < sizeof names; k = k->next)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", k->name);
    for (size_t n; list && *list; list += n + (list[n] == ',')) {
        const struct gs_kernel_stats *k = told.r.kernels;
        n = strcspn(list, ",");
        snprintf(pattern, sizeof pattern, "%.*s", (int)n, list);
        while (k && fnmatch(pattern, k->name, 0) != 0)
            k = k->next;
        if (!k)
            gs_warn(GS_S_UNMATCHED, option, pattern, program_invocation_short_name, names,
                    used < sizeof names ? "" : "...");
    }
}

/* With the lock held, if that is possible. */
static void say_verified(void)
{
    unsigned long long split = 0, compared = 0, wrong = 0;
    for (const struct gs_kernel_stats *k = told.r.kernels; k; k = k->next) {
        split += k->split;
        compared += k->verified;
        wrong += k->wrong;
    }
    if (wrong)
        gs_error(GS_S_VERIFIED_WRONG, compared, wrong);
    else if (compared)
        gs_info(GS_S_VERIFIED, compared);
    if (split > compared)
        gs_warn(GS_S_VERIFIED_FREE, split - compared);
    if (!split)
        gs_warn(GS_S_VERIFIED_NONE);
}

static void write_statistics(const char *wanted)
{
    char file[PATH_MAX + 32];
    const char *dot = strrchr(wanted, '.'), *ending = dot && dot > wanted && strcmp(dot, ".json") == 0 ? dot : "";
    const bool to_stderr = strcmp(wanted, "-") == 0;
    if (told.taken)
        snprintf(file, sizeof file, "%.*s.%d%s", (int)(strlen(wanted) - strlen(ending)), wanted, (int)getpid(), ending);
    else
        snprintf(file, sizeof file, "%s", wanted);
    /* behind what the application has written, if the stream is a file */
    const int stream = gs_stream_of(file), copy = stream ? fcntl(stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : -1;
    FILE *f = to_stderr ? stderr : stream ? fdopen(copy, "w") : fopen(file, "w");
    if (!f) {
        gs_error("the statistics can't be written to %s: %s", file, strerror(errno));
        return;
    }
    if (*ending)
        gs_report_print_json(f, &told.r);
    else
        gs_report_print(f, &told.r);
    const int err = to_stderr ? fflush(f), 0 : gs_close_written(f);
    if (err)
        gs_error("the statistics can't be written to %s: %s", file, strerror(-err));
}

/* With the lock held: from the newest first to the longest first, and of equals the oldest. */
static void sort_kernels(void)
{
    struct gs_kernel_stats *sorted = NULL;
    while (told.r.kernels) {
        struct gs_kernel_stats *k = told.r.kernels, **place = &sorted;
        told.r.kernels = k->next;
        while (*place && gs_report_kernel_ns(*place) > gs_report_kernel_ns(k))
            place = &(*place)->next;
        k->next = *place;
        *place = k;
    }
    told.r.kernels = sorted;
}

/* The process ends. No OpenCL calls here: the driver may be gone already. */
__attribute__((destructor)) static void print_stats(void)
{
    if (!told.r.kernels)
        say_nothing_was_seen();
    if (!told.r.kernels || gs_forked())
        return;
    const bool locked = gs_lock_soon(&told.lock);
    if (locked)
        sort_kernels();
    say_unmatched("--only", gs_settings()->only);
    say_unmatched("--not", gs_settings()->not );
    if (gs_settings()->stats)
        write_statistics(gs_settings()->stats);
    if (gs_settings()->verify)
        say_verified();
    if (locked)
        pthread_mutex_unlock(&told.lock);
}
