/* SPDX-License-Identifier: MIT */
/* By which way bytes go between the host's memory and the devices. Pure. */
#ifndef GS_SHIM_STAGING_WAY_H
#define GS_SHIM_STAGING_WAY_H

enum gs_host_fact {
    GS_FACT_WRITES = 1 << 0, /* the command changes bytes of a device */
    GS_FACT_BLOCKS = 1 << 1, /* the application's call returns once the bytes have arrived */
    GS_FACT_UNITS = 1 << 2,  /* commands go by the daemon's units */
    GS_FACT_AWAY = 1 << 3,   /* some bytes lie elsewhere than at home, or have yet to arrive there */
    GS_FACT_FEW = 1 << 4,    /* the bytes lie in few stretches, and no user event is open */
    GS_FACT_RING = 1 << 5,   /* the call may carry the bytes through the ring of pinned memory */
    GS_FACTS = 6
};

enum gs_host_way {
    GS_BY_RING,  /* the call itself, through pinned memory */
    GS_BY_CALL,  /* the application's call, handed to the driver without the context's lock */
    GS_BY_CALLS, /* a call of the driver that blocks for each stretch, without the context's lock */
    GS_BY_QUEUE  /* non-blocking commands, one for each stretch; under a daemon in units */
};

enum gs_host_way gs_host_way(unsigned facts);

#endif
