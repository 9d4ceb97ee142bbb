/* SPDX-License-Identifier: MIT */
/* With the library stuck_atexit.c loaded: a thread registers a handler of exit(), and another one calls fork()
 * meanwhile. The child registers one, too. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void nothing(void)
{
}

static void *registers(void *unused)
{
    atexit(nothing);
    return unused;
}

int main(void)
{
    enum { LONGEST_S = 30 };
    atomic_int *held_up = dlsym(RTLD_DEFAULT, "held_up");
    pthread_t thread;
    int status = 0;
    if (!held_up || pthread_create(&thread, NULL, registers, NULL) != 0)
        return 1;
    while (!atomic_load(held_up))
        nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
    const pid_t child = fork();
    if (!child) {
        alarm(LONGEST_S);
        _exit(atexit(nothing));
    }
    waitpid(child, &status, 0);
    printf("the child ends with %d\n", status);
    atomic_store(held_up, 2);
    pthread_join(thread, NULL);
    return 0;
}
