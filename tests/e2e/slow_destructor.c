/* SPDX-License-Identifier: MIT */
/* A library that others preload: it has memory and a thread of its own, and a destructor that takes a while. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCKS = 64 };

static void *blocks[BLOCKS];

static size_t bytes_of(int i)
{
    return (size_t)1 << (i % 16);
}

static void *work(void *unused)
{
    for (;;) {
        free(malloc(100000));
        usleep(1000);
    }
    return NULL;
}

__attribute__((constructor)) static void put_together(void)
{
    pthread_t thread;
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = calloc(1, bytes_of(i));
    pthread_create(&thread, NULL, work, NULL);
}

__attribute__((destructor)) static void take_apart(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        memset(blocks[i], 0xee, bytes_of(i));
        free(blocks[i]);
    }
    usleep(50000);
}
