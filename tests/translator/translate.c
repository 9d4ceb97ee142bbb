/* SPDX-License-Identifier: MIT */
/* gs_translate as an application meets it: the process it starts, the ways it fails, and the cache.
 * translate TRANSLATOR */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/suite.h"
#include "translator/summary/translate.h"

static const char *translator; /* the real one */
static char dir[256];          /* this test's own folder */
static char why[512];

static const char source[] = "int f(int a) { return a + (int)get_group_id(0); }\n"
                             "__kernel void k(__global int *p) { p[get_global_id(0)] = f(1); }\n";

static const char *in_dir(const char *name)
{
    static char path[2][512];
    static unsigned turn;
    turn ^= 1;
    snprintf(path[turn], sizeof path[turn], "%s/%s", dir, name);
    return path[turn];
}

static void write_file(const char *name, const char *text, mode_t mode)
{
    FILE *f = fopen(in_dir(name), "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    chmod(in_dir(name), mode);
}

static char *read_file(const char *name)
{
    static char text[65536];
    FILE *f = fopen(in_dir(name), "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = 0;
    if (f)
        fclose(f);
    return text;
}

/* A translator that first runs the given shell commands. */
static const char *script(const char *name, const char *commands)
{
    static char path[512];
    char text[2048];
    snprintf(text, sizeof text, "#!/bin/sh\n%s\n", commands);
    write_file(name, text, 0755);
    snprintf(path, sizeof path, "%s", in_dir(name));
    return path;
}

/* One that counts its runs in the file `runs`. */
static const char *counting(void)
{
    char text[1200];
    snprintf(text, sizeof text, "echo >> '%s'\nexec '%s'", in_dir("runs"), translator);
    return script("counting", text);
}

static size_t runs(void)
{
    return strlen(read_file("runs"));
}

static int translate_with(const char *program, const char *text, const char *options, int timeout_ms,
                          struct gs_summary **out)
{
    struct gs_translate_unit unit = {.source = text, .options = options};
    struct gs_translate_request req = {
        .units = &unit,
        .n_units = 1,
        .device = {
            .extensions = "", .opencl_c_version = "OpenCL C 1.2", .vendor = "", .platform = "", .address_bits = 64}};
    return gs_translate(&req, program, timeout_ms, out, why, sizeof why);
}

static int translate(const char *program, const char *options)
{
    struct gs_summary *s;
    int err = translate_with(program, source, options, 20000, &s);
    if (err == 0)
        assert_true(s->n_kernels == 1 && s->changed && s->kernels[0].hidden);
    gs_summary_free(s);
    return err;
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int begin(void **state)
{
    char cache[300];
    snprintf(dir, sizeof dir, "%s/gpusparc-translate-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    assert_non_null(mkdtemp(dir));
    snprintf(cache, sizeof cache, "%s/cache", dir);
    setenv("XDG_CACHE_HOME", cache, 1);
    unsetenv("GPUSPARC_CACHE_SIZE");
    return 0;
}

static int end(void **state)
{
    char command[400];
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    return system(command) == 0 ? 0 : -1;
}

static void crashes_and_other_failures_are_reported(void **state)
{
    assert_int_equal(translate(script("crash", "kill -SEGV $$"), ""), -EPIPE);
    assert_non_null(strstr(why, "crashed"));
    assert_null(strchr(why, '\n'));
    assert_int_equal(translate(script("fail", "exit 1"), ""), -EPIPE);
    assert_int_equal(translate(script("garbage", "echo nonsense"), ""), -EPIPE);
    assert_int_equal(translate(script("nothing", "exit 0"), ""), -EPIPE);
    assert_int_equal(translate(in_dir("missing"), ""), -EPIPE);
    assert_non_null(strstr(why, "could not be started"));
}

static void a_hang_ends_in_time(void **state)
{
    struct gs_summary *s;
    int64_t t = now_ms();
    assert_int_equal(translate_with(script("hang", "exec sleep 100"), source, "", 300, &s), -ETIME);
    t = now_ms() - t;
    assert_true(t >= 290 && t < 5000);
    assert_non_null(strstr(why, "too long"));
}

static volatile sig_atomic_t children;

static void count_child(int sig)
{
    children++;
}

static void the_application_sees_no_child(void **state)
{
    struct sigaction sa = {.sa_handler = count_child}, old;
    sigaction(SIGCHLD, &sa, &old);
    assert_int_equal(translate(translator, "-DA"), 0);
    assert_int_equal(translate(script("crash", "kill -SEGV $$"), "-DA2"), -EPIPE);
    assert_int_equal(children, 0);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    sa.sa_handler = SIG_IGN; /* then nobody's children are waited for */
    sigaction(SIGCHLD, &sa, NULL);
    assert_int_equal(translate(translator, "-DB"), 0);
    sigaction(SIGCHLD, &old, NULL);
}

static void an_own_child_is_left_to_the_application(void **state)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(7);
    assert_int_equal(translate(translator, "-DC"), 0);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), 7);
}

static void nothing_of_the_application_reaches_the_translator(void **state)
{
    char text[2048];
    setenv("LD_PRELOAD", "", 1);
    setenv("OPENCL_LAYERS", "x", 1);
    setenv("GPUSPARC_MODE", "x", 1);
    setenv("KEPT", "yes", 1);
    int fd = open("/dev/null", O_RDONLY); /* no close-on-exec */
    snprintf(text, sizeof text,
             "env > '%s/env'\nls /proc/$$/fd > '%s/fds'\ngrep SigBlk /proc/self/status > '%s/mask'\nexec '%s'", dir,
             dir, dir, translator);
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, &old);
    assert_int_equal(translate(script("look", text), "-DD"), 0);
    sigset_t after;
    pthread_sigmask(SIG_SETMASK, &old, &after);
    assert_true(sigismember(&after, SIGUSR1) && !sigismember(&after, SIGTERM));
    close(fd);
    unsetenv("LD_PRELOAD");
    unsetenv("OPENCL_LAYERS");
    unsetenv("GPUSPARC_MODE");
    assert_null(strstr(read_file("env"), "LD_PRELOAD"));
    assert_null(strstr(read_file("env"), "OPENCL_LAYERS"));
    assert_null(strstr(read_file("env"), "GPUSPARC_"));
    assert_non_null(strstr(read_file("env"), "KEPT=yes"));
    char expected[16];
    snprintf(expected, sizeof expected, "\n%d\n", fd);
    assert_null(strstr(read_file("fds"), expected));
    assert_non_null(strstr(read_file("mask"), "0000000000000000"));
}

static void an_application_without_standard_streams(void **state)
{
    pid_t pid = fork();
    if (pid == 0) {
        close(0);
        close(1);
        close(2);
        struct gs_summary *s;
        int err = translate_with(translator, source, "-DE", 20000, &s);
        _exit(err == 0 && fcntl(0, F_GETFD) < 0 && fcntl(1, F_GETFD) < 0 ? 0 : 1);
    }
    int status;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
}

static void the_second_time_comes_from_the_cache(void **state)
{
    const char *t = counting();
    assert_int_equal(translate(t, ""), 0);
    assert_int_equal(runs(), 1);
    assert_int_equal(translate(t, ""), 0);
    assert_int_equal(runs(), 1);
    assert_int_equal(translate(t, "-DX"), 0);
    assert_int_equal(runs(), 2);
    counting(); /* the translator is another one now */
    struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    utimensat(AT_FDCWD, t, times, 0);
    assert_int_equal(translate(t, ""), 0);
    assert_int_equal(runs(), 3);
}

/* Calls `f` for each entry of the cache; their number. */
static size_t each_entry(void (*f)(const char *path))
{
    size_t n = 0;
    char path[1024];
    DIR *d = opendir(in_dir("cache/gpusparc"));
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/cache/gpusparc/%s", dir, e->d_name);
            if (f)
                f(path);
            n++;
        }
    if (d)
        closedir(d);
    return n;
}

static void cut(const char *path)
{
    assert_int_equal(truncate(path, 700), 0);
}

static void flip(const char *path)
{
    int fd = open(path, O_RDWR);
    char c;
    struct stat st;
    fstat(fd, &st);
    assert_int_equal(pread(fd, &c, 1, st.st_size - 40), 1);
    c ^= 1;
    assert_int_equal(pwrite(fd, &c, 1, st.st_size - 40), 1);
    close(fd);
}

static void empty(const char *path)
{
    assert_int_equal(truncate(path, 0), 0);
}

static void a_damaged_entry_is_made_anew(void **state)
{
    void (*const damages[])(const char *) = {cut, flip, empty};
    const char *t = counting();
    assert_int_equal(translate(t, ""), 0);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(each_entry(damages[i]), 1);
        assert_int_equal(translate(t, ""), 0);
        assert_int_equal(runs(), i + 2);
        assert_int_equal(translate(t, ""), 0);
        assert_int_equal(runs(), i + 2);
    }
}

static void a_cache_that_cant_be_used_is_no_failure(void **state)
{
    setenv("XDG_CACHE_HOME", "/dev/null", 1);
    assert_int_equal(translate(translator, ""), 0);
    setenv("XDG_CACHE_HOME", "/proc", 1);
    assert_int_equal(translate(translator, ""), 0);
    setenv("XDG_CACHE_HOME", "relative", 1);
    unsetenv("HOME");
    assert_int_equal(translate(translator, ""), 0);
    assert_int_not_equal(access("relative", F_OK), 0);
    setenv("XDG_CACHE_HOME", in_dir("cache"), 1);
    assert_int_equal(mkdir(in_dir("cache"), 0700), 0);
    assert_int_equal(mkdir(in_dir("cache/gpusparc"), 0777), 0);
    chmod(in_dir("cache/gpusparc"), 0777); /* others may write here: not to be believed */
    assert_int_equal(translate(translator, ""), 0);
    assert_int_equal(each_entry(NULL), 0);
}

static void a_full_disk_is_no_failure(void **state)
{
    struct rlimit old, none = {0};
    getrlimit(RLIMIT_FSIZE, &old);
    none.rlim_max = old.rlim_max;
    none.rlim_cur = 3000; /* enough for the request, not for the answer's entry */
    static char big[40000];
    int n = snprintf(big, sizeof big, "%s", source);
    memset(big + n, ' ', 2000);
    setrlimit(RLIMIT_FSIZE, &none);
    struct gs_summary *s;
    int err = translate_with(translator, big, "", 20000, &s);
    setrlimit(RLIMIT_FSIZE, &old);
    gs_summary_free(s);
    assert_true(err == 0 || err == -EPIPE); /* and no SIGXFSZ */
    assert_int_equal(each_entry(NULL), 0);
}

static void headers_on_disk_are_watched(void **state)
{
    char options[600];
    static const char text[] =
        "#include \"a.h\"\n__kernel void k(__global int *p) { p[0] = A + (int)get_group_id(0); }\n";
    const char *t = counting();
    struct gs_summary *s;
    snprintf(options, sizeof options, "-I%s/first -I %s/second", dir, dir);
    mkdir(in_dir("first"), 0700);
    mkdir(in_dir("second"), 0700);
    assert_int_equal(translate_with(t, text, options, 20000, &s), 0);
    assert_non_null(strstr(s->refusal, "file not found"));
    gs_summary_free(s);
    assert_int_equal(each_entry(NULL), 0);
    const char *const steps[][2] = {
        {"second/a.h", "#define A 1\n"}, {"second/a.h", "#define A 2\n"}, {"first/a.h", "#define A 3\n"}};
    for (size_t i = 0; i < 3; i++) {
        write_file(steps[i][0], steps[i][1], 0600);
        for (int twice = 0; twice < 2; twice++) {
            assert_int_equal(translate_with(t, text, options, 20000, &s), 0);
            assert_null(s->refusal);
            assert_non_null(strstr(s->units[0], steps[i][1]));
            gs_summary_free(s);
            assert_int_equal(runs(), i + 2);
        }
    }
}

static void the_cache_stays_small(void **state)
{
    char options[32];
    setenv("GPUSPARC_CACHE_SIZE", "8K", 1);
    for (int i = 0; i < 12; i++) {
        snprintf(options, sizeof options, "-DN=%d", i);
        assert_int_equal(translate(translator, options), 0);
    }
    size_t n = each_entry(NULL);
    if (n < 2 || n > 6)
        fail_msg("%zu entries", n);
    const char *t = translator;
    setenv("GPUSPARC_CACHE_SIZE", "0", 1);
    assert_int_equal(translate(t, "-DZERO"), 0);
    assert_int_equal(each_entry(NULL), n);
}

/* What is not the cache's own stays, whatever its name and size; and what isn't an entry is no answer. */
static void files_of_others_stay(void **state)
{
    static const char *const names[] = {"notes", "new.letter", "thesis-1", "new.1.2",
                                        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"};
    char text[4096], copy[4096], path[300]; /* the first is the copy of an entry, under a name of somebody's own */
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    snprintf(copy, sizeof copy, "gpusparc cache\n%.4000s", text);
    assert_int_equal(translate(translator, ""), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "cache/gpusparc/%s", names[i]);
        write_file(path, i ? text : copy, 0600);
        snprintf(path, sizeof path, "%s/cache/gpusparc/%s", dir, names[i]);
        const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
        utimensat(AT_FDCWD, path, old, 0);
    }
    setenv("GPUSPARC_CACHE_SIZE", "8K", 1);
    for (int i = 0; i < 6; i++) {
        snprintf(path, sizeof path, "-DMORE=%d", i);
        assert_int_equal(translate(translator, path), 0);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/cache/gpusparc/%s", dir, names[i]);
        if (access(path, F_OK))
            fail_msg("%s has been removed", names[i]);
    }
}

/* A folder that another user's link leads to isn't used, nor one that is a link itself. */
static void links_of_others_lead_nowhere(void **state)
{
    char inner[320];
    assert_int_equal(mkdir(in_dir("real"), 0700), 0);
    snprintf(inner, sizeof inner, "%s", in_dir("real"));
    assert_int_equal(mkdir(in_dir("cache"), 0700), 0);
    assert_int_equal(symlink(inner, in_dir("cache/gpusparc")), 0);
    assert_int_equal(translate(translator, ""), 0);
    assert_int_equal(rmdir(inner), 0); /* nothing was written there */
    if (geteuid() != 0) {
        print_message("left out, a link of another user's: that takes root\n");
        return;
    }
    assert_int_equal(mkdir(inner, 0700), 0);
    assert_int_equal(symlink(inner, in_dir("link")), 0);
    assert_int_equal(lchown(in_dir("link"), 1001, 1001), 0);
    setenv("XDG_CACHE_HOME", in_dir("link"), 1);
    assert_int_equal(translate(translator, ""), 0);
    assert_int_equal(rmdir(inner), 0);
    assert_int_equal(mkdir(inner, 0700), 0);
    assert_int_equal(lchown(in_dir("link"), 0, 0), 0); /* one's own is as good as any path */
    assert_int_equal(translate(translator, ""), 0);
    assert_int_equal(access(in_dir("link/gpusparc"), F_OK), 0);
    /* Nor is a folder that is another user's, though nobody else may write there. */
    setenv("XDG_CACHE_HOME", in_dir("others"), 1);
    assert_int_equal(mkdir(in_dir("others"), 0700), 0);
    assert_int_equal(mkdir(in_dir("others/gpusparc"), 0700), 0);
    assert_int_equal(chown(in_dir("others/gpusparc"), 1001, 1001), 0);
    assert_int_equal(translate(translator, ""), 0);
    assert_int_equal(rmdir(in_dir("others/gpusparc")), 0);
}

/* The text of a program's only unit, for a device of that vendor and version. */
static char *text_for(const char *program, const char *options, const char *vendor, const char *version)
{
    struct gs_summary *s;
    struct gs_translate_unit unit = {.source = program, .options = options};
    struct gs_translate_request req = {
        .units = &unit, .n_units = 1, .device = {"cl_khr_fp64", "OpenCL C 1.2", vendor, vendor, 64, 1, version}};
    assert_int_equal(gs_translate(&req, translator, 20000, &s, why, sizeof why), 0);
    assert_null(s->refusal);
    char *text = strdup(s->units[0]);
    gs_summary_free(s);
    return text;
}

static void expect_text(char *text, const char *what, bool there)
{
    if ((strstr(text, what) != NULL) != there)
        fail_msg("%s '%s' in\n%s", there ? "no" : "unexpected", what, text);
    free(text);
}

/* What only the device's compiler knows is checked by it: a branch that it takes otherwise must not compile. */
static void branches_are_checked(void **state)
{
    static const char asks[] =
        "#if __OPENCL_C_VERSION__ >= 200 || defined(cl_khr_fp16)\nint a(void);\n#endif\n"
        "#ifdef MINE\n#ifdef __INNER__\n#endif\n#endif\n__kernel void k(__global int *p) { *p = 1; }\n";
    static const char guard[] =
        "#ifndef _GUARD_H\n#define _GUARD_H\n__kernel void k(__global int *p) { *p = 1; }\n#endif\n";
    expect_text(text_for(asks, "", "other", "OpenCL 1.2"), "__OPENCL_C_VERSION__ != 120\n#error", true);
    expect_text(text_for(asks, "", "NVIDIA", "OpenCL 3.0 CUDA"), "__OPENCL_C_VERSION__ != 300\n#error", true);
    expect_text(text_for(asks, "-cl-std=CL1.1", "NVIDIA", "OpenCL 3.0 CUDA"), "__OPENCL_C_VERSION__ != 110\n", true);
    expect_text(text_for(asks, "", "other", "OpenCL 1.2"), "#if defined(cl_khr_fp16)\n#error", true);
    expect_text(text_for(asks, "", "other", "OpenCL 1.2"), "MINE\n#error", false);
    expect_text(text_for(asks, "", "other", "OpenCL 1.2"), "#error gpusparc read the program with another __INNER__",
                false);
    expect_text(text_for(asks, "-DMINE", "other", "OpenCL 1.2"), "another __INNER__", true);
    expect_text(text_for(asks, "-DMINE -D__INNER__", "other", "OpenCL 1.2"), "another __INNER__", false);
    expect_text(text_for(guard, "", "other", "OpenCL 1.2"), "#error", false);
    char *same = text_for(guard, "", "other", "OpenCL 1.2");
    assert_string_equal(same, guard);
    free(same);
}

/* Which kernels a program has for a device whose compiler says that of its macros; *text: of its unit. */
static char *kernels_with(const char *program, const char *options, const char *macros, char **text)
{
    struct gs_summary *s;
    char *names = calloc(1, 256);
    struct gs_translate_unit unit = {.source = program, .options = options, .macros = macros};
    struct gs_translate_request req = {
        .units = &unit, .n_units = 1, .device = {"cl_khr_listed", "OpenCL C 3.0", "", "", 64, 1, "OpenCL 3.0"}};
    assert_int_equal(gs_translate(&req, translator, 20000, &s, why, sizeof why), 0);
    if (s->refusal)
        fail_msg("%s", s->refusal);
    for (uint32_t i = 0; i < s->n_kernels; i++)
        strcat(strcat(names, s->kernels[i].name), " ");
    if (text)
        *text = strdup(s->units[0]);
    gs_summary_free(s);
    return names;
}

static void expect_kernels(const char *program, const char *options, const char *macros, const char *expected)
{
    char *names = kernels_with(program, options, macros, NULL);
    assert_string_equal(names, expected);
    free(names);
}

/* clang takes the branches that the device's compiler takes, by what that has said of its macros. */
static void macros_are_those_of_the_device(void **state)
{
    static const char asks[] =
        "#ifdef __opencl_c_ext_fp32_global_atomic_add\n__kernel void adds(void) {}\n#endif\n"
        "#if defined(cl_khr_subgroup_ballot) || defined(__SPIR__)\n__kernel void spir(void) {}\n#endif\n"
        "#ifdef __x86_64__\n__kernel void x86(void) {}\n#endif\n"
        "#if defined(__clang_major__) && __clang_major__ == 14\n__kernel void fourteen(void) {}\n#endif\n"
        "#ifdef cl_khr_listed\n__kernel void listed(void) {}\n#endif\n";
    static const char cpu[] = "__opencl_c_ext_fp32_global_atomic_add cl_khr_subgroup_ballot __SPIR__ __x86_64__= "
                              "__clang_major__=14 cl_khr_listed ";
    /* To clang these need macros that such a device doesn't define. */
    static const char uses[] = "__kernel void ballot(__global uint4 *p) { *p = sub_group_ballot(1); }\n";
    char *text;
    expect_kernels(asks, "-cl-std=CL3.0", NULL, "adds spir listed ");
    expect_kernels(asks, "-cl-std=CL3.0", cpu, "x86 fourteen ");
    expect_kernels(asks, "-cl-std=CL3.0 -D__SPIR__ -U__x86_64__ -D __clang_major__=3", cpu, "spir ");
    expect_kernels(uses, "-cl-std=CL3.0", cpu, "ballot ");
    free(kernels_with(asks, "-cl-std=CL3.0", cpu, &text));
    expect_text(text, "#if !defined(__clang_major__) || __clang_major__ != 14\n#error", true);
    free(kernels_with(asks, "-cl-std=CL3.0", cpu, &text));
    expect_text(text, "#if defined(__SPIR__)\n#error", true);
}

/* These kernels are split, and the others refused for the variables that they use. */
static void expect_lasting(const char *text, const char *split)
{
    struct gs_summary *s;
    char names[256] = "";
    assert_int_equal(translate_with(translator, text, "-cl-std=CL2.0", 20000, &s), 0);
    assert_null(s->refusal);
    for (uint32_t i = 0; i < s->n_kernels; i++) {
        const char *refusal = s->kernels[i].refusal;
        if (!refusal)
            strcat(strcat(names, s->kernels[i].name), " ");
        else if (!strstr(refusal, "lasts from one launch to the next"))
            fail_msg("%s: %s", s->kernels[i].name, refusal);
    }
    gs_summary_free(s);
    assert_string_equal(names, split);
}

/* Each device has variables of the program of its own: right as long as nobody writes them. */
static void variables_that_nobody_writes(void **state)
{
    static const char text[] =
        "__global int table[4] = {3, 1, 4, 1};\n__constant int fixed[2] = {1, 2};\n"
        "__global const float weight = 0.5f;\n__global int counter = 7;\n__global int by_pointer[2] = {1, 1};\n"
        "__global int by_atomic = 0;\n"
        "int get(__global const int *p, int i) { return p[i]; }\nvoid set(__global int *p) { *p = 3; }\n"
        "__kernel void reads(__global int *o) { int i = get_global_id(0); o[i] = table[i & 3] + get(table, 1) + "
        "fixed[i & 1]; }\n"
        "__kernel void weighs(__global float *o) { o[get_global_id(0)] *= weight; }\n"
        "__kernel void after(__global int *o) { o[get_global_id(0)] = counter; }\n"
        "__kernel void counts(__global int *o) { counter = counter + 1; o[get_global_id(0)] = 1; }\n"
        "__kernel void other(__global int *o) { o[get_global_id(0)] = by_pointer[0]; }\n"
        "__kernel void sets(__global int *o) { set(by_pointer); }\n"
        "__kernel void atomics(__global int *o) { atomic_add(&by_atomic, 1); }\n"
        "__kernel void lasts(__global int *o) { static __global int mine = 3; o[get_global_id(0)] = mine++; }\n";
    static const char *const kept = "__global int table[2] = {1, 2};\n__global int *__constant kept = &table[1];\n"
                                    "__kernel void reads(__global int *o) { o[get_global_id(0)] = table[1]; }\n"
                                    "__kernel void sets(__global int *o) { *kept = 3; }\n";
    expect_lasting(text, "reads weighs ");
    expect_lasting(kept, "");
}

static void *translate_many(void *arg)
{
    char options[32];
    for (int i = 0; i < 6; i++) {
        struct gs_summary *s = NULL;
        char reason[256];
        snprintf(options, sizeof options, "-DT=%d", i);
        struct gs_translate_unit unit = {.source = source, .options = options};
        struct gs_translate_request req = {
            .units = &unit, .n_units = 1, .device = {"", "OpenCL C 1.2", "", "", 64, 1, NULL}};
        if (gs_translate(&req, translator, 60000, &s, reason, sizeof reason) != 0 || !s->changed)
            *(int *)arg = 1;
        gs_summary_free(s);
    }
    return NULL;
}

static void threads_and_processes_share_it(void **state)
{
    pthread_t t[3];
    int bad[4] = {0};
    pid_t pid = fork();
    if (pid == 0) {
        translate_many(&bad[3]);
        _exit(bad[3]);
    }
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&t[i], NULL, translate_many, &bad[i]), 0);
    for (int i = 0; i < 3; i++) {
        pthread_join(t[i], NULL);
        assert_int_equal(bad[i], 0);
    }
    int status;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(each_entry(NULL), 6);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    translator = argv[1];
    const struct CMUnitTest tests[] = {
        TEST(crashes_and_other_failures_are_reported),
        TEST(a_hang_ends_in_time),
        TEST(the_application_sees_no_child),
        TEST(an_own_child_is_left_to_the_application),
        TEST(nothing_of_the_application_reaches_the_translator),
        TEST(an_application_without_standard_streams),
        TEST(the_second_time_comes_from_the_cache),
        TEST(a_damaged_entry_is_made_anew),
        TEST(a_cache_that_cant_be_used_is_no_failure),
        TEST(a_full_disk_is_no_failure),
        TEST(headers_on_disk_are_watched),
        TEST(the_cache_stays_small),
        TEST(files_of_others_stay),
        TEST(links_of_others_lead_nowhere),
        TEST(branches_are_checked),
        TEST(macros_are_those_of_the_device),
        TEST(variables_that_nobody_writes),
        TEST(threads_and_processes_share_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
