/* SPDX-License-Identifier: MIT */
#include "shim/choose/classes.h"

enum {
    FAR = 2,         /* times as long, or as short */
    MOST_IN_ROW = 6, /* then what is known is out of date, whatever the arguments are */
    MOST_PAUSE = 1024
};

static int find(const struct gs_classes *c, uint64_t args)
{
    int i = (int)c->n - 1;
    while (i >= 0 && c->stray[i].args != args)
        i--;
    return i;
}

bool gs_classes_wonder(struct gs_classes *c, uint64_t args, uint64_t launch)
{
    if (!c->of || args == c->of)
        return false;
    if (find(c, args) >= 0)
        return true;
    if (launch < c->next)
        return false;
    c->pause = c->pause < MOST_PAUSE ? 2 * c->pause + 1 : MOST_PAUSE;
    c->next = launch + c->pause;
    return true;
}

static bool fits(struct gs_span a, struct gs_span b)
{
    return a.least / FAR <= b.most && b.least / FAR <= a.most;
}

static void drop(struct gs_classes *c, int at)
{
    for (unsigned i = (unsigned)at; i + 1 < c->n; i++)
        c->stray[i] = c->stray[i + 1];
    c->n--;
}

enum gs_class gs_classes_see(struct gs_classes *c, uint64_t args, struct gs_span known, struct gs_span took)
{
    const int before = find(c, args);
    const bool nothing = !c->of || known.most == UINT64_MAX;
    if (nothing || args == c->of || fits(known, took)) {
        if (before >= 0)
            drop(c, before);
        c->of = nothing ? args : c->of;
        c->in_row = 0;
        return GS_CLASS_FITS;
    }
    const bool again = before >= 0 && fits((struct gs_span){c->stray[before].ns, c->stray[before].ns}, took);
    if (before >= 0 || c->n == GS_STRAYS)
        drop(c, before >= 0 ? before : 0);
    c->pause = 0;
    c->next = 0;
    if (again) {
        c->in_row = 0;
        return GS_CLASS_APART;
    }
    if (++c->in_row == MOST_IN_ROW) {
        *c = (struct gs_classes){.of = args};
        return GS_CLASS_FITS;
    }
    c->stray[c->n].args = args;
    c->stray[c->n++].ns = took.most;
    return GS_CLASS_STRAY;
}
