/* SPDX-License-Identifier: MIT */
/* Task sets as JSON and as config files. Both ways lose nothing that the analyses look at; docs/analysis.md, "JSON",
 * shows the form. */
#ifndef GS_GEMA_MODEL_IO_H
#define GS_GEMA_MODEL_IO_H

#include <jansson.h>
#include <stdio.h>

#include "gema/model.h"

/* The task set; NULL: out of memory. The caller's to release. */
json_t *gs_model_to_json(const struct gs_model *m);

/* A finished task set from JSON: 0, -EINVAL with every mistake found, -ENOMEM. *m is to be freed in every case. */
int gs_model_from_json(struct gs_model *m, const json_t *json, struct gs_mistakes *mistakes);

/* Reads a task set from a file: JSON where its name ends in .json, else a config file. 0, or a negative errno with
 * mistakes that say why (or -ENOMEM). *m is to be freed in every case. */
int gs_model_load(struct gs_model *m, const char *path, struct gs_mistakes *mistakes);

/* Writes the task set as a config file. 0, or -EIO. */
int gs_model_write_config(const struct gs_model *m, FILE *out);

#endif
