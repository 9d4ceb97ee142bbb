/* SPDX-License-Identifier: MIT */
#include "cli/mistakes_json.h"

json_t *gs_mistakes_json(const struct gs_mistakes *m)
{
    json_t *all = json_array();
    for (size_t i = 0; i < m->n; i++)
        json_array_append_new(all,
                              json_pack("{s:o, s:o}", "line", m->v[i].line ? json_integer(m->v[i].line) : json_null(),
                                        "message", gs_text_json(m->v[i].text)));
    return all;
}
