/* SPDX-License-Identifier: MIT */
#include "cli/serve_alive.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"

/* A reader that works may have much to do (the memory for an upload of gigabytes); one that sleeps has nothing. */
enum { EVERY_MS = 500, SLEEPS_MS = 2000, WORKS_MS = 10000 };

int gs_serve_socket(const char *address, unsigned port, bool connects, int flags)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
    struct addrinfo *ai = NULL;
    char text[16];
    const int one = 1;
    snprintf(text, sizeof text, "%u", port);
    if (getaddrinfo(address, text, &hints, &ai) != 0)
        return -1;
    int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
    bool ok = fd >= 0;
    if (ok && connects)
        ok = connect(fd, ai->ai_addr, ai->ai_addrlen) == 0 || errno == EINPROGRESS;
    else if (ok)
        ok = setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0 &&
             bind(fd, ai->ai_addr, ai->ai_addrlen) == 0;
    if (!ok && fd >= 0) {
        close(fd);
        fd = -1;
    }
    freeaddrinfo(ai);
    return fd;
}

/* The first line of a file of the process's thread. */
static bool read_line(pid_t pid, const char *thread, const char *file, char *line, int bytes)
{
    char path[320];
    snprintf(path, sizeof path, "/proc/%d/task/%s/%s", (int)pid, thread, file);
    FILE *f = fopen(path, "re");
    const bool is = f && fgets(line, bytes, f);
    if (f)
        fclose(f);
    return is;
}

/* For how long the thread that hears connections has run. False: there is none, or it makes or ends a session, which
 * takes drivers what it takes: the engine's edit "alive" (scripts/remote_edits.py) names it otherwise meanwhile. */
static bool reader_ran(pid_t pid, uint64_t *ns)
{
    char path[64], line[128];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    for (const struct dirent *e; dir && !found && (e = readdir(dir));)
        found = read_line(pid, e->d_name, "comm", line, sizeof line) && strcmp(line, "gs-reads\n") == 0 &&
                read_line(pid, e->d_name, "schedstat", line, sizeof line) && sscanf(line, "%" SCNu64, ns) == 1;
    if (dir)
        closedir(dir);
    return found;
}

static void end_question(struct gs_serve_alive *a)
{
    close(a->fd);
    a->fd = -1;
}

bool gs_serve_alive(struct gs_serve_alive *a, pid_t pid, const char *address, unsigned port)
{
    const int64_t now = gs_now_ms();
    uint64_t ran;
    char byte;
    if (a->fd < 0) {
        if (now - a->asked_ms < EVERY_MS || !getenv("POCLD_SECRET") || !reader_ran(pid, &a->ran_ns))
            return true;
        a->fd = gs_serve_socket(address, port, true, SOCK_NONBLOCK);
        a->asked_ms = now;
        a->said = false;
        if (a->fd < 0)
            return true;
    }
    if (!a->said)
        a->said = send(a->fd, "?", 1, MSG_NOSIGNAL) == 1;
    if (recv(a->fd, &byte, 1, 0) >= 0 || errno != EAGAIN) {
        end_question(a);
        return true;
    }
    if (now - a->asked_ms < SLEEPS_MS)
        return true;
    if (!reader_ran(pid, &ran)) {
        end_question(a);
        return true;
    }
    return ran != a->ran_ns && now - a->asked_ms < WORKS_MS;
}
