/* SPDX-License-Identifier: MIT */
#include "cli/daemon_view.h"

#include <errno.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/mistakes_json.h"
#include "cli/show.h"
#include "common/client/client.h"
#include "common/log.h"

void gs_daemon_error(int err, const char *socket, const char *text)
{
    const char *given = getenv("GPUSPARC_SOCKET"), *dir = getenv("XDG_RUNTIME_DIR");
    const bool both = !socket && !(given && *given) && dir && *dir == '/';
    char path[256];
    if (socket)
        snprintf(path, sizeof path, "%s", socket);
    else
        gs_client_socket_path(path, sizeof path);
    if (text && *text)
        gs_error("%s", text);
    else if (err == -ENOENT || err == -ECONNREFUSED)
        gs_error(both ? "no daemon listens on %s, nor in %s; `gpusparc daemon` starts one"
                      : "no daemon listens on %s; `gpusparc daemon` starts one",
                 path, dir);
    else if (err == -ENAMETOOLONG)
        gs_error("a socket's path has at most 107 bytes: no daemon can listen on %s", socket ? socket : given);
    else if (err == -EACCES || err == -EPERM)
        gs_error("this user may not talk to the daemon on %s: its file's mode (gpusparc daemon --mode) or a folder's "
                 "doesn't let it",
                 path);
    else if (err == -EPROTO)
        gs_error("what listens on %s is no gpusparc daemon of this version", path);
    else
        gs_error("the daemon on %s doesn't answer: %s", path, strerror(-err));
}

json_t *gs_daemon_state(const char *socket, bool quiet)
{
    char *text;
    uid_t uid;
    int err = gs_client_ask_whose(socket, GS_MSG_STATUS, NULL, 2000, &text, &uid);
    json_t *j = err == 0 ? json_loads(text, 0, NULL) : NULL;
    if (j && uid != (uid_t)-1)
        json_object_set_new(json_object_get(j, "daemon"), "uid", json_integer(uid));
    if (!j && !quiet)
        gs_daemon_error(err ? err : -EPROTO, socket, err ? text : NULL);
    free(text);
    return j;
}

/* ---- values ---- */

static int64_t integer(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static const char *string(const json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

enum { PATH_BYTES = 4096, NARROW = 80, NARROW_NAME = 16 };

/* A path, for a terminal. */
static const char *path_of(const json_t *object, const char *key, char buf[PATH_BYTES])
{
    snprintf(buf, PATH_BYTES, "%s", string(object, key));
    gs_plain(buf, strlen(buf));
    return buf;
}

/* Three digits that matter, in a unit that suits: "1.23ms". "-" for null. */
static const char *duration(const json_t *value, char buf[16])
{
    static const struct {
        double ns;
        const char *unit;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    if (!json_is_integer(value))
        return "-";
    double ns = (double)json_integer_value(value);
    unsigned u = 0;
    while (u < 3 && ns < units[u].ns)
        u++;
    double v = ns / units[u].ns;
    snprintf(buf, 16, "%.*f%s", v < 10 && u < 3 ? 2 : v < 100 && u < 3 ? 1 : 0, v, units[u].unit);
    return buf;
}

static const char *name_or(const char *name, const char *otherwise)
{
    return *name ? name : otherwise;
}

static int64_t pid_of_client(const json_t *state, int64_t client)
{
    size_t i;
    json_t *c;
    json_array_foreach(json_object_get(state, "clients"), i, c)
    {
        if (integer(c, "client") == client)
            return integer(c, "pid");
    }
    return 0;
}

/* Share of the time between the states in which the resource was in use. */
static double use_between(const json_t *before, const json_t *now, size_t i)
{
    const json_t *r = json_array_get(json_object_get(now, "resources"), i);
    const json_t *old = json_array_get(json_object_get(before, "resources"), i);
    double busy = (double)(integer(r, "busy_ns") - integer(old, "busy_ns"));
    double time = (double)(integer(json_object_get(now, "daemon"), "uptime_ns") -
                           integer(json_object_get(before, "daemon"), "uptime_ns"));
    double share = time > 0 ? busy / time : 0;
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

/* The last user's name is kept: most processes are one's own. */
static const char *user_name(int64_t uid, char buf[24])
{
    static int64_t last = -1;
    static char name[24];
    if (uid != last) {
        const struct passwd *pw = getpwuid((uid_t)uid);
        snprintf(name, sizeof name, "%s", pw ? pw->pw_name : "");
        gs_plain(name, strlen(name));
        last = uid;
    }
    if (*name)
        snprintf(buf, 24, "%s", name);
    else
        snprintf(buf, 24, "%lld", (long long)uid);
    return buf;
}

/* The program's path; of a long one its end, from a folder on. */
static const char *program_of(const json_t *client, bool narrow, char buf[PATH_BYTES])
{
    const int shown = narrow ? 26 : 40;
    const char *path = path_of(client, "exe", buf), *from = path + strlen(path);
    if (from - path <= shown)
        return path;
    const char *name = strrchr(path, '/');
    from -= shown;
    while (from < name && *from != '/')
        from++;
    if (name && from > name)
        from = name;
    return from > path ? from + 1 : path;
}

static const char *memory_of(const json_t *bytes, char buf[GS_SHOW])
{
    return json_integer_value(bytes) ? gs_show_bytes((uint64_t)json_integer_value(bytes), buf) : "-";
}

/* ---- tables ---- */

/* " of user NAME", or of number; nothing where it can't be told. */
static const char *user_of(const json_t *d, char buf[64])
{
    const json_t *uid = json_object_get(d, "uid");
    const struct passwd *p = json_is_integer(uid) ? getpwuid((uid_t)json_integer_value(uid)) : NULL;
    buf[0] = '\0';
    if (p)
        snprintf(buf, 64, " of user %s", p->pw_name);
    else if (json_is_integer(uid))
        snprintf(buf, 64, " of user %lld", (long long)json_integer_value(uid));
    return buf;
}

static void print_daemon(FILE *out, const json_t *now)
{
    const json_t *d = json_object_get(now, "daemon");
    char up[16], path[PATH_BYTES], user[64];
    fprintf(out, "gpusparcd %s, process %lld%s, on %s for %s: %lld application%s\n", string(d, "version"),
            (long long)integer(d, "pid"), user_of(d, user), path_of(d, "socket", path),
            duration(json_object_get(d, "uptime_ns"), up), (long long)integer(d, "clients"),
            integer(d, "clients") == 1 ? "" : "s");
    if (integer(d, "taken_back") || integer(d, "refused") || integer(d, "bad_messages"))
        fprintf(out, "taken back by the watchdog: %lld units; refused: %lld connections; senseless messages: %lld\n",
                (long long)integer(d, "taken_back"), (long long)integer(d, "refused"),
                (long long)integer(d, "bad_messages"));
}

static void print_floods(FILE *out, const json_t *now)
{
    size_t i;
    json_t *u;
    char name[24];
    json_array_foreach(json_object_get(now, "users"), i, u)
    {
        if (!json_is_true(json_object_get(u, "floods")))
            continue;
        fprintf(out,
                "user %s floods the daemon: %lld connections, %lld questions; turned away: %lld; refused: %lld; lines "
                "left out of the log: %lld\n",
                user_name(integer(u, "uid"), name), (long long)integer(u, "connections"),
                (long long)integer(u, "questions"), (long long)integer(u, "turned_away"),
                (long long)integer(u, "refused"), (long long)integer(u, "log_left_out"));
    }
}

static void print_waiting(FILE *out, const json_t *state, const json_t *waiting, bool narrow)
{
    const size_t most = narrow ? 1 : 3;
    size_t i;
    json_t *w;
    char t[16];
    json_array_foreach(waiting, i, w)
    {
        if (i == most) {
            fprintf(out, ", and %zu more", json_array_size(waiting) - i);
            break;
        }
        fprintf(out, "%s%.*s (%lld) %s", i ? ", " : "", narrow ? 8 : NARROW, name_or(string(w, "task"), "-"),
                (long long)pid_of_client(state, integer(w, "client")), duration(json_object_get(w, "since_ns"), t));
    }
}

static void print_resources(FILE *out, const json_t *before, const json_t *now, bool narrow)
{
    size_t i;
    json_t *r;
    fprintf(out, "\n%-9s %5s ", "RESOURCE", "USE");
    if (narrow)
        fprintf(out, " %-26s %5s  %s\n", "HOLDER", "UNITS", "WAITING");
    else
        fprintf(out, "%9s  %-26s %5s %10s %10s  %s\n", "MEMORY", "HOLDER", "UNITS", "GRANTED", "TAKEN", "WAITING");
    json_array_foreach(json_object_get(now, "resources"), i, r)
    {
        char holder[64] = "-", memory[GS_SHOW];
        if (json_is_integer(json_object_get(r, "holder")))
            snprintf(holder, sizeof holder, "%.16s (%lld)",
                     name_or(string(r, "holder_task"), json_is_true(json_object_get(r, "alone")) ? "a probe" : "-"),
                     (long long)pid_of_client(now, integer(r, "holder")));
        fprintf(out, "%-9s %4.0f%% ", string(r, "name"), 100 * use_between(before, now, i));
        if (!narrow)
            fprintf(out, "%9s ", memory_of(json_object_get(r, "memory_bytes"), memory));
        fprintf(out, " %-26s %5lld", holder, (long long)integer(r, "units"));
        if (!narrow)
            fprintf(out, " %10lld %10lld", (long long)integer(r, "granted"), (long long)integer(r, "taken"));
        fputs("  ", out);
        print_waiting(out, now, json_object_get(r, "waiting"), narrow);
        fputc('\n', out);
    }
}

/* A task without jobs has no times. */
static const char *time_of(const json_t *histogram, const char *which, char buf[16])
{
    return integer(histogram, "count") ? duration(json_object_get(histogram, which), buf) : "-";
}

/* Columns for the longest of the tasks' names. */
static int name_width(const json_t *now, bool narrow)
{
    size_t i;
    json_t *t;
    int width = 12;
    json_array_foreach(json_object_get(now, "tasks"), i, t)
    {
        const int n = (int)strlen(string(t, "task"));
        width = n > width ? n : width;
    }
    return narrow && width > NARROW_NAME ? NARROW_NAME : width;
}

static void print_task(FILE *out, const json_t *t, int width, bool narrow)
{
    const json_t *response = json_object_get(t, "response"), *jitter = json_object_get(t, "jitter");
    char b[6][16], gpus[16] = "-";
    if (json_is_integer(json_object_get(t, "gpus")))
        snprintf(gpus, sizeof gpus, "%lld%s", (long long)integer(t, "gpus"),
                 json_is_true(json_object_get(t, "degraded")) ? "!" : "");
    if (narrow) {
        fprintf(out, "%-*.*s %4s %9s %9s %8lld %6lld %9s %9s\n", width, width, string(t, "task"), gpus,
                duration(json_object_get(t, "deadline_ns"), b[0]), duration(json_object_get(t, "bound_ns"), b[1]),
                (long long)integer(t, "jobs"), (long long)integer(t, "misses"), time_of(response, "p99_ns", b[3]),
                time_of(response, "max_ns", b[4]));
        return;
    }
    fprintf(out, "%-*s %4lld %4lld%c %4s %9s %9s %4lld %8lld %7lld %9s %9s %9s %9s\n", width, string(t, "task"),
            (long long)integer(t, "priority"), (long long)integer(t, "running"), integer(t, "warming") ? 'w' : ' ',
            gpus, duration(json_object_get(t, "deadline_ns"), b[0]), duration(json_object_get(t, "bound_ns"), b[1]),
            (long long)integer(t, "warmup_jobs"), (long long)integer(t, "jobs"), (long long)integer(t, "misses"),
            time_of(response, "median_ns", b[2]), time_of(response, "p99_ns", b[3]), time_of(response, "max_ns", b[4]),
            time_of(jitter, "p99_ns", b[5]));
}

static void print_tasks(FILE *out, const json_t *now, bool narrow)
{
    const json_t *tasks = json_object_get(now, "tasks");
    size_t i;
    json_t *t;
    if (!json_array_size(tasks))
        return;
    const int width = name_width(now, narrow);
    if (narrow)
        fprintf(out, "\n%-*s %4s %9s %9s %8s %6s %9s %9s\n", width, "TASK", "GPUS", "DEADLINE", "BOUND", "JOBS",
                "MISSED", "P99", "LONGEST");
    else
        fprintf(out, "\n%-*s %4s %4s %5s %9s %9s %4s %8s %7s %9s %9s %9s %9s\n", width, "TASK", "PRIO", "RUN", "GPUS",
                "DEADLINE", "BOUND", "WARM", "JOBS", "MISSED", "MEDIAN", "P99", "LONGEST", "JITTER");
    json_array_foreach(tasks, i, t)
    {
        print_task(out, t, width, narrow);
    }
    char up[16];
    fprintf(out, "JOBS, MISSED and times count since the daemon began, %s ago\n",
            duration(json_object_get(json_object_get(now, "daemon"), "uptime_ns"), up));
}

/* Where jobs have used more than their segments say. */
static void print_more_used(FILE *out, const json_t *t, const json_t *used, const char *resource, const char *what)
{
    const json_t *u = json_object_get(used, resource);
    char b[3][16];
    if (integer(u, "counted_ns") > integer(u, "segments_ns"))
        fprintf(out, "%s: a job with %lld GPU%s kept %s for %s, its segments say %s: the bound counts %s\n",
                string(t, "task"), (long long)integer(used, "gpus"), integer(used, "gpus") == 1 ? "" : "s", what,
                duration(json_object_get(u, "seen_ns"), b[0]), duration(json_object_get(u, "segments_ns"), b[1]),
                duration(json_object_get(u, "counted_ns"), b[2]));
}

static void print_usage(FILE *out, const json_t *now)
{
    size_t i, k;
    json_t *t, *used;
    json_array_foreach(json_object_get(now, "tasks"), i, t)
    {
        json_array_foreach(json_object_get(t, "used"), k, used)
        {
            print_more_used(out, t, used, "link", "the link");
            print_more_used(out, t, used, "gpu", "a GPU");
        }
    }
}

static void print_applications(FILE *out, const json_t *now, bool narrow)
{
    size_t i;
    json_t *c;
    if (!json_array_size(json_object_get(now, "clients")))
        return;
    const int width = name_width(now, narrow);
    if (narrow)
        fprintf(out, "\n%-8s %-*s %4s %9s %9s  %s\n", "PROCESS", width, "TASK", "GPUS", "SINCE", "JOB", "PROGRAM");
    else
        fprintf(out, "\n%-8s %-10s %-*s %5s %4s %9s %9s  %s\n", "PROCESS", "USER", width, "TASK", "PRIO", "GPUS",
                "SINCE", "JOB", "PROGRAM");
    json_array_foreach(json_object_get(now, "clients"), i, c)
    {
        char b[2][16], path[PATH_BYTES], user[24];
        fprintf(out, "%-8lld ", (long long)integer(c, "pid"));
        if (!narrow)
            fprintf(out, "%-10s ", user_name(integer(c, "uid"), user));
        fprintf(out, "%-*.*s ", width, width, name_or(string(c, "task"), "-"));
        if (!narrow)
            fprintf(out, "%5lld ", (long long)integer(c, "priority"));
        fprintf(out, "%4lld %9s %9s  %s\n", (long long)integer(c, "gpus"),
                duration(json_object_get(c, "since_ns"), b[0]), duration(json_object_get(c, "job_ns"), b[1]),
                program_of(c, narrow, path));
    }
}

/* Of the processes that have some: how much on each GPU. */
static void print_memory(FILE *out, const json_t *now, bool narrow)
{
    const json_t *resources = json_object_get(now, "resources");
    bool any = false;
    size_t i, k;
    json_t *c, *r;
    json_array_foreach(json_object_get(now, "clients"), i, c)
    {
        char buf[PATH_BYTES], size[GS_SHOW];
        const json_t *memory = json_object_get(c, "memory_bytes");
        if (!json_object_size(memory))
            continue;
        fputs(any ? "" : "\nMEMORY  ", out);
        json_array_foreach(resources, k, r)
        {
            if (!any && json_is_integer(json_object_get(r, "memory_bytes")))
                fprintf(out, " %9s", string(r, "name"));
        }
        fputs(any ? "" : "\n", out);
        any = true;
        fprintf(out, "%-8lld", (long long)integer(c, "pid"));
        json_array_foreach(resources, k, r)
        {
            if (json_is_integer(json_object_get(r, "memory_bytes")))
                fprintf(out, " %9s", memory_of(json_object_get(memory, string(r, "name")), size));
        }
        fprintf(out, "  %s\n", program_of(c, narrow, buf));
    }
}

static void print_decision(FILE *out, const json_t *now)
{
    const json_t *d = json_object_get(now, "decision");
    char age[16];
    const char *verdict = "Schedulable";
    if (!json_is_true(json_object_get(d, "schedulable")))
        verdict = "NOT SCHEDULABLE";
    else if (!integer(d, "analysed"))
        verdict = "Not analysed";
    else if (!json_is_true(json_object_get(d, "proven")))
        verdict = "Not proven schedulable";
    fprintf(out, "\n%s: %s (decided %s ago)\n", verdict, string(d, "reason"),
            duration(json_object_get(d, "age_ns"), age));
}

/* Lines of more than NARROW characters go on in the next one. */
static void wrap(FILE *out, const char *text)
{
    for (size_t n; *text; text += n + (text[n] == '\n')) {
        n = strcspn(text, "\n");
        const char *line = text, *end = text + n, *indent = "";
        while (end - line > NARROW - (int)strlen(indent)) {
            const char *cut = line + NARROW - strlen(indent);
            while (cut > line && *cut != ' ')
                cut--;
            if (cut == line)
                break;
            fprintf(out, "%s%.*s\n", indent, (int)(cut - line), line);
            line = cut + 1;
            indent = "  ";
        }
        fprintf(out, "%s%.*s\n", indent, (int)(end - line), line);
    }
}

static void print_all(FILE *out, const json_t *before, const json_t *now, bool narrow)
{
    print_daemon(out, now);
    print_floods(out, now);
    print_resources(out, before, now, narrow);
    print_tasks(out, now, narrow);
    print_usage(out, now);
    print_applications(out, now, narrow);
    print_memory(out, now, narrow);
    print_decision(out, now);
}

char *gs_daemon_tables(const json_t *before, const json_t *now, bool narrow)
{
    char *text = NULL, *wrapped = NULL;
    size_t n, m;
    FILE *out = open_memstream(&text, &n);
    if (!out)
        return NULL;
    print_all(out, before, now, narrow);
    if (fclose(out) != 0 || !narrow)
        return text;
    out = open_memstream(&wrapped, &m);
    if (out) {
        wrap(out, text);
        fclose(out);
    }
    free(text);
    return wrapped;
}

void gs_daemon_print_change(const char *text, const char *written)
{
    json_t *said = json_pack("{s:b, s:o, s:o*}", "changed", 1, "message", gs_text_json(text), "written",
                             written ? gs_text_json(written) : NULL);
    json_dumpf(said, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(said);
}
