#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# docs/messages.md has each sentence that gpusparc says inside an application, as it is said, and no other: the reasons of
# common/reasons.h, which are written there alone, what else --stats says, what the translator refuses a kernel for, the
# shim's errors and warnings, and what the daemon says, to applications and in its log.
set -euo pipefail
python3 - "$GS_SOURCE" <<'END'
import glob, os, re, sys
os.chdir(sys.argv[1])
LITERAL = r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*'
wrong = []


def text_of(file):
    text = re.sub(r"/\*.*?\*/", "", open(file, encoding="utf-8").read(), flags=re.S)
    return re.sub(r"#include.*", "", text).replace("\\\n", " ")


def said(literal):
    return "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literal))


page = open("docs/messages.md", encoding="utf-8").read()
rows = [r for r in re.findall(r"^\| (.*?) \| .+ \|$", page, flags=re.M) if r not in ("it says", "---")]
wrong += [f"docs/messages.md has twice: {r}" for r in sorted(set(rows)) if rows.count(r) > 1]
reasons = {said(m[2]): m[1] for m in re.finditer(r"#define (GS_[RS]_\w+)\s+(" + LITERAL + ")", text_of("common/reasons.h"))}
used = {}
sources = {f: text_of(f) for f in sorted(glob.glob("shim/**/*.c", recursive=True))}
for file, text in sources.items():
    for name in re.findall(r"\bGS_[RS]_\w+", text):
        used[name] = file
    for literal in re.findall(LITERAL, text):
        if said(literal) in reasons:
            wrong.append(f"{file} has {reasons[said(literal)]} as a literal")
    for literal in re.findall(r"\b(?:(?:reason|refusal) =|gs_give_up\w*\([^;]*?|return) *(?=\"(?:it|its|a|the|there|two|--) )(" + LITERAL + ")", text):
        wrong.append(f"{file}: a reason that isn't in common/reasons.h: {literal}")
wrong += [f"nobody says {name}: {text}" for text, name in reasons.items() if name not in used]
refusals = {said(s) for s in re.findall(r'why_bytes, (' + LITERAL + ')', text_of("translator/summary/translate.c") + text_of("translator/summary/summary.c"))}
for folder in ("flow", "parsing", "rewrite"):
    for file in glob.glob(f"translator/{folder}/*.c"):
        refusals |= {s for s in map(said, re.findall(LITERAL, text_of(file))) if re.match(r"(it|its|the address) \w+\b", s)}
# Why there is no group, or a smaller one.
group = set()
for file in ("shim/devices/group.c", "shim/driver/driver.c"):
    for call in re.findall(r"snprintf\(why, why_bytes,([^;\"]*(?:" + LITERAL + r"[^;\"]*)+);", text_of(file)) + re.findall(
            r"g->reason = [^;\"]*(" + LITERAL + ")", text_of(file)):
        group |= {said(s) for s in re.findall(LITERAL, call) if said(s) != "%s"}
if len(group) < 8:
    wrong.append(f"only {len(group)} reasons for no group found")
# Errors and warnings: the format of each call, a sentence by itself or one of the above.
warnings = set()
sources["common/variables.c"] = text_of("common/variables.c")
for file, text in sources.items():
    text = re.sub(r"\bPRI([dux])64\b", r'"ll\1"', text)
    calls = re.findall(r"\bgs_(?:error|warn|info)\(\s*(" + LITERAL + r"|[A-Z_]+|[^,)]*)", text)
    for call in calls + re.findall(r"\bdprintf\(STDERR_FILENO, (" + LITERAL + ")", text):
        sentence = said(call).removeprefix("gpusparc: ").removesuffix("\\n")
        if not call.startswith(('"', "GS_S_")):
            wrong.append(f"{file}: gs_error or gs_warn with {call}, no sentence")
        elif sentence not in ("", "%s"):
            warnings.add(sentence)
# The daemon's: its log, its notices, its refusals and the reasons in them, and what the client library says of a daemon.
daemon = set()
BY_DAEMON = (r"\bgs_(?:error|warn|info)\(\s*", r"\bgs_core_log(?:_of)?\([^\",;]*,[^\",;]*,\s*", r"\bgs_core_notice\([^\",;]*,[^\",;]*,\s*",
             r"\bgs_core_refuse\([^\",;]*,[^\",;]*,\s*", r"\bturn_away\([^\";]*,\s*", r"\bchar full\[\] = ", r"\bsnprintf\((?:why, bytes|text, sizeof text),\s*", r"->met_again = ")
for file in [f for f in sorted(glob.glob("scheduler/*.c")) if f != "scheduler/gpusparcd.c"] + ["common/client/connection.c"]:
    text = text_of(file)
    start = r"\bsnprintf\(text, sizeof text,\s*" if file.startswith("common") else "|".join(BY_DAEMON)
    found = {said(s) for s in re.findall(f"(?:{start})({LITERAL})", text)}
    if file == "scheduler/server.c": # of the config: also what gpusparc reload prints
        found |= {said(s) for s in re.findall(r"optional \? (" + LITERAL + ")", text) + re.findall(r": (" + LITERAL + r"), path\);", text)}
    daemon |= {s for s in found if s != "%s: %s" and re.search("[a-z]{2}", s) or s == "%s:%d: %s"}
if len(daemon) < 55:
    wrong.append(f"only {len(daemon)} sentences of the daemon's found")
if len(warnings) < 18:
    wrong.append(f"only {len(warnings)} errors and warnings found")
known = set(reasons) | refusals | warnings | daemon | group
wrong += [f"docs/messages.md lacks: {s}" for s in sorted(known - set(rows))]
wrong += [f"nobody says: {r} (docs/messages.md)" for r in rows if r not in known]
if len(reasons) < 50 or len(refusals) < 25:
    wrong.append(f"only {len(reasons)} reasons and {len(refusals)} refusals found: does this test still read the sources?")
# Each is made to appear by a test (tests/e2e/common.sh: shows), but for these.
hidden = {
    "its parts' results would be merged on the first device, which the daemon doesn't give it":
        "takes three GPUs of which the daemon gives the second and the third",
    "all launches between two waits of the application together are faster on one device":
        "takes devices whose transfers lose what the kernels gain (test_choice_stretch has the rule)",
    "the direct path between the GPUs is still being set up": "takes two GPUs",
    "a memory object can't be copied to other devices": "takes a driver with mip levels, or one that loses a buffer",
    "it was enqueued within a callback, where gpusparc can't create queues for its parts":
        "takes a callback while the process ends",
    "no libOpenCL.so.1 of the system was found; install an OpenCL loader, or name it in GPUSPARC_REAL":
        "takes a system without OpenCL",
    "the servers of --hosts show no such device": "takes the engine of --hosts",
    "cpu:N divides a CPU of this machine; with --hosts the servers' devices are the group": "the same",
    "%s: it runs unscheduled": "takes a daemon that has no place for the process",
    "too many connections at a time: try again later": "the same",
    "the daemon has no descriptors left": "the same",
    "no config: there is no %s": "takes a machine without /etc/gpusparc.conf",
    "any client can stop the daemon for a while, by descriptors that it passes and that take long to close: only Linux 6.16 and later prevent that":
        "takes an older Linux, and root",
    "any user can delay the daemon, by reads of its command line: only kernels with CONFIG_CHECKPOINT_RESTORE prevent that":
        "takes such a kernel, and root",
    "any client can delay the daemon, by holes in the memory that they share: only Linux 6.6 and later prevent that, with CAP_LINUX_IMMUTABLE":
        "the same",
    "the daemon has no memory left": "takes a machine without memory",
    "the daemon has no memory or descriptors left": "the same",
    "no memory to decide on the tasks' GPUs: they keep what they have": "the same",
    "can't wait for events: %s": "takes a fault of the daemon's or of the kernel's",
    "process %d can't be given its CPU priority: %s": "takes a kernel that gives the daemon SCHED_FIFO and refuses it to a task",
    "another daemon (process %d) has the socket %s already": "takes a daemon whose user can't be looked up in that moment",
}
shown = set()
for file in glob.glob("tests/**/*", recursive=True):
    if not file.endswith((".sh", ".bats", "CMakeLists.txt", "refusals.cl")) or file.startswith("tests/docs/"):
        continue
    text = open(file, encoding="utf-8").read().replace("\\\n", " ")
    shown |= set(re.findall(r"^//! (.*)", text, flags=re.M)) if file.endswith("refusals.cl") else set()
    quoted = r"""(?:"[^"\n]*"|'[^'\n]*')"""
    for call in re.findall(r"\b(?:shows|says|said|by_itself)\b((?: +(?:\$\w+|[\w.$]+|" + quoted + "))+)", text):
        shown |= {q[1:-1] for q in re.findall(quoted, call)}
    shown |= {q.strip("\"'") for q in re.findall(r"\b(?:single|why):[\w$]+:(" + quoted + ")", text)}
    shown |= set(re.findall(r'"(?:single|why):\w+:([^"\n]*)"', text))
for file in glob.glob("tests/scheduler/*.c"):
    for call in re.findall(r"\b(?:says|log_says)\([^\";]*?(" + LITERAL + ")", text_of(file)):
        shown.add(said(call))
wrong += [f"shown by no test: {r} (docs/messages.md)" for r in rows if r not in shown and r not in hidden]
wrong += [f"shown by a test, or said no more: {r} (tests/docs/messages.sh)" for r in hidden if r in shown or r not in rows]
print("\n".join(wrong))
sys.exit(bool(wrong))
END
