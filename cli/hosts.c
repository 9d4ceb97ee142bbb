/* SPDX-License-Identifier: MIT */
#include "cli/hosts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/paths.h"
#include "cli/words.h"
#include "common/clock.h"
#include "common/log.h"

/* Ports below those that systems give to whoever asks for any. */
enum { LOWEST_PORT = 20000, PORTS = 12000, MOST_TRIES = 5, BEAT_MS = 200, READY_MS = 20000, END_MS = 2000 };
enum { PORT_WORD = 64 };

static bool is_local(const struct gs_host *h)
{
    return strcmp(h->name, "localhost") == 0;
}

/* An IPv6 address, with a zone or without. */
static bool is_address(const char *text)
{
    char address[INET6_ADDRSTRLEN];
    struct in6_addr a;
    const size_t n = strcspn(text, "%");
    const bool zone_is_good = !text[n] || (text[n + 1] && !strpbrk(text + n + 1, "%:"));
    snprintf(address, sizeof address, "%.*s", (int)n, text);
    return n < sizeof address && zone_is_good && inet_pton(AF_INET6, address, &a) == 1;
}

/* Where the host's name ends and what is said of its devices begins, if it is said: ADDRESS or [ADDRESS]:N of IPv6,
 * each behind USER@ too, or NAME:N. The name is as ssh takes it, without brackets. Null: it is too long, or no address.
 */
static const char *parse_name(char name[GS_HOST_NAME_BYTES], const char *text, size_t n)
{
    char whole[2 * GS_HOST_NAME_BYTES];
    snprintf(whole, sizeof whole, "%.*s", (int)n, text);
    char *at = strchr(whole, '@'), *host = at ? at + 1 : whole, *end = strchr(whole, ':');
    if (n >= sizeof whole)
        return NULL;
    const bool in_brackets = *host == '[';
    if (in_brackets) {
        end = strchr(host, ']');
        if (!end || (end[1] && end[1] != ':'))
            return NULL;
        *end++ = '\0';
        text += end - whole;
        memmove(host, host + 1, strlen(host));
    } else if (end && strchr(end + 1, ':')) {
        text += n;
    } else {
        text += end ? (size_t)(end - whole) : n;
        if (end)
            *end = '\0';
    }
    if (strlen(whole) >= GS_HOST_NAME_BYTES || ((in_brackets || strchr(host, ':')) && !is_address(host)))
        return NULL;
    strcpy(name, whole);
    return text;
}

/* One of the list: NAME, NAME:N or NAME:all. A name that begins with '-' would be an option of ssh's. */
static bool parse_one(struct gs_host *h, const char *text, size_t n)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-@:%";
    *h = (struct gs_host){.to = -1, .from = -1};
    const char *const last = text + n, *colon = *text == '-' ? NULL : parse_name(h->name, text, n);
    if (!colon || !*h->name || h->name[strspn(h->name, letters)])
        return false;
    if (!strchr(h->name, ':') && strchr(h->name, '%'))
        return false;
    if (colon == last)
        return true;
    h->all = last - colon == sizeof ":all" - 1 && memcmp(colon, ":all", sizeof ":all" - 1) == 0;
    if (h->all)
        return true;
    char *end;
    const long most = strtol(colon + 1, &end, 10);
    h->most = (unsigned)most;
    return end == last && end > colon + 1 && colon[1] != '+' && most >= 1 && most <= GS_MAX_DEVICES;
}

int gs_hosts_parse(struct gs_hosts *h, const char *list, const char *called, char *why, size_t why_bytes)
{
    const char *seconds = getenv("GPUSPARC_HOSTS_TIMEOUT");
    const double limit = seconds && *seconds ? strtod(seconds, NULL) : 2;
    *h = (struct gs_hosts){.limit_ms = limit >= 0.1 && limit <= 3600 ? (int)(limit * 1000) : 2000};
    for (const char *at = list;; at++) {
        const size_t n = strcspn(at, ",");
        if (h->n == GS_HOSTS_MOST) {
            snprintf(why, why_bytes, "%s names more than %d hosts", called, GS_HOSTS_MOST);
            return -EINVAL;
        }
        struct gs_host *one = &h->host[h->n];
        if (!parse_one(one, at, n)) {
            snprintf(
                why, why_bytes,
                "'%.*s' is no host for %s: it takes NAME, NAME:DEVICES or NAME:all, with commas between, and [ADDRESS] "
                "of IPv6 for NAME",
                (int)n, at, called);
            return -EINVAL;
        }
        for (unsigned i = 0; i < h->n; i++)
            if (strcmp(h->host[i].name, one->name) == 0) {
                snprintf(why, why_bytes, "%s names %s twice; NAME:DEVICES says how many of its devices to use", called,
                         one->name);
                return -EINVAL;
            }
        h->n++;
        at += n;
        if (!*at)
            return 0;
    }
}

static unsigned draw_port(void)
{
    unsigned r = 0;
    if (getrandom(&r, sizeof r, 0) != sizeof r)
        r = (unsigned)gs_now_ms() ^ (unsigned)getpid() << 8;
    return LOWEST_PORT + r % PORTS / 4 * 4;
}

static int make_secret(char secret[GS_SERVE_SECRET_BYTES])
{
    unsigned char random[(GS_SERVE_SECRET_BYTES - 1) / 2];
    if (getrandom(random, sizeof random, 0) != sizeof random)
        return -errno;
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(secret + 2 * i, 3, "%02x", random[i]);
    return 0;
}

/* Can ssh listen there? */
static bool is_free(unsigned port)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    struct sockaddr_in a = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const bool ok = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0 &&
                    bind(fd, (struct sockaddr *)&a, sizeof a) == 0;
    if (fd >= 0)
        close(fd);
    return ok;
}

static unsigned count_ports(const struct gs_host *h)
{
    return h->pairs ? 2 * h->pairs : 2;
}

static bool all_free(unsigned port, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (!is_free(port + i))
            return false;
    return true;
}

static unsigned draw_free_port(const struct gs_host *h)
{
    unsigned port = draw_port();
    for (int i = 0; i < 100 && !all_free(port, count_ports(h)); i++)
        port = draw_port();
    return port;
}

/* The numeric address of NAME or USER@NAME. */
static bool resolve(const char *name, char *address, size_t bytes)
{
    const char *at = strchr(name, '@');
    const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *ai = NULL;
    if (getaddrinfo(at ? at + 1 : name, NULL, &hints, &ai) != 0)
        return false;
    const bool ok = getnameinfo(ai->ai_addr, ai->ai_addrlen, address, (socklen_t)bytes, NULL, 0, NI_NUMERICHOST) == 0;
    freeaddrinfo(ai);
    return ok;
}

/* As much of a text as there is room for; it may lie in the same host. */
static void keep_text(char *to, size_t bytes, const char *text)
{
    const size_t n = strnlen(text, bytes - 1);
    memmove(to, text, n);
    to[n] = '\0';
}

static void leave_out(struct gs_host *h, const char *why)
{
    h->state = GS_HOST_OUT;
    keep_text(h->why, sizeof h->why, why);
    if (h->to >= 0)
        close(h->to);
    if (h->from >= 0)
        close(h->from);
    h->to = h->from = -1;
}

/* What is to be run, and what its words point to. */
struct start {
    struct gs_words words;
    char program[PATH_MAX], far[2 * PATH_MAX], ports[2 * GS_MAX_DEVICES][PORT_WORD];
};

static void local_command(struct start *s, const struct gs_host *h)
{
    gs_program_path("gpusparc", s->program, sizeof s->program);
    snprintf(s->ports[0], PORT_WORD, "%u", h->port);
    snprintf(s->ports[1], PORT_WORD, "%u", count_ports(h) / 2);
    const char *const all[] = {s->program, "serve", "--port", s->ports[0], "--pairs", s->ports[1], "--secret"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        gs_words_add(&s->words, all[i]);
}

/* On the other machine gpusparc may lie where it lies here, else it is found by its name. */
static void ssh_command(struct start *s, const struct gs_hosts *hosts, struct gs_host *h)
{
    gs_words_ssh(&s->words, hosts->limit_ms, 2, 3);
    for (unsigned i = 0; i < count_ports(h) && !hosts->plain; i++) {
        snprintf(s->ports[i], PORT_WORD, "127.0.0.1:%u:127.0.0.1:%u", h->port + i, h->far_port + i);
        gs_words_add(&s->words, "-L");
        gs_words_add(&s->words, s->ports[i]);
    }
    gs_program_path("gpusparc", s->program, sizeof s->program);
    if (strpbrk(s->program, "'\"\\$`"))
        *s->program = '\0';
    snprintf(s->far, sizeof s->far,
             "exec sh -c 'p=\"%s\"; [ -x \"$p\" ] || p=gpusparc; "
             "exec \"$p\" serve --port %u --pairs %u --address %s --secret'",
             s->program, h->far_port, count_ports(h) / 2, hosts->plain ? h->address : "127.0.0.1");
    gs_words_add(&s->words, "--");
    gs_words_add(&s->words, h->name);
    gs_words_add(&s->words, s->far);
}

static void keep_apart(int fd)
{
    fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* In a session of its own: what a terminal sends to the application is not for it. */
static void become(const int in[2], const int out[2], char *const *words, pid_t parent)
{
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    gs_forget_run();
    if (getppid() != parent || dup2(in[0], 0) < 0 || dup2(out[1], 1) < 0 || dup2(out[1], 2) < 0)
        _exit(1);
    execvp(words[0], words);
    dprintf(1, "%s can't be run: %s\n", words[0], strerror(errno));
    _exit(1);
}

static void start_one(struct gs_hosts *hosts, struct gs_host *h)
{
    struct start *s = calloc(1, sizeof *s);
    int in[2] = {-1, -1}, out[2] = {-1, -1};
    snprintf(h->address, sizeof h->address, "127.0.0.1");
    h->far_port = is_local(h) ? draw_free_port(h) : draw_port();
    h->port = is_local(h) || hosts->plain ? h->far_port : draw_free_port(h);
    h->begun_ms = gs_now_ms();
    h->state = GS_HOST_SILENT;
    h->n_devices = h->line_bytes = 0;
    if (hosts->plain && !is_local(h) && !resolve(h->name, h->address, sizeof h->address)) {
        leave_out(h, "its name has no IPv4 address");
        free(s);
        return;
    }
    if (!s || pipe(in) < 0 || pipe(out) < 0) {
        leave_out(h, strerror(errno));
        if (in[0] >= 0) {
            close(in[0]);
            close(in[1]);
        }
        free(s);
        return;
    }
    if (is_local(h))
        local_command(s, h);
    else
        ssh_command(s, hosts, h);
    keep_apart(in[1]);
    keep_apart(out[0]);
    const pid_t parent = getpid();
    h->pid = fork();
    if (h->pid == 0) {
        keep_apart(in[0]);
        keep_apart(out[1]);
        become(in, out, s->words.v, parent);
    }
    close(in[0]);
    close(out[1]);
    h->to = in[1];
    fcntl(h->to, F_SETFL, O_NONBLOCK); /* a far side that reads no more must not keep us from noticing that */
    h->from = out[0];
    h->heard_ms = gs_now_ms();
    if (h->pid < 0)
        leave_out(h, "no process could be made");
    else
        dprintf(h->to, "%s\n", hosts->secret); /* an ssh that has ended by now says why itself */
    free(s);
}

static void reap(struct gs_host *h, int wait_ms)
{
    const int64_t until = gs_now_ms() + wait_ms;
    while (h->pid > 0 && waitpid(h->pid, NULL, WNOHANG) == 0) {
        if (gs_now_ms() >= until) {
            kill(h->pid, SIGKILL);
            waitpid(h->pid, NULL, 0);
            break;
        }
        const struct timespec t = {.tv_nsec = 2000000};
        nanosleep(&t, NULL);
    }
    h->pid = 0;
}

/* "device INDEX TYPE NAME" */
static void hear_device(struct gs_host *h, const char *text)
{
    struct gs_host_device *d = &h->device[h->n_devices];
    char type[16];
    if (h->n_devices == GS_MAX_DEVICES || sscanf(text, "%u %15s %127[^\n]", &d->index, type, d->name) != 3)
        return;
    d->is_gpu = strcmp(type, "gpu") == 0;
    d->is_cpu = strcmp(type, "cpu") == 0;
    h->n_devices++;
}

/* "rate INDEX RATE", after its device. */
static void hear_rate(struct gs_host *h, const char *text)
{
    unsigned index;
    double rate;
    if (!h->n_devices || sscanf(text, "%u %lf", &index, &rate) != 2)
        return;
    if (h->device[h->n_devices - 1].index == index && rate > 0)
        h->device[h->n_devices - 1].rate = rate;
}

/* "apart INDEX OFFSET", likewise. */
static void hear_apart(struct gs_host *h, const char *text)
{
    struct gs_host_device *d = h->device + h->n_devices;
    unsigned index, offset;
    if (sscanf(text, "%u %u", &index, &offset) != 2 || offset >= count_ports(h))
        return;
    while (d-- > h->device)
        if (d->index == index) {
            d->apart = true;
            d->offset = offset;
        }
}

static void start_again(struct gs_hosts *hosts, struct gs_host *h)
{
    reap(h, END_MS);
    start_one(hosts, h);
}

/* "pairs N": with so many pairs of ports it has a server for each device, which asks the daemon of its host. */
static void hear_pairs(struct gs_hosts *hosts, struct gs_host *h, const char *text)
{
    const unsigned long n = strtoul(text, NULL, 10);
    if (n <= h->pairs || n > GS_MAX_DEVICES || h->most == 1 || h->all)
        return;
    h->pairs = (unsigned)n;
    leave_out(h, "it needs more ports");
    start_again(hosts, h);
}

/* GPUs where it has any, else one CPU, no more than were asked for; or all, with the GPUs first, as the first may be
 * home. */
static void choose_devices(struct gs_host *h)
{
    struct gs_host_device chosen[GS_MAX_DEVICES];
    unsigned n = 0;
    for (unsigned i = 0; i < h->n_devices; i++)
        if (h->device[i].is_gpu && (!h->most || n < h->most))
            chosen[n++] = h->device[i];
    for (unsigned i = 0; i < h->n_devices; i++)
        if (h->all ? !h->device[i].is_gpu : h->device[i].is_cpu && !n)
            chosen[n++] = h->device[i];
    memcpy(h->device, chosen, n * sizeof *chosen);
    h->n_devices = n;
}

/* Silence that is a loss. */
static int lost_ms(const struct gs_hosts *hosts)
{
    const int ms = hosts->limit_ms * 3 / 4;
    return ms > 5 * BEAT_MS ? ms : 5 * BEAT_MS;
}

static void ask_for_link(struct gs_hosts *hosts, unsigned i, unsigned j)
{
    const struct gs_host *to = &hosts->host[j];
    if (hosts->plain)
        dprintf(hosts->host[i].to, "\ntry %u %u %d %s\n", j, to->far_port + 1, lost_ms(hosts), to->address);
    else
        dprintf(hosts->host[i].to, "\nlink %u %u %d %s %s\n", j, to->far_port + 1, lost_ms(hosts), to->name, to->where);
    hosts->link[i][j].way = GS_WAY_ASKED;
}

/* "linked NUMBER", "unlinked NUMBER WHY", "parted NUMBER". An ssh of either of two leads both ways. */
static void hear_of_link(struct gs_hosts *hosts, struct gs_host *h, const char *line)
{
    const unsigned i = (unsigned)(h - hosts->host);
    char word[16];
    unsigned j = 0;
    int at = 0;
    if (sscanf(line, "%15s %u %n", word, &j, &at) != 2 || j >= hosts->n)
        return;
    const enum gs_way_there was = hosts->link[i][j].way;
    if (strcmp(word, "parted") == 0 && was == GS_WAY_DIRECT && !h->parted_ms) {
        h->parted_ms = gs_now_ms();
        h->parted_from = j;
    } else if (strcmp(word, "linked") == 0 && was == GS_WAY_ASKED) {
        hosts->link[i][j].way = GS_WAY_DIRECT;
    } else if (strcmp(word, "unlinked") == 0 && was == GS_WAY_ASKED) {
        hosts->link[i][j].way = GS_WAY_AROUND;
        keep_text(hosts->link[i][j].why, sizeof hosts->link[i][j].why, line + at);
        if (!hosts->plain && i < j && hosts->host[j].state == GS_HOST_READY)
            ask_for_link(hosts, j, i);
    }
}

bool gs_hosts_are_linked(const struct gs_hosts *h, unsigned i, unsigned j)
{
    const bool there = h->link[i][j].way == GS_WAY_DIRECT, back = h->link[j][i].way == GS_WAY_DIRECT;
    return h->plain ? there && back : there || back;
}

/* Servers of one device each aren't linked: a link leads to one. */
static bool is_linkable(const struct gs_host *h)
{
    return h->state == GS_HOST_READY && !is_local(h) && !h->device[0].apart;
}

/* As long as one may take to answer. */
static void link_hosts(struct gs_hosts *hosts)
{
    const char *transfer = getenv("GPUSPARC_TRANSFER");
    const int64_t begun_ms = gs_now_ms();
    memset(hosts->link, 0, sizeof hosts->link);
    if (transfer && (strcmp(transfer, "pinned") == 0 || strcmp(transfer, "plain") == 0))
        return;
    for (unsigned i = 0; i < hosts->n; i++)
        for (unsigned j = hosts->plain ? 0 : i + 1; j < hosts->n; j++)
            if (i != j && is_linkable(&hosts->host[i]) && is_linkable(&hosts->host[j]))
                ask_for_link(hosts, i, j);
    for (bool waiting = true; waiting;) {
        const bool late = gs_now_ms() - begun_ms > hosts->limit_ms;
        waiting = false;
        for (unsigned k = 0; k < hosts->n * hosts->n; k++) {
            const unsigned i = k / hosts->n, j = k % hosts->n;
            if (hosts->link[i][j].way != GS_WAY_ASKED)
                continue;
            if (!late && is_linkable(&hosts->host[i]) && is_linkable(&hosts->host[j])) {
                waiting = true;
                continue;
            }
            hosts->link[i][j].way = GS_WAY_AROUND;
            keep_text(hosts->link[i][j].why, sizeof hosts->link[i][j].why, "no answer in time");
        }
        if (waiting)
            gs_hosts_attend(hosts, -1, BEAT_MS);
    }
}

static void hear(struct gs_hosts *hosts, struct gs_host *h, const char *line)
{
    static const char greeting[] = "gpusparc-serve ";
    char why[256];
    if (strncmp(line, greeting, sizeof greeting - 1) == 0) {
        const char *stamp = line + sizeof greeting - 1;
        h->state = GS_HOST_GREETED;
        if (strcmp(stamp, "none") == 0 || strcmp(stamp, hosts->engine.stamp) == 0)
            return;
        snprintf(why, sizeof why,
                 "its engine is version %s, this machine's %s; scripts/remote.sh builds the same on both", stamp,
                 hosts->engine.stamp);
        leave_out(h, why);
    } else if (h->state == GS_HOST_GREETED && strncmp(line, "where ", 6) == 0) {
        keep_text(h->where, sizeof h->where, line + 6);
    } else if (h->state == GS_HOST_GREETED && strncmp(line, "device ", 7) == 0) {
        hear_device(h, line + 7);
    } else if (h->state == GS_HOST_GREETED && strncmp(line, "rate ", 5) == 0) {
        hear_rate(h, line + 5);
    } else if (h->state == GS_HOST_GREETED && strncmp(line, "apart ", 6) == 0) {
        hear_apart(h, line + 6);
    } else if (h->state == GS_HOST_GREETED && strncmp(line, "pairs ", 6) == 0) {
        hear_pairs(hosts, h, line + 6);
    } else if (h->state == GS_HOST_GREETED && strcmp(line, "ready") == 0) {
        choose_devices(h);
        if (h->n_devices)
            h->state = GS_HOST_READY;
        else
            leave_out(h, "it has no GPU and no CPU device");
    } else if (h->state == GS_HOST_GREETED && strncmp(line, "failed ", 7) == 0) {
        leave_out(h, line + 7);
    } else if (h->state == GS_HOST_GREETED && strcmp(line, "taken") == 0) {
        leave_out(h, "it has no free port");
        if (++h->tries < MOST_TRIES)
            start_again(hosts, h);
    } else if (strncmp(line, "gone ", 5) == 0) {
        leave_out(h, line + 5);
    } else if (h->state == GS_HOST_READY) {
        hear_of_link(hosts, h, line);
    } else if (h->state == GS_HOST_SILENT && *line) {
        keep_text(h->last, sizeof h->last, line);
        h->last[strcspn(h->last, "\r")] = '\0';
    }
}

static void take_in(struct gs_hosts *hosts, struct gs_host *h)
{
    char bytes[1024];
    const ssize_t n = read(h->from, bytes, sizeof bytes);
    if (n <= 0) {
        const bool begun = h->state != GS_HOST_SILENT;
        leave_out(h, *h->last && !begun ? h->last : begun ? "its connection has ended" : "ssh has ended");
        return;
    }
    h->heard_ms = gs_now_ms();
    const int was = h->from;
    for (ssize_t i = 0; i < n && h->from == was; i++) {
        if (bytes[i] != '\n') {
            if (h->line_bytes < sizeof h->line - 1)
                h->line[h->line_bytes++] = bytes[i];
            continue;
        }
        h->line[h->line_bytes] = '\0';
        h->line_bytes = 0;
        hear(hosts, h, h->line);
    }
}

/* ssh says things of its own before the far side does: only that one's words count as life. */
static bool is_silent(const struct gs_hosts *hosts, const struct gs_host *h)
{
    const int64_t now = gs_now_ms();
    switch (h->state) {
    case GS_HOST_SILENT:
        return now - h->begun_ms > hosts->limit_ms;
    case GS_HOST_GREETED: /* its drivers may take their time */
        return now - h->begun_ms > READY_MS + hosts->limit_ms;
    case GS_HOST_READY:
        return now - h->heard_ms > lost_ms(hosts);
    default:
        return false;
    }
}

/* Now and then, however often it speaks: the far side is woken by each byte, and we by each of its lines. */
static void beat(struct gs_host *h)
{
    const int64_t now = gs_now_ms();
    if (now - h->said_ms < BEAT_MS)
        return;
    h->said_ms = now;
    if (h->to >= 0 && write(h->to, ".", 1) < 0 && errno != EAGAIN)
        leave_out(h, "its connection has ended");
}

/* Its way to another host has ended. If that host is the reason, it has a moment to say why: then that is reported. */
static void look_whether_parted(const struct gs_hosts *hosts, struct gs_host *h)
{
    char why[256];
    if (!h->parted_ms || gs_now_ms() - h->parted_ms < BEAT_MS)
        return;
    snprintf(why, sizeof why, "its connection to %s has ended", hosts->host[h->parted_from].name);
    leave_out(h, why);
}

struct gs_host *gs_hosts_attend(struct gs_hosts *hosts, int other, int wait_ms)
{
    struct pollfd fds[GS_HOSTS_MOST + 1];
    unsigned who[GS_HOSTS_MOST], n = 0;
    struct gs_host *lost = NULL;
    for (unsigned i = 0; i < hosts->n; i++)
        if (hosts->host[i].from >= 0) {
            who[n] = i;
            fds[n++] = (struct pollfd){.fd = hosts->host[i].from, .events = POLLIN};
        }
    fds[n] = (struct pollfd){.fd = other, .events = POLLIN};
    const int any = poll(fds, n + 1, wait_ms < BEAT_MS ? wait_ms : BEAT_MS);
    for (unsigned k = 0; k < n; k++) {
        struct gs_host *h = &hosts->host[who[k]];
        const bool was_in = h->state == GS_HOST_READY;
        if (any > 0 && fds[k].revents)
            take_in(hosts, h);
        if (h->state == GS_HOST_READY && is_silent(hosts, h))
            leave_out(h, "it no longer answers");
        if (h->state == GS_HOST_READY)
            look_whether_parted(hosts, h);
        if (h->state == GS_HOST_READY)
            beat(h);
        if (was_in && h->state == GS_HOST_OUT)
            lost = h;
    }
    return lost;
}

int gs_hosts_start(struct gs_hosts *hosts, bool all, char *why, size_t why_bytes)
{
    bool waiting = true;
    unsigned devices = 0;
    if (gs_engine_find(&hosts->engine, why, why_bytes) < 0)
        return -ENOENT;
    signal(SIGPIPE, SIG_IGN);
    if (make_secret(hosts->secret) < 0) {
        snprintf(why, why_bytes, "the system gives no random bytes for the run's secret");
        return -EIO;
    }
    for (unsigned i = 0; i < hosts->n; i++)
        start_one(hosts, &hosts->host[i]);
    while (waiting) {
        gs_hosts_attend(hosts, -1, BEAT_MS);
        waiting = false;
        for (unsigned i = 0; i < hosts->n; i++) {
            struct gs_host *h = &hosts->host[i];
            if (h->state < GS_HOST_READY && is_silent(hosts, h))
                leave_out(h, *h->last ? h->last : "it doesn't answer");
            waiting = waiting || h->state < GS_HOST_READY;
        }
    }
    link_hosts(hosts);
    const char *first = NULL, *reason = NULL;
    for (unsigned i = 0; i < hosts->n; i++) {
        struct gs_host *h = &hosts->host[i];
        devices += h->state == GS_HOST_READY ? h->n_devices : 0;
        if (h->state != GS_HOST_OUT)
            continue;
        first = first ? first : h->name;
        reason = reason ? reason : h->why;
        if (!all)
            gs_warn("host %s is left out: %s", h->name, h->why);
    }
    if (all && first) {
        snprintf(why, why_bytes, "host %s can't be used: %s", first, reason);
        return -EHOSTUNREACH;
    }
    snprintf(why, why_bytes, "no host of --hosts has a device");
    return devices ? 0 : -ENODEV;
}

/* After the `#`: where other hosts reach it. */
static int set_device(unsigned i, const struct gs_host *h, const struct gs_host_device *d)
{
    char name[64], value[192];
    snprintf(name, sizeof name, "POCL_REMOTE%u_PARAMETERS", i);
    snprintf(value, sizeof value, "%s:%u/%u#%s:%u", h->address, h->port + d->offset, d->apart ? 0 : d->index,
             h->address, h->far_port + d->offset + 1);
    return setenv(name, value, 1);
}

static bool is_one_server(const struct gs_hosts *hosts, const unsigned *host_of, unsigned i, unsigned j)
{
    return i == j || (host_of[i] == host_of[j] && !hosts->host[host_of[i]].device[0].apart);
}

/* For each device a row: to which others its bytes go without this machine. Those of one server are together. */
static int set_direct(const struct gs_hosts *hosts, const unsigned *host_of, unsigned n)
{
    char rows[GS_MAX_DEVICES * (GS_MAX_DEVICES + 1) + 1] = "", *at = rows;
    for (unsigned i = 0; i < n; i++) {
        for (unsigned j = 0; j < n; j++)
            *at++ =
                is_one_server(hosts, host_of, i, j) || gs_hosts_are_linked(hosts, host_of[i], host_of[j]) ? '1' : '0';
        *at++ = i + 1 < n ? ',' : '\0';
    }
    return setenv("GPUSPARC_REMOTE_DIRECT", rows, 1);
}

/* The host whose first device is home: the first in the list, unless one has a device that is far faster by what it
 * says of itself; but data on this machine needn't travel. Null: none is ready. */
static const struct gs_host *find_home(const struct gs_hosts *hosts)
{
    static const double far_faster = 1.5;
    const struct gs_host *first = NULL, *fastest = NULL;
    for (unsigned i = 0; i < hosts->n; i++) {
        const struct gs_host *h = &hosts->host[i];
        if (h->state != GS_HOST_READY)
            continue;
        first = first ? first : h;
        fastest = fastest && fastest->device[0].rate >= h->device[0].rate ? fastest : h;
    }
    if (!first || is_local(first) || !(first->device[0].rate > 0))
        return first;
    return fastest->device[0].rate > far_faster * first->device[0].rate ? fastest : first;
}

int gs_hosts_set_environment(const struct gs_hosts *hosts)
{
    const struct gs_host *home = find_home(hosts);
    char kinds[GS_MAX_DEVICES * 8] = "", names[GS_MAX_DEVICES * (GS_HOST_NAME_BYTES + 1)] = "";
    char vendors[PATH_MAX + 16];
    unsigned n = 0, host_of[GS_MAX_DEVICES];
    int err = 0;
    for (unsigned i = 0; i <= hosts->n; i++) {
        const struct gs_host *h = i ? &hosts->host[i - 1] : home;
        if (!h || h->state != GS_HOST_READY || (i && h == home))
            continue;
        for (unsigned d = 0; d < h->n_devices && n < GS_MAX_DEVICES && !err; d++, n++) {
            err = set_device(n, h, &h->device[d]);
            host_of[n] = (unsigned)(h - hosts->host);
            snprintf(kinds + strlen(kinds), sizeof kinds - strlen(kinds), "%sremote", n ? " " : "");
            snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", n ? "," : "", h->name);
        }
    }
    snprintf(vendors, sizeof vendors, "%s/vendors", hosts->engine.folder);
    return err || set_direct(hosts, host_of, n) < 0 || setenv("POCLD_SECRET", hosts->secret, 1) < 0 ||
                   setenv("POCL_DEVICES", kinds, 1) < 0 || setenv("OCL_ICD_VENDORS", vendors, 1) < 0 ||
                   setenv("GPUSPARC_REMOTE", names, 1) < 0
               ? -ENOMEM
               : 0;
}

void gs_hosts_end(struct gs_hosts *hosts)
{
    /* The ssh of a host that is lost may wait for it without end. */
    for (unsigned i = 0; i < hosts->n; i++) {
        struct gs_host *h = &hosts->host[i];
        if (h->state == GS_HOST_OUT)
            reap(h, 0);
        else
            leave_out(h, "the run has ended");
    }
    for (unsigned i = 0; i < hosts->n; i++)
        reap(&hosts->host[i], END_MS);
}
