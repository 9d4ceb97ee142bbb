/* SPDX-License-Identifier: MIT */
/* gpusparc top: the daemon's state, live. */
#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <ncurses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/daemon_view.h"
#include "common/log.h"

static const char usage[] =
    "Usage: gpusparc top [--interval SECONDS] [--socket PATH]\n"
    "What gpusparc status shows, again and again (default: every second). USE is measured between\n"
    "two pictures. Keys: q ends, arrows and Page Up/Down scroll, space draws at once.\n"
    "A daemon that ends and comes back is waited for.\n";

/* The first line to show, so that the last page is full where there is one. */
static int clamp_top(const char *text, int top)
{
    int lines = 0;
    for (const char *p = text; (p = strchr(p, '\n')); p++)
        lines++;
    const int last = lines > LINES ? lines - LINES : 0;
    return top < last ? top : last;
}

/* One picture: lines from `top` on, headings and bad news standing out. */
static void draw(char *text, int top) /* cuts the text up */
{
    erase();
    int row = 0;
    for (char *line; (line = strsep(&text, "\n"));) {
        bool heading =
            strncmp(line, "RESOURCE", 8) == 0 || strncmp(line, "TASK ", 5) == 0 || strncmp(line, "PROCESS", 7) == 0;
        if (row >= top && row - top < LINES) {
            attr_t how = heading ? A_REVERSE : strncmp(line, "NOT ", 4) == 0 ? A_BOLD : A_NORMAL;
            attrset((int)how);
            mvaddnstr(row - top, 0, line, COLS);
        }
        row++;
    }
    attrset(A_NORMAL);
    refresh();
}

/* Returns the first line that it shows: `top`, or less. */
static int show(const json_t *before, const json_t *now, int top)
{
    char *text = now ? gs_daemon_tables(before, now) : strdup("No daemon answers; waiting for one. q ends.");
    if (text) {
        top = clamp_top(text, top);
        draw(text, top);
    }
    free(text);
    return top;
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
    int top = 0;
    for (bool go = true; go;) {
        json_t *next = gs_daemon_state(socket, true);
        json_decref(before);
        before = same_daemon(now, next) ? now : NULL;
        if (!before)
            json_decref(now);
        now = next;
        top = show(before, now, top);
        timeout(interval_ms);
        int key = getch();
        int step = key == KEY_NPAGE || key == KEY_PPAGE ? LINES / 2 : 1;
        if (key == 'q' || key == 'Q')
            go = false;
        else if (key == KEY_DOWN || key == KEY_NPAGE)
            top += step;
        else if (key == KEY_UP || key == KEY_PPAGE)
            top = top > step ? top - step : 0;
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
            gs_error("there is no option '%s', or it needs a value; see gpusparc top --help", argv[optind - 1]);
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
