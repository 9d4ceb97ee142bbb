/* SPDX-License-Identifier: MIT */
/* A task of the daemon: joins, asks for a unit of GPU 0, gives it back, and stays until its input ends.
 * usage: task NAME */
#include <stdio.h>
#include <unistd.h>

#include "common/client/client.h"

int main(int argc, char **argv)
{
    const struct gs_client_options o = {.task = argc > 1 ? argv[1] : NULL, .gpus = 1, .hello_wait_ms = 5000};
    struct gs_client *client;
    struct gs_client_mode mode;
    struct gs_grant grant;
    char byte;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (gs_client_open(&client, &o) < 0)
        return 1;
    gs_client_mode(client, &mode);
    printf("joined %s\n", mode.task);
    if (gs_client_acquire(client, GS_RESOURCE_GPU(0), 0, &grant) == 0)
        printf("granted\n");
    gs_client_release(client, &grant);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    gs_client_close(client);
    return 0;
}
