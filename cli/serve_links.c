/* SPDX-License-Identifier: MIT */
#include "cli/serve_links.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "cli/words.h"
#include "common/clock.h"

enum { BEAT_MS = 200 };

/* What it prints is a line of gs_serve_where(), then what it hears. It ends with its standard input. */
static const char far_command[] = "exec sh -c 'echo $(cat /proc/sys/kernel/random/boot_id) $(readlink "
                                  "/proc/self/ns/net); exec cat'";

void gs_serve_where(char where[GS_SERVE_WHERE_BYTES])
{
    char boot[48] = "", space[48] = "";
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (f && !fgets(boot, sizeof boot, f))
        *boot = '\0';
    if (f)
        fclose(f);
    boot[strcspn(boot, "\n")] = '\0';
    const ssize_t n = readlink("/proc/self/ns/net", space, sizeof space - 1);
    space[n > 0 ? n : 0] = '\0';
    snprintf(where, GS_SERVE_WHERE_BYTES, "%s %s", boot, space);
}

struct request {
    unsigned number, port, silent_ms;
    char host[128];
};

/* Who has heard nothing for so long asks. ssh, after as long again, takes the way there for gone: later than we do. */
static int silent_seconds(const struct request *r)
{
    return r->silent_ms < 4000 ? 1 : (int)(r->silent_ms / 2000);
}

static void become_ssh(const struct request *r, unsigned own_port)
{
    static struct gs_words words;
    char there[64], back[64];
    snprintf(there, sizeof there, "127.0.0.1:%u:127.0.0.1:%u", r->port, r->port);
    snprintf(back, sizeof back, "127.0.0.1:%u:127.0.0.1:%u", own_port, own_port);
    gs_words_ssh(&words, (int)r->silent_ms, silent_seconds(r), 1);
    const char *const all[] = {"-L", there, "-R", back, "--", r->host, far_command};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gs_words_add(&words, all[i]);
    execvp(words.v[0], words.v);
    printf("%s can't be run: %s\n", words.v[0], strerror(errno));
}

/* The systems of both sides ask each other now and then, whatever the servers do; silence ends the connection. */
static int connect_plain(const struct request *r)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)r->port)};
    const struct timeval limit = {.tv_sec = r->silent_ms / 1000, .tv_usec = r->silent_ms % 1000 * 1000};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, seconds = silent_seconds(r);
    const bool ok = inet_pton(AF_INET, r->host, &to.sin_addr) == 1 && fd >= 0 &&
                    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one) == 0 &&
                    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof seconds) == 0 &&
                    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof seconds) == 0 &&
                    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &one, sizeof one) == 0 &&
                    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0 &&
                    connect(fd, (struct sockaddr *)&to, sizeof to) == 0;
    return ok ? fd : -1;
}

/* Since the other system's last word; 0 where this one doesn't say. */
static unsigned silent_for_ms(int fd)
{
    struct tcp_info info = {0};
    socklen_t n = sizeof info;
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &n) == 0 ? info.tcpi_last_ack_recv : 0;
}

/* False at standard input's end. */
static bool echo(void)
{
    char bytes[256];
    const ssize_t n = read(0, bytes, sizeof bytes);
    return n > 0 && write(1, bytes, (size_t)n) == n;
}

/* Lasts as long as the other server can be reached, as a tunnel does. */
static void watch_plain(const struct request *r)
{
    struct pollfd fds[2] = {{.fd = 0, .events = POLLIN}, {.fd = connect_plain(r), .events = POLLIN}};
    const unsigned asks_ms = 1000u * (unsigned)silent_seconds(r);
    const unsigned silent_ms = r->silent_ms > asks_ms ? r->silent_ms : asks_ms * 3 / 2;
    if (fds[1].fd < 0) {
        printf("%s doesn't answer: %s\n", r->host, strerror(errno));
        return;
    }
    puts("it answers");
    fflush(stdout);
    do
        poll(fds, 2, BEAT_MS);
    while (!fds[1].revents && silent_for_ms(fds[1].fd) <= silent_ms && (!fds[0].revents || echo()));
}

static void become(const struct request *r, unsigned own_port, bool plain, const int in[2], const int out[2],
                   pid_t parent)
{
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent || dup2(in[0], 0) < 0 || dup2(out[1], 1) < 0 || dup2(out[1], 2) < 0)
        _exit(1);
    close(in[1]);
    if (plain)
        watch_plain(r);
    else
        become_ssh(r, own_port);
    fflush(stdout);
    _exit(1);
}

static void start(struct gs_serve_links *links, const struct request *r, const char *wants)
{
    struct gs_serve_link *l = &links->link[links->n];
    int in[2] = {-1, -1}, out[2] = {-1, -1};
    if (links->n == GS_SERVE_LINKS_MOST || pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0) {
        printf("unlinked %u it has no room for one more\n", r->number);
        fflush(stdout);
        return;
    }
    *l = (struct gs_serve_link){.number = r->number, .to = in[1], .from = out[0], .silent_ms = r->silent_ms};
    fcntl(in[1], F_SETFL, O_NONBLOCK);
    snprintf(l->wants, sizeof l->wants, "%s", wants ? wants : "it answers");
    const pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        become(r, links->own_port, !wants, in, out, parent);
    close(in[0]);
    close(out[1]);
    links->n++;
}

static void obey(struct gs_serve_links *links, const char *line)
{
    struct request r;
    int at = 0;
    if (sscanf(line, "link %u %u %u %127s %n", &r.number, &r.port, &r.silent_ms, r.host, &at) == 4 && at)
        start(links, &r, line + at);
    else if (sscanf(line, "try %u %u %u %127s", &r.number, &r.port, &r.silent_ms, r.host) == 4)
        start(links, &r, NULL);
}

void gs_serve_links_hear(struct gs_serve_links *links, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] != '\n') {
            if (links->line_bytes < sizeof links->line - 1 && (links->line_bytes || bytes[i] != '.'))
                links->line[links->line_bytes++] = bytes[i];
            continue;
        }
        links->line[links->line_bytes] = '\0';
        links->line_bytes = 0;
        obey(links, links->line);
    }
}

unsigned gs_serve_links_poll(const struct gs_serve_links *links, struct pollfd fds[GS_SERVE_LINKS_MOST])
{
    for (unsigned i = 0; i < links->n; i++)
        fds[i] = (struct pollfd){.fd = links->link[i].from, .events = POLLIN};
    return links->n;
}

static void hear_line(struct gs_serve_link *l)
{
    l->line[l->line_bytes] = '\0';
    l->line_bytes = 0;
    l->line[strcspn(l->line, "\r")] = '\0';
    if (l->up)
        return;
    if (strcmp(l->line, l->wants) == 0) {
        l->up = true;
        printf("linked %u\n", l->number);
    } else if (strstr(l->line, " net:[")) {
        snprintf(l->last, sizeof l->last, "another machine answers to that name");
        close(l->to);
        l->to = -1;
    } else if (*l->line) {
        snprintf(l->last, sizeof l->last, "%.*s", (int)sizeof l->last - 1, l->line);
    }
}

/* The process of one that isn't up goes with its standard input. */
static void end(struct gs_serve_link *l)
{
    if (l->up)
        printf("parted %u\n", l->number);
    else
        printf("unlinked %u %s\n", l->number, *l->last ? l->last : "ssh has ended");
    if (l->to >= 0)
        close(l->to);
    close(l->from);
    l->from = -1;
}

/* It echoes what it hears, as long as the other machine can be reached. */
static void beat(struct gs_serve_link *l)
{
    const int64_t now = gs_now_ms();
    if (now - l->heard_ms > (int64_t)l->silent_ms) {
        end(l);
    } else if (now - l->said_ms >= BEAT_MS) {
        l->said_ms = now;
        if (write(l->to, ".\n", 2) < 0 && errno != EAGAIN)
            end(l);
    }
}

void gs_serve_links_attend(struct gs_serve_links *links, const struct pollfd fds[GS_SERVE_LINKS_MOST])
{
    char bytes[512];
    for (unsigned i = 0; i < links->n; i++) {
        struct gs_serve_link *l = &links->link[i];
        const ssize_t n = l->from >= 0 && fds[i].revents ? read(l->from, bytes, sizeof bytes) : 0;
        for (ssize_t k = 0; k < n; k++)
            if (bytes[k] == '\n')
                hear_line(l);
            else if (l->line_bytes < sizeof l->line - 1)
                l->line[l->line_bytes++] = bytes[k];
        if (n > 0)
            l->heard_ms = gs_now_ms();
        if (l->from >= 0 && fds[i].revents && n <= 0)
            end(l);
        else if (l->from >= 0 && l->up)
            beat(l);
    }
    fflush(stdout);
}
