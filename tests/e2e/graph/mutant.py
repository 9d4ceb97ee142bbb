#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mutant.py BUILD NAME OUT: libgpusparc.so from which a rule of docs/coherence.md has been taken out, as OUT. Without
arguments: the names. Either fails where a text that makes a rule isn't in the source, once."""
import json
import os
import subprocess
import sys
import tempfile

ALONE = "if (q == cmd->q ? cmd->n_wait && !q->out_of_order : own_only)"
MUTANTS = {
    # Rule 1: a command comes after those of its own queue only.
    "1": [("shim/order/command.c", ALONE, ALONE.replace("own_only", "true"))],
    # Rule 3: places are asked for one after the other, and no transfer waits for the last one into its source.
    "3": [("shim/launch/parts.c", "err = gs_require_all(&l->cmd, u->root, w, plan->n_parts, u->writes == GS_COMPARED);",
           "for (unsigned p = 0; p < plan->n_parts && !err; p++)\n"
           "err = gs_require_all(&l->cmd, u->root, &w[p], 1, u->writes == GS_COMPARED);"),
          ("shim/transfer/transfer.c", "if (a->event != src->ready && gs_rangeset_touches(&a->brings, r))", "if (!r.end)"),
          ("shim/transfer/transfer.c", "return err || !src->ready ? err :", "return err || src ? err :")],
    # Rule 4: nobody waits for transfers into a place that are under way.
    "4": [("shim/coherence/coherence.c", "if (!err && root->bytes->place[w[i].place].ready)",
           "if (!err && !cmd && root->bytes->place[w[i].place].ready)"),
          ("shim/coherence/coherence.c", "if (places[i]->ready && !err)", "if (!cmd && places[i]->ready && !err)")],
    # Rule 7: what is written at one place stays valid at the others.
    "7": [("shim/coherence/coherence.c", "if (i != place)\n            without[k++]",
           "if (i > GS_MAX_DEVICES)\n            without[k++]")],
    # Rule 9: parts begin before the transfers into all of them have ended; and before the copy that is kept is made.
    "9a": [("shim/launch/parts.c", "if (!err && gs_plan_is_joined(plan, false))",
            "if (!err && !plan && gs_plan_is_joined(plan, false))")],
    "9b": [("shim/output/output.c", "        err = gs_events_add(ready, event);\n    /* What the merge will need",
            "        err = gs_real()->clReleaseEvent(event);\n    /* What the merge will need")],
}


def compiled(build, source, path, text, obj):
    """The object of the changed file, by the command that the build has for it."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        command = next(c for c in json.load(f)
                       if c["file"] == os.path.join(source, path) and "gpusparc_shim.dir/" in c["command"])
    own = os.path.join(os.path.dirname(obj), os.path.basename(path))
    with open(own, "w", encoding="utf-8") as f:
        f.write(text)
    words = command["command"]
    old = words[words.index(" -o ") + 4:].split()[0]
    subprocess.run(words.replace(f"-o {old}", f"-o {obj}").replace(command["file"], own) + " -w", shell=True, check=True,
                   cwd=build)
    return old


def changed(source, name):
    """The texts of the files that the rule is taken out of, by their paths."""
    texts = {}
    for path, old, new in MUTANTS[name]:
        if path not in texts:
            with open(os.path.join(source, path), encoding="utf-8") as f:
                texts[path] = f.read()
        if texts[path].count(old) != 1:
            sys.exit(f"mutant {name}: {path} has {texts[path].count(old)} times: {old}")
        texts[path] = texts[path].replace(old, new)
    return texts


def main():
    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    if len(sys.argv) != 4:
        print(*(name for name in MUTANTS if changed(source, name)))
        return
    build, name, out = sys.argv[1:]
    texts = changed(source, name)
    link = subprocess.run(["ninja", "-t", "commands", "lib/gpusparc/libgpusparc.so"], cwd=build, check=True, text=True,
                          capture_output=True).stdout.splitlines()[-1]
    with tempfile.TemporaryDirectory() as scratch:
        for i, (path, text) in enumerate(texts.items()):
            os.mkdir(os.path.join(scratch, str(i)))
            obj = os.path.join(scratch, str(i), "changed.o")
            old = compiled(build, source, path, text, obj)
            if f" {old} " not in link:
                sys.exit(f"mutant {name}: {old} isn't linked")
            link = link.replace(f" {old} ", f" {obj} ")
        subprocess.run(link.replace("-o lib/gpusparc/libgpusparc.so", f"-o {os.path.abspath(out)}"), shell=True, check=True,
                       cwd=build)


main()
