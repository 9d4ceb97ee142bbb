/* SPDX-License-Identifier: MIT */
/* Which way a launch goes, by facts about it: a table, in route.c. docs/commands.md has it in words. */
#ifndef GS_SHIM_LAUNCH_ROUTE_H
#define GS_SHIM_LAUNCH_ROUTE_H

/* What is known when the launch is called for; the facts after GS_LAUNCH_PLANNED, once it is planned. */
enum gs_launch_fact {
    GS_LAUNCH_UNITS = 1 << 0,  /* the application is scheduled */
    GS_LAUNCH_PASSES = 1 << 1, /* it goes as it is, of units as one: facts_of_call in launch.c */
    GS_LAUNCH_PLANNED = 1 << 2,
    GS_LAUNCH_PAYS = 1 << 3, /* there is a plan, and it is worth it */
    GS_LAUNCH_VERIFIED = 1 << 4,
    GS_LAUNCH_AWAY = 1 << 5,    /* its job has another device than home alone, and may have it there */
    GS_LAUNCH_MEASURED = 1 << 6 /* auto mode wants to know what one device takes */
};
enum { GS_LAUNCH_FACTS = 7 };

enum gs_route {
    GS_ROUTE_DRIVER,   /* handed on; of several devices under the context's lock, while all is still at home */
    GS_ROUTE_UNIT,     /* one unit, without a look at what there is to choose, to bring and to note */
    GS_ROUTE_LOOK,     /* it is planned, and goes one of the ways below */
    GS_ROUTE_PARTS,    /* in parts, by the plan */
    GS_ROUTE_VERIFIED, /* in parts, and once more whole */
    GS_ROUTE_AWAY,     /* whole, on another device than home */
    GS_ROUTE_MEASURED, /* whole, on a queue with profiles */
    GS_ROUTE_COUNTED,  /* whole, and what its units take is counted */
    GS_ROUTE_WHOLE,    /* on the first device */
    GS_ROUTES
};

enum gs_route gs_launch_route(unsigned facts);

#endif
