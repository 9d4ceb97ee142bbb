/* SPDX-License-Identifier: MIT */
#include "shim/report/report_signal.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

static struct {
    sem_t came;
    atomic_bool ready; /* the thread waits */
    atomic_int which;  /* the signal that came; 0: none */
    pid_t owner;       /* the thread is this process's: a forked child has the handlers and no thread */
    void (*to_write)(void);
} handled;

static void end_by(int sig)
{
    signal(sig, SIG_DFL);
    kill(getpid(), sig);
}

/* Interrupted code may hold any lock, so the writing is the thread's. */
static void on_signal(int sig)
{
    const int saved = errno;
    if (getpid() != handled.owner || !atomic_load(&handled.ready) || atomic_exchange(&handled.which, sig))
        end_by(sig);
    else
        sem_post(&handled.came);
    errno = saved;
}

static void *wait_for_signal(void *unused)
{
    while (sem_wait(&handled.came) < 0)
        ;
    handled.to_write();
    end_by(atomic_load(&handled.which));
    return unused;
}

static bool start_thread(void)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_create(&thread, NULL, wait_for_signal, NULL) == 0 && pthread_detach(thread) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

/* As the library is loaded: later there are handlers of others, such as those of PoCL's compiler, which hand on to what
 * was there before. */
__attribute__((constructor)) static void install(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    const char *wanted = secure_getenv("GPUSPARC_STATS");
    if (!wanted || !*wanted || sem_init(&handled.came, 0, 0) < 0)
        return;
    handled.owner = getpid();
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction old, ours = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
        if (sigaction(signals[i], NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) && old.sa_handler == SIG_DFL)
            sigaction(signals[i], &ours, NULL);
    }
}

void gs_report_before_signals(void (*write)(void))
{
    handled.to_write = write;
    if (handled.owner == getpid() && start_thread())
        atomic_store(&handled.ready, true);
}
