#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# README.md and docs/: short lines, links and pictures that are there, options, files and functions that exist, a beginning that shows
# something, and a way to each page.
set -euo pipefail
python3 - "$GS_SOURCE" <<'END'
import glob, os, re, subprocess, sys
os.chdir(sys.argv[1])
pages = ["README.md"] + sorted(glob.glob("docs/*.md"))
wrong = []
helps = {}


def options_of(command):
    if command not in helps:
        said = subprocess.run(["gpusparc", command, "--help"], capture_output=True, text=True)
        helps[command] = said.stdout if said.returncode == 0 else None
    return helps[command]


names = set()
for file in glob.glob("cmake/*") + [f for end in ("*.[ch]", "CMakeLists.txt", "*.sh") for f in glob.glob(f"*/**/{end}", recursive=True)
                                    if not f.startswith("build")]:
    names |= set(re.findall(r"\b(?:gs|GS)_\w+", open(file, encoding="utf-8").read()))
linked = set()
for page in pages:
    text = open(page, encoding="utf-8").read()
    lines = text.split("\n")
    for n, line in enumerate(lines, 1):
        if len(line) > 120 and not line.startswith("|"):
            wrong.append(f"{page}:{n}: {len(line)} characters")
    prose = re.sub(r"```.*?```", "", text, flags=re.S)
    for target in re.findall(r"\]\(([^)#\s]+)", prose):
        path = os.path.normpath(os.path.join(os.path.dirname(page), target))
        linked.add(path)
        if not target.startswith("http") and not os.path.exists(path):
            wrong.append(f"{page}: a link to {target}, which isn't there")
    if "```" not in "\n".join(lines[:20]) and "![" not in "\n".join(lines[:20]):
        wrong.append(f"{page} begins without an example or a picture")
    if page != "README.md" and not re.match(r"# .*\n\n(?:(?!```)\S.*\n)*?.*\bThis page\b", text):
        wrong.append(f"{page} doesn't begin with what it is for: This page ...")
    for file in set(re.findall(r"\b(?:scripts|bench|shim|common|scheduler|tests)/[a-z0-9_/]+\.(?:sh|py|c|h)\b", text)):
        if not os.path.exists(file):
            wrong.append(f"{page}: there is no {file}")
    for name in set(re.findall(r"\b(?:gs_|GS_(?!CL_))\w*[a-zA-Z]\b", text)) - names:
        wrong.append(f"{page}: nothing is called {name}")
    for code in re.findall(r"`([^`\n]+)`", prose) + [l for b in re.findall(r"```\n(.*?)```", text, flags=re.S) for l in b.split("\n")]:
        asked = re.match(r"(?:\$ )?(?:build/bin/)?gpusparc ([a-z]+)\b(.*)", code.split(" -- ")[0].split("#")[0])
        if not asked or (asked[1] == "run" and re.search(r" \./| build/", asked[2]) is None and " -- " in code):
            continue
        if options_of(asked[1]) is None:
            wrong.append(f"{page}: there is no gpusparc {asked[1]}")
            continue
        own = re.split(r" (?:\./|build/)", asked[2])[0]
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", own):
            if not re.search(re.escape(option) + r"(?![a-z-])", helps[asked[1]]):
                wrong.append(f"{page}: gpusparc {asked[1]} has no {option}")
for page in pages[1:]:
    if page not in linked:
        wrong.append(f"no page leads to {page}")
# The locks: the table has each rank, in order, and each is where it says.
ranks = re.findall(r"^    (GS_RANK_\w+)", open("common/lock/rank.h", encoding="utf-8").read(), flags=re.M)
rows = re.findall(r"^\| `(GS_RANK_\w+)` \| (\S+) \|", open("docs/locking.md", encoding="utf-8").read(), flags=re.M)
if [r for r, _ in rows] != ranks:
    wrong.append("docs/locking.md: the table's ranks aren't those of common/lock/rank.h in their order")
for rank, where in rows:
    if not os.path.exists(where) or rank not in open(where, encoding="utf-8").read():
        wrong.append(f"docs/locking.md: {where} has no {rank}")
# The waits under a context's lock: the table and the code say the same.
waits, admitted = re.compile(r"^\| ([^|`]+) \| (\d+ \w+|without limit) \| (\S+) \|", flags=re.M), set()
for path in glob.glob("shim/**/*.[ch]", recursive=True) + glob.glob("common/**/*.c", recursive=True):
    for why, most in re.findall(r'GS_MAY_WAIT\(\s*"([^"]*)",\s*([^)]*)\)', open(path, encoding="utf-8").read()):
        most = re.sub(r" \* GS_(\w+)", lambda unit: " " + unit[1].lower(), most).replace("GS_WITHOUT_LIMIT", "without limit")
        admitted.add((why, most, path))
for wait in sorted(admitted ^ set(waits.findall(open("docs/locking.md", encoding="utf-8").read()))):
    wrong.append(f"docs/locking.md: {wait} is in the table or the code, not in both")
# The glossary: a line for each word, in alphabetical order, and one for each word that the table of --stats has.
glossary = open("docs/glossary.md", encoding="utf-8").read()
known = set()
for table in glossary.split("\n## ")[1:]:
    words = [re.sub("[`*]", "", row.split("|")[1]).strip() for row in re.findall(r"^\| (?!---|word ).*", table, flags=re.M)]
    keys = [re.sub(r"[^a-z, -]", "", word.lower()) for word in words]
    for first, second in zip(keys, keys[1:]):
        if first > second:
            wrong.append(f"docs/glossary.md: {first} stands before {second}")
    known |= {each for word in words for each in word.split(", ")}
report = open("shim/report/report_print.c", encoding="utf-8").read()
paths = re.search(r"path_names\[GS_PATHS\] = \{(.*?)\};", report, flags=re.S)
names = re.findall(r'"([a-z_]+)"', paths[1]) if paths else []
if len(names) < 5:
    wrong.append("shim/report/report_print.c: the paths' names aren't found")
for name in names + ["launch", "split", "part", "path", "choice"]:
    if name not in known:
        wrong.append(f"docs/glossary.md lacks {name}, which --stats says")
if len(open("README.md").read().split("\n")) > 130:
    wrong.append("README.md is longer than 130 lines")
print("\n".join(wrong))
sys.exit(bool(wrong))
END
