/* SPDX-License-Identifier: MIT */
/* The parts of the daemon's state as JSON, each the caller's. docs/daemon.md lists the fields. */
#ifndef GS_SCHEDULER_STATUS_JSON_H
#define GS_SCHEDULER_STATUS_JSON_H

#include <jansson.h>

#include "scheduler/session.h"

json_t *gs_daemon_json(const struct gs_core *core);
json_t *gs_decision_json(const struct gs_core *core);
json_t *gs_resource_json(const struct gs_core *core, unsigned resource);
json_t *gs_client_json(const struct gs_core *core, const struct gs_session *s);
json_t *gs_task_json(struct gs_core *core, const struct gs_config_task *t);
json_t *gs_user_json(const struct gs_user *u, uint64_t now_ns);

#endif
