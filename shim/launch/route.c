/* SPDX-License-Identifier: MIT */
/* See launch.h, section route.c. */
#include "shim/launch/launch.h"

/* The first row counts of which all `with` are facts and none of `without` is. */
static const struct {
    unsigned with, without;
    enum gs_route route;
} rows[] = {
    {GS_LAUNCH_PASSES, GS_LAUNCH_UNITS | GS_LAUNCH_PLANNED, GS_ROUTE_DRIVER},
    {GS_LAUNCH_PASSES | GS_LAUNCH_UNITS, GS_LAUNCH_PLANNED, GS_ROUTE_UNIT},
    {0, GS_LAUNCH_PLANNED, GS_ROUTE_LOOK},
    {GS_LAUNCH_PAYS | GS_LAUNCH_VERIFIED, 0, GS_ROUTE_VERIFIED},
    {GS_LAUNCH_PAYS, 0, GS_ROUTE_PARTS},
    {GS_LAUNCH_AWAY, 0, GS_ROUTE_AWAY},
    {GS_LAUNCH_MEASURED | GS_LAUNCH_UNITS, 0, GS_ROUTE_COUNTED},
    {GS_LAUNCH_MEASURED, 0, GS_ROUTE_MEASURED},
    {0, 0, GS_ROUTE_WHOLE},
};

enum gs_route gs_launch_route(unsigned facts)
{
    unsigned i = 0;
    while ((facts & rows[i].with) != rows[i].with || facts & rows[i].without)
        i++;
    return rows[i].route;
}

const char *gs_route_name(enum gs_route route)
{
    static const char *const names[GS_ROUTES] = {
        [GS_ROUTE_PARTS] = "parts",       [GS_ROUTE_VERIFIED] = "verified", [GS_ROUTE_AWAY] = "away",
        [GS_ROUTE_MEASURED] = "measured", [GS_ROUTE_COUNTED] = "counted",   [GS_ROUTE_WHOLE] = "whole"};
    return names[route];
}
