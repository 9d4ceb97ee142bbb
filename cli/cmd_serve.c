/* SPDX-License-Identifier: MIT */
/* gpusparc serve: the far side of --hosts. Runs a server of this machine's devices until standard input ends.
 *
 * What it says on standard output, a line each, is for the near side (cli/hosts.c): "gpusparc-serve VERSION"; "where"
 * and which machine this is; "device INDEX TYPE NAME" and "rate INDEX RATE" (rate_of) for each device; "pairs
 * N", if with so many pairs of ports (--pairs) each GPU could have a server of its own, and then "apart INDEX OFFSET":
 * that device's is at so many above the port; "ready", or "taken" (the port), or "failed WHY"; then a "." now and then,
 * as long as the server lives, and what cli/serve_links.h has; and "gone WHY", where it doesn't any more. It wants to
 * hear from the near side as well: a link that hangs ends both. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/daemon_view.h"
#include "cli/engine.h"
#include "cli/paths.h"
#include "cli/serve_alive.h"
#include "cli/serve_links.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/options.h"
#include "shim/devices/group.h"

enum { MAX_PLATFORMS = 32, MAX_LISTED = 64, BEAT_MS = 200, SILENT_MS = 10000, START_MS = 20000, STOPPED_MS = 1000 };

static const char usage[] =
    "Usage: gpusparc serve --port N [--pairs N] [--address ADDRESS] [--secret]\n"
    "Lets gpusparc run --hosts on another machine use the devices of this one, until standard input ends.\n"
    "gpusparc run starts it over ssh: there is seldom a reason to start it by hand.\n\n"
    "  --port N           listen at port N and the one above it\n"
    "  --pairs N          N pairs of ports in all, so that N GPUs can ask a daemon of this machine's (default: 1)\n"
    "  --address ADDRESS  listen there (default: 127.0.0.1, which other machines can't reach but by ssh)\n"
    "  --secret           the first line of standard input is a secret: serve nobody who doesn't know it\n\n"
    "Exit status: 0; 1 where it can't serve; 2 for wrong usage.\n";

static const struct option options[] = {
    {"port", required_argument, NULL, 'p'},
    {"pairs", required_argument, NULL, 'n'},
    {"address", required_argument, NULL, 'a'},
    {"secret", no_argument, NULL, 's'},
    {NULL, 0, NULL, 0},
};

struct devices {
    unsigned n, platforms; /* that have any */
    unsigned gpu[GS_MAX_DEVICES], n_gpus;
};

/* The engine's edit "platforms" leaves these out, and those without devices. */
static bool is_old(cl_platform_id platform)
{
    char version[128] = "";
    gs_real()->clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof version, version, NULL);
    return strncmp(version, "OpenCL 1.", 9) == 0;
}

/* Operations in a ns that few kernels do more of on the device: one in each lane of a GPU and each clock, four in each
 * of a processor (PoCL on x86: 0.8 where each depends on the one before; eight lanes full of them: 16). */
static double rate_of(cl_device_id dev, cl_device_type type)
{
    enum { GPU_LANES = 128, CPU_AT_ONCE = 4 };
    cl_uint mhz = 0, units = 0;
    gs_real()->clGetDeviceInfo(dev, CL_DEVICE_MAX_CLOCK_FREQUENCY, sizeof mhz, &mhz, NULL);
    gs_real()->clGetDeviceInfo(dev, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
    const unsigned each = type & CL_DEVICE_TYPE_CPU ? CPU_AT_ONCE : GPU_LANES;
    return (mhz ? mhz : 3000) / 1000.0 * (units ? units : 1) * each;
}

/* By the server's numbers: those of all platforms in a row. */
static struct devices print_devices(void)
{
    struct devices found = {0};
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_uint n = 0, index = 0;
    if (!gs_real()->clGetPlatformIDs || gs_real()->clGetPlatformIDs(MAX_PLATFORMS, platforms, &n) != CL_SUCCESS)
        return found;
    for (cl_uint p = 0; p < n && p < MAX_PLATFORMS; p++) {
        cl_device_id devices[MAX_LISTED];
        cl_uint count = 0;
        if (is_old(platforms[p]) ||
            gs_real()->clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MAX_LISTED, devices, &count) != CL_SUCCESS)
            continue;
        found.platforms += count > 0;
        for (cl_uint i = 0; i < count && i < MAX_LISTED; i++, index++) {
            cl_device_type type = 0;
            char name[128] = "";
            gs_real()->clGetDeviceInfo(devices[i], CL_DEVICE_TYPE, sizeof type, &type, NULL);
            gs_real()->clGetDeviceInfo(devices[i], CL_DEVICE_NAME, sizeof name, name, NULL);
            name[strcspn(name, "\n")] = '\0';
            printf("device %u %s %s\n", index,
                   type & CL_DEVICE_TYPE_CPU   ? "cpu"
                   : type & CL_DEVICE_TYPE_GPU ? "gpu"
                                               : "other",
                   name);
            printf("rate %u %.0f\n", index, rate_of(devices[i], type));
            if (type & CL_DEVICE_TYPE_GPU && found.n_gpus < GS_MAX_DEVICES)
                found.gpu[found.n_gpus++] = index;
        }
    }
    found.n = index;
    return found;
}

/* The server is an application of this machine's: where a daemon schedules those, it asks as well. */
static bool daemon_is_there(void)
{
    json_t *state = gs_daemon_state(NULL, true);
    const bool is = state != NULL;
    json_decref(state);
    return is;
}

/* Connects to the server, or binds to its port. */
static bool try_port(const char *address, unsigned port, bool connects)
{
    const int fd = gs_serve_socket(address, port, connects, 0);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* No other gpusparc serve of this machine may have it, from before the server listens until this process ends. Else two
 * that draw the same port both find it free, and what answers the one is the other's server. */
static bool reserve_port(unsigned port)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX}; /* abstract: unix(7) */
    snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "gpusparc-serve-%u", port);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return fd >= 0 && bind(fd, (struct sockaddr *)&name, sizeof name) == 0;
}

/* The near side's first line, for the servers alone: by their environment, which other users can't read. What comes
 * behind it is left. False: there is none, or none in time. */
static bool take_secret(void)
{
    char secret[GS_SERVE_SECRET_BYTES];
    const int64_t until = gs_now_ms() + SILENT_MS;
    struct pollfd in = {.fd = 0, .events = POLLIN};
    for (size_t n = 0; n < sizeof secret; n++) {
        const int64_t left = until - gs_now_ms();
        if (left <= 0 || poll(&in, 1, (int)left) <= 0 || read(0, &secret[n], 1) != 1)
            return false;
        if (secret[n] != '\n')
            continue;
        secret[n] = '\0';
        return n && setenv("POCLD_SECRET", secret, 1) == 0;
    }
    return false;
}

/* On localhost they are those of the run that this is a server of; but where the daemon is, is the same. */
static void forget_settings(void)
{
    for (char **e = environ; *e;) {
        char name[64];
        const size_t n = strcspn(*e, "=");
        snprintf(name, sizeof name, "%.*s", (int)n, *e);
        if (n < sizeof name && strncmp(name, "GPUSPARC_", 9) == 0 && strcmp(name, "GPUSPARC_SOCKET") != 0 &&
            unsetenv(name) == 0)
            e = environ;
        else
            e++;
    }
    setenv("GPUSPARC_HOSTS", "none", 1);
}

/* Dies with this process, whatever ends it. `device`: as an application of gpusparc's on that one; NULL: of all. */
static pid_t start(const struct gs_engine *e, const char *address, unsigned port, const unsigned *device)
{
    char path[PATH_MAX + 16], number[16], index[16], self[PATH_MAX];
    snprintf(path, sizeof path, "%s/bin/pocld", e->folder);
    snprintf(number, sizeof number, "%u", port);
    snprintf(index, sizeof index, "%u", device ? *device : 0);
    const pid_t parent = getpid(), pid = fork();
    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int null = open("/dev/null", O_RDWR);
    if (getppid() != parent || null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
        _exit(1);
    syscall(SYS_close_range, 3u, ~0u, 0u);
    gs_forget_run();
    forget_settings();
    if (device && gs_program_path("gpusparc", self, sizeof self) == 0)
        execl(self, self, "run", "--mode", "single", "--devices", index, "--", path, "-a", address, "-p", number,
              (char *)NULL);
    else
        execl(path, path, "-a", address, "-p", number, (char *)NULL);
    _exit(1);
}

/* Until both ports answer. */
static const char *await_start(pid_t pid, const char *address, unsigned port)
{
    const int64_t until = gs_now_ms() + START_MS;
    while (gs_now_ms() < until) {
        if (waitpid(pid, NULL, WNOHANG) == pid)
            return "taken";
        if (try_port(address, port + 1, true))
            return "ready";
        const struct timespec t = {.tv_nsec = 10000000};
        nanosleep(&t, NULL);
    }
    return "failed the server doesn't answer";
}

static bool say(const char *line)
{
    return printf("%s\n", line) > 0 && fflush(stdout) == 0;
}

/* By the server's status: 100 and OpenCL's error without its sign, at most 199 (scripts/remote_edits.py, `failed`). */
static void say_gone(int status)
{
    char line[80] = "gone its server has ended";
    const int error = WIFEXITED(status) ? 100 - WEXITSTATUS(status) : 0;
    if (error < 0)
        snprintf(line, sizeof line, "gone its driver has refused a command (error %d%s)", error,
                 error == -99 ? " or below" : "");
    say(line);
}

/* It has ended, or has been stopped (SIGSTOP) for a while, which is said: its connections look alive as long as this
 * machine is. *stopped_ms: since when it is stopped; 0: it isn't. */
static bool is_gone(pid_t pid, int64_t *stopped_ms)
{
    int status;
    while (waitpid(pid, &status, WNOHANG | WUNTRACED | WCONTINUED) == pid) {
        if (!WIFSTOPPED(status) && !WIFCONTINUED(status)) {
            say_gone(status);
            return true;
        }
        *stopped_ms = WIFSTOPPED(status) ? gs_now_ms() : 0;
    }
    if (!*stopped_ms || gs_now_ms() - *stopped_ms < STOPPED_MS)
        return false;
    say("gone its server has been stopped");
    return true;
}

/* Until the near side is gone, or silent, or one of the servers is gone. */
static void attend(const pid_t *pid, unsigned n_servers, const char *address, unsigned port)
{
    static struct gs_serve_links links;
    struct pollfd fds[1 + GS_MAX_DEVICES + GS_SERVE_LINKS_MOST] = {{.fd = 0, .events = POLLIN}};
    struct pollfd *of_links = fds + 1 + n_servers;
    int64_t heard = gs_now_ms(), said = heard, stopped_ms[GS_MAX_DEVICES] = {0};
    struct gs_serve_alive alive[GS_MAX_DEVICES];
    links.own_port = port + 1;
    for (unsigned i = 0; i < n_servers; i++) {
        alive[i] = (struct gs_serve_alive){.fd = -1};
        fds[i + 1] = (struct pollfd){.fd = (int)syscall(SYS_pidfd_open, pid[i], 0), .events = POLLIN};
    }
    for (;;) {
        char bytes[256];
        poll(fds, 1 + n_servers + gs_serve_links_poll(&links, of_links), BEAT_MS);
        gs_serve_links_attend(&links, of_links);
        if (fds[0].revents) {
            const ssize_t n = read(0, bytes, sizeof bytes);
            if (n <= 0)
                return;
            heard = gs_now_ms();
            gs_serve_links_hear(&links, bytes, (size_t)n);
        }
        for (unsigned i = 0; i < n_servers; i++) {
            if (is_gone(pid[i], &stopped_ms[i]))
                return;
            if (!stopped_ms[i] && !gs_serve_alive(&alive[i], pid[i], address, port + 2 * i)) {
                say("gone its server no longer answers");
                return;
            }
        }
        const int64_t now = gs_now_ms();
        if (now - heard > SILENT_MS)
            return;
        if (now - said < BEAT_MS)
            continue;
        said = now;
        if (!say("."))
            return;
    }
}

static int serve(const char *address, unsigned port, unsigned pairs, bool wants_secret)
{
    struct gs_engine engine;
    char why[256], line[320];
    signal(SIGPIPE, SIG_IGN);
    if (gs_engine_find(&engine, why, sizeof why) < 0) {
        say("gpusparc-serve none");
        snprintf(line, sizeof line, "failed %s", why);
        say(line);
        return GS_EXIT_FAILED;
    }
    char where[GS_SERVE_WHERE_BYTES];
    gs_serve_where(where);
    snprintf(line, sizeof line, "gpusparc-serve %s\nwhere %s", engine.stamp, where);
    if (!say(line))
        return GS_EXIT_FAILED;
    if (wants_secret && !take_secret()) {
        say("failed it has heard no secret");
        return GS_EXIT_FAILED;
    }
    for (unsigned i = 0; i < 2 * pairs; i++)
        if (!reserve_port(port + i) || !try_port(address, port + i, false)) {
            say("taken");
            return GS_EXIT_FAILED;
        }
    /* The shim hides what isn't the application's one device, so each of several GPUs has a server of its own, which
     * takes units of the daemon's for it. Other devices do without. */
    const bool asks = daemon_is_there();
    const struct devices d = asks ? print_devices() : (struct devices){0};
    const unsigned could = d.n_gpus > 1 && d.platforms == 1 ? d.n_gpus : 0, only = 0;
    const bool apart = could && could <= pairs;
    if (could > pairs) {
        printf("pairs %u\n", could);
        fflush(stdout);
    }
    pid_t pid[GS_MAX_DEVICES];
    const unsigned n = apart ? could : 1;
    for (unsigned i = 0; i < n; i++) {
        pid[i] = start(&engine, address, port + 2 * i, apart ? &d.gpu[i] : d.n == 1 ? &only : NULL);
        if (apart)
            printf("apart %u %u\n", d.gpu[i], 2 * i);
    }
    if (!asks)
        print_devices();
    const char *state = "ready";
    for (unsigned i = 0; i < n && strcmp(state, "ready") == 0; i++)
        state = pid[i] < 0 ? "failed no process could be made" : await_start(pid[i], address, port + 2 * i);
    const bool well = say(state) && strcmp(state, "ready") == 0;
    if (well)
        attend(pid, n, address, port);
    for (unsigned i = 0; i < n; i++)
        if (pid[i] > 0)
            kill(pid[i], SIGKILL);
    return well ? GS_EXIT_OK : GS_EXIT_FAILED;
}

/* -1, and it has been said, where it is none of these. */
static long parse_number(const char *option, const char *text, long least, long most)
{
    char *end, why[256];
    const long value = strtol(text, &end, 10);
    if (!*end && value >= least && value <= most)
        return value;
    snprintf(why, sizeof why, "'%s' is no value for %s: it takes a number from %ld to %ld", text, option, least, most);
    gs_usage_error(why, "gpusparc serve");
    return -1;
}

static int run(int argc, char **argv)
{
    const char *address = "127.0.0.1";
    long port = 0, pairs = 1;
    bool wants_secret = false;
    int opt;
    opterr = 0;
    while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (opt == 'p') {
            port = parse_number("--port", optarg, 1024, 65533);
        } else if (opt == 'n') {
            pairs = parse_number("--pairs", optarg, 1, GS_MAX_DEVICES);
        } else if (opt == 'a') {
            address = optarg;
        } else if (opt == 's') {
            wants_secret = true;
        } else {
            gs_option_error(argv, options, "gpusparc serve");
            return GS_EXIT_USAGE;
        }
        if (port < 0 || pairs < 0)
            return GS_EXIT_USAGE;
    }
    if (optind < argc || !port) {
        gs_usage_error(port ? "it takes no arguments" : "--port is missing", "gpusparc serve");
        return GS_EXIT_USAGE;
    }
    return serve(address, (unsigned)port, (unsigned)pairs, wants_secret);
}

const struct gs_command gs_cmd_serve = {
    .name = "serve",
    .summary = "lets gpusparc run --hosts elsewhere use this machine's devices",
    .usage = usage,
    .run = run,
};
