/* SPDX-License-Identifier: MIT */
/* gpusparc top: the daemon's state, live. */
#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <ncurses.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/daemon_view.h"
#include "common/log.h"
#include "common/options.h"

static const char usage[] =
    "Usage: gpusparc top [--interval SECONDS] [--socket PATH]\n"
    "What gpusparc status shows, again and again (default: every second). USE is measured between\n"
    "two pictures. Keys: q ends, arrows (left and right too) and Page Up/Down scroll, w shows all columns (80\n"
    "characters have room for some of them), space draws at once, ? or h explains keys and columns.\n"
    "A daemon that ends and comes back is waited for.\n";

static const char help[] =
    "gpusparc top\n\n"
    "  q          ends\n"
    "  arrows     scroll; Page Up and Page Down by half a page\n"
    "  w          in a terminal of less than 120 columns: all columns, or those that fit 80\n"
    "  space      draws at once\n"
    "  ? or h     this page; any key leaves it\n\n"
    "  RESOURCE   link: to the host; gpuN: as gpusparc devices numbers them\n"
    "  USE        share of the time since the last picture in which it had something to do\n"
    "  MEMORY     of the applications' memory objects, by their sizes\n"
    "  HOLDER     who has it now: task (process)\n"
    "  UNITS      that the holder has out; GRANTED and TAKEN: units since the start, asked for and without asking\n"
    "  PRIO       rank among the tasks: a larger one is more urgent; 0: no task\n"
    "  GPUS       that the next job gets; !: below all tasks, since with it deadlines could be missed\n"
    "  BOUND      of a job's response time, by the analysis\n"
    "  WARM       jobs of warm-ups, which are neither among JOBS nor MISSED; w after RUN: one is under way\n"
    "  JOBS, MISSED  since the daemon began, as the times\n"
    "  MEDIAN ... LONGEST  response times; JITTER: 99th percentile of the difference of two\n"
    "  SINCE, JOB how long the process is there, and its job under way\n";

enum { ALL_COLUMNS = 120 };

/* The first line and column that are shown; wide: all columns where they don't fit. */
struct corner {
    int top, left;
    bool wide;
};

static int clamp(int at, int all, int shown)
{
    const int last = all > shown ? all - shown : 0;
    return at > last ? last : at < 0 ? 0 : at;
}

/* So that the last page is full where there is one. */
static void clamp_corner(const char *text, struct corner *c)
{
    int lines = 0, columns = 0;
    for (const char *p = text, *end; (end = strchr(p, '\n')); p = end + 1, lines++)
        columns = end - p > columns ? (int)(end - p) : columns;
    c->top = clamp(c->top, lines, LINES);
    c->left = clamp(c->left, columns, COLS);
}

/* One picture from the corner on, headings and bad news standing out. */
static void draw(char *text, const struct corner *c) /* cuts the text up */
{
    erase();
    int row = 0;
    for (char *line; (line = strsep(&text, "\n"));) {
        bool heading = strncmp(line, "RESOURCE ", 9) == 0 || strncmp(line, "TASK ", 5) == 0 ||
                       strncmp(line, "PROCESS ", 8) == 0 || strncmp(line, "MEMORY  ", 8) == 0;
        if (row >= c->top && row - c->top < LINES && strlen(line) > (size_t)c->left) {
            attr_t how = heading ? A_REVERSE : strncmp(line, "NOT ", 4) == 0 ? A_BOLD : A_NORMAL;
            attrset((int)how);
            mvaddnstr(row - c->top, 0, line + c->left, COLS);
        }
        row++;
    }
    attrset(A_NORMAL);
    refresh();
}

static void show(const json_t *before, const json_t *now, struct corner *corner)
{
    char *text = now ? gs_daemon_tables(before, now, COLS < ALL_COLUMNS && !corner->wide)
                     : strdup("No daemon answers; waiting for one. q ends, ? helps.");
    if (text) {
        clamp_corner(text, corner);
        draw(text, corner);
    }
    free(text);
}

/* Until a key comes. */
static void show_help(void)
{
    char *text = strdup(help);
    if (text)
        draw(text, &(struct corner){0});
    free(text);
    timeout(-1);
    getch();
}

/* False: it ends the program. */
static bool obey(int key, struct corner *corner)
{
    enum { COLUMNS = 8 };
    const int page = LINES / 2 + 1;
    if (key == '?' || key == 'h')
        show_help();
    corner->wide ^= key == 'w';
    corner->top += key == KEY_DOWN ? 1 : key == KEY_UP ? -1 : key == KEY_NPAGE ? page : key == KEY_PPAGE ? -page : 0;
    corner->left += key == KEY_RIGHT ? COLUMNS : key == KEY_LEFT ? -COLUMNS : 0;
    return key != 'q' && key != 'Q';
}

/* Nobody looks any more, and no key will come: its window was closed, and it has been told to survive that. */
static bool terminal_is_gone(void)
{
    struct pollfd p = {.fd = STDIN_FILENO};
    return poll(&p, 1, 0) > 0 && p.revents & (POLLHUP | POLLERR | POLLNVAL);
}

/* A later daemon counts from the start again. */
static bool same_daemon(const json_t *a, const json_t *b)
{
    const json_t *x = json_object_get(json_object_get(a, "daemon"), "pid"),
                 *y = json_object_get(json_object_get(b, "daemon"), "pid");
    return x && y && json_integer_value(x) == json_integer_value(y);
}

static void watch(const char *socket, int interval_ms)
{
    json_t *before = NULL, *now = NULL;
    struct corner corner = {0};
    for (bool go = true; go;) {
        json_t *next = gs_daemon_state(socket, true);
        json_decref(before);
        before = same_daemon(now, next) ? now : NULL;
        if (!before)
            json_decref(now);
        now = next;
        show(before, now, &corner);
        timeout(interval_ms);
        const int key = getch();
        go = obey(key, &corner) && !(key == ERR && terminal_is_gone());
    }
    json_decref(before);
    json_decref(now);
}

static int run(int argc, char **argv)
{
    static const struct option options[] = {
        {"interval", required_argument, NULL, 'i'}, {"socket", required_argument, NULL, 's'}, {0}};
    const char *socket = NULL;
    double interval = 1;
    opterr = 0;
    for (int opt; (opt = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        char *end = NULL;
        if (opt == 's')
            socket = optarg;
        else if (opt != 'i') {
            gs_option_error(argv, options, "gpusparc top");
            return GS_EXIT_USAGE;
        } else if ((interval = strtod(optarg, &end)), *end || end == optarg || !(interval >= 0.1 && interval <= 3600)) {
            gs_error("--interval takes seconds, from 0.1 to 3600, not '%s'", optarg);
            return GS_EXIT_USAGE;
        }
    }
    if (optind < argc) {
        gs_error("top takes no argument '%s'; see gpusparc top --help", argv[optind]);
        return GS_EXIT_USAGE;
    }
    json_t *state = gs_daemon_state(socket, false);
    if (!state)
        return GS_EXIT_FAILED;
    json_decref(state);
    setlocale(LC_ALL, "");
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || !newterm(NULL, stdout, stdin)) {
        gs_error("top needs a terminal; gpusparc status prints once");
        return GS_EXIT_FAILED;
    }
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    curs_set(0);
    watch(socket, (int)(interval * 1000));
    endwin();
    return GS_EXIT_OK;
}

const struct gs_command gs_cmd_top = {
    .name = "top",
    .summary = "what the daemon does, live",
    .usage = usage,
    .run = run,
};
