/* SPDX-License-Identifier: MIT */
/* The bound from which `safe` started, computed plainly: w = C + floor((LP + (g-1)C + sum of HP)/m), all higher
 * segments with carry-in, and its two refinements (only what executes before the last piece starts; a task of one GPU
 * adds at most the waiting itself). For pieces = any. `safe` must never be above it. */
#ifndef GS_TESTS_GEMA_BASELINE_H
#define GS_TESTS_GEMA_BASELINE_H

#include "gema/model.h"

enum { BASELINE_SEGMENTS = 64 };

struct baseline {
    int64_t w[BASELINE_SEGMENTS], jitter[BASELINE_SEGMENTS], response;
};

/* One struct per task. False: a deadline is missed. */
bool baseline_analyze(const struct gs_model *m, const int *modes, struct baseline *out);

#endif
