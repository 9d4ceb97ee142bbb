#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# No room looks into one that stands above it (rooms.txt), and check.py would see it if one did.
set -euo pipefail
rooms=$GS_SOURCE/tests/rooms
python3 "$rooms/check.py" "$GS_SOURCE" "$GS_BUILD"

# refused TABLE LINE...: by this table there is something wrong, and each of these lines says so.
refused() {
  if python3 "$rooms/check.py" "$GS_SOURCE" "$GS_BUILD" "$1" >found 2>&1; then
    echo "nothing is wrong by $1"
    exit 1
  fi
  for line in "${@:2}"; do
    grep -qE "$line" found || { echo "not found by $1: $line"; exit 1; }
  done
}

# The daemon's client has every right to look into the rooms below it. Where the table denies it, both kinds of edges are found.
sed 's|^\(shim/schedule *:[^:]*:\).*|\1 common|' "$rooms/rooms.txt" >denied.txt
refused denied.txt '^shim/schedule -> shim/record: .*\(include\)$' '^shim/schedule -> shim/record: .*\(gs_drop\)$'

# A room may not name one that stands above it, and each file stands in a room.
printf 'low : common/* : high\nhigh : gema/* :\n' >upward.txt
refused upward.txt 'low looks into high, which does not stand above it'
printf 'one : common/hash.* :\n' >few.txt
refused few.txt '^common/log.c: belongs to no room$'

# A call of the driver's clEnqueue functions in another file than the one that makes them is found: in a copy of the shim's sources.
mkdir -p copy/shim/api copy/shim/pooled copy/shim/driver
cp "$rooms/../../shim/driver/enqueue.c" copy/shim/driver/
printf 'int f(void)\n{\n    return gs_real()->clEnqueueTask(0, 0, 0, 0, 0)\n           + below.clEnqueueMarker(0, 0);\n}\n' >copy/shim/api/one.c
python3 - "$rooms" <<'END'
import os, sys
sys.path.insert(0, sys.argv[1])
import check
assert check.calls_of_enqueue('copy', 'shim/api/one.c') == [3, 4]
os.rename('copy/shim/api/one.c', 'copy/shim/pooled/table.c')
assert check.calls_of_enqueue('copy', 'shim/pooled/table.c') == [3, 4]
assert check.calls_of_enqueue('copy', 'shim/driver/enqueue.c') == []
END

# What the build itself runs has no more of Python than Debian's python3-minimal (no json, for one).
python3 - "$GS_SOURCE" <<'END2'
import glob, os, re, sys
os.chdir(sys.argv[1])
has = {"argparse", "os", "re", "sys", "textwrap"}
wrong, scripts = [], set()
for lists in glob.glob("*/CMakeLists.txt") + glob.glob("scheduler/*/CMakeLists.txt"):
    if not lists.startswith("tests/"):
        for path in re.findall(r"Python3_EXECUTABLE\} (\S+\.py)", re.sub(r"\s+", " ", open(lists).read())):
            scripts.add(path.replace("${CMAKE_SOURCE_DIR}", ".").replace("${CMAKE_CURRENT_SOURCE_DIR}", os.path.dirname(lists)))
for script in scripts:
    for names in re.findall(r"^\s*(?:import|from) ([\w, ]+)", open(script).read(), flags=re.M):
        for name in re.split(r"\s*,\s*|\s+import\s+.*", names):
            if name and name.split()[0] not in has | {"gen"}:
                wrong.append(f"{script} imports {name}")
print("\n".join(wrong))
sys.exit(bool(wrong) or len(scripts) < 5)
END2

# The shim's functions, variables and calls between rooms; and a function of seven parameters, a variable of each kind, a constant,
# an inline function, a struct and a room that has too many are told apart.
python3 "$rooms/measures.py" "$GS_SOURCE" "$GS_BUILD"
cat >one.c <<'END'
static int hidden;
static _Thread_local int own = 2;
int shared;
static const char *const names[] = {"a", "b"};
static int seven(int a, int b, int (*c)(int, int), int d, int e, int f, int g)
{
    static int inner;
    return a + b + c(d, e) + f + g + inner++ + hidden++ + own++ + *names[a];
}
int six(int a, int b, int c, int d, int e, int f)
{
    return seven(a, b, 0, d, e, f, c);
}
END
${CC:-cc} -c -o one.o one.c
python3 - "$rooms" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
import measures
assert measures.wide_functions(open('one.c').read()) == [('seven', 7)]
names = [name.split('.')[0] for name in measures.variables(['one.o'])['one.o']]
assert sorted(names) == ['hidden', 'inner', 'own', 'shared'], names
open('inline.h', 'w').write('static inline bool gs_is_one(int a)\n{\n    return a;\n}\nbool gs_declared(int a);\n')
assert measures.inline_functions('.', ['inline.h']) == {'gs_is_one': 'inline.h'}
assert measures.lines('copy/shim/pooled') == 5
head = 'struct gs_head {\n    struct gs_o o;\n    unsigned a[N], b; /* c; d */\n    _Alignas(64) const char *_Atomic e;\n'
rooms = {'gs_o': 'shim/record', 'gs_x': 'shim/high', 'gs_y': 'shim/high'}
assert measures.fields(head + '};\n', 'gs_head') == [('struct gs_o', 'o'), ('unsigned', 'a'), ('unsigned', 'b'), ('const char *', 'e')]
assert measures.wrong_heads(head + '    struct gs_x *x;\n};\n', rooms, {'gs_head': 5}) == []
for more in 'struct gs_x x', 'struct gs_x *x, *y', 'struct gs_x *x;\n    const struct gs_y *_Atomic y', 'int f;\n    int g':
    assert len(measures.wrong_heads(f'{head}    {more};\n}};\n', rooms, {'gs_head': 6 if 'gs' in more else 5})) == 1, more
kept = measures.keepers(head + '    struct gs_x *x;\n    struct gs_y *bytes;\n};\n', rooms, ['gs_head'])
assert kept == {'x': {'shim/high'}, 'bytes': measures.BYTES_ARE_OF}, kept
assert measures.opened('f(h->x->y, h->x, &h->bytes->z)', 'shim/high', kept) == ['bytes']
assert measures.opened('f(h->x->y, h->x, &h->bytes->z)', 'shim/memory', kept) == ['x']
prototype = 'struct gs_a *f(const struct gs_c *c, struct _cl_mem *m, struct timespec t); /* struct gs_b */'
assert measures.structs(prototype) == {'gs_a', 'gs_c'}
assert measures.entries('of `struct gs_a`\n| word | of `struct gs_b` |\n| `struct c` | c |\n') == {'gs_b', 'c'}
assert measures.too_many({'low': {'f', 'g'}, 'high': {'h'}}, 1) == ['low']
END

# The words of public names; and a word that nobody has explained is found, and one that is listed in vain.
python3 "$rooms/words.py" "$GS_SOURCE"
python3 - "$rooms" <<'END'
import sys
sys.path.insert(0, sys.argv[1])
import words
assert words.unknown({'mem_frobbed': 'a.h', 'queues_mem': 'b.h'}, {'mem', 'queue'}) == {'frobbed': 'gs_mem_frobbed (a.h)'}
assert words.unknown({'held_kept': 'a.h', 'newest_holder': 'b.h'}, {'hold', 'keep', 'new'}) == {'held': 'gs_held_kept (a.h)'}
assert set(words.in_vain({'poll', 'frob', 'mem', 'lock'}, {'poll_frob_mem'}, {'poll', 'mem', 'lock'}, {'mem'})) == {'frob', 'mem', 'lock'}
END
