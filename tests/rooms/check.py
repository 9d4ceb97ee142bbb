#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the rooms of the project: check.py SOURCE BUILD [TABLE]

A file may include and its object may use only what TABLE (rooms.txt) lets its room look into; and one file of the shim calls the
driver's clEnqueue functions. Prints each edge and each call that breaks this, and each file of a room's folder that belongs to no
room; exits with 1 if there is any.
"""
import collections
import fnmatch
import json
import os
import re
import subprocess
import sys


def read_table(path):
    """-> [(room, patterns)], {room: rooms it may look into}; a room may name only rooms that stand above it."""
    patterns, allowed = [], {}
    with open(path, encoding='utf-8') as table:
        for number, line in enumerate(table, 1):
            line = line.split('#')[0].strip()
            if not line:
                continue
            room, files, below = (field.split() for field in line.replace(',', ' ').split(':'))
            room, above = room[0], set(allowed)
            names = set()
            for name in below:
                known = set(fnmatch.filter(above, name))
                if not known:
                    sys.exit(f'{path}:{number}: {room} looks into {name}, which does not stand above it')
                names |= known
            allowed[room] = names | {room}
            patterns += [(room, pattern) for pattern in files]
    return patterns, allowed


def room_of(path, patterns):
    fitting = [(len(pattern), room) for room, pattern in patterns if fnmatch.fnmatchcase(path, pattern)]
    return max(fitting)[1] if fitting else None


def sources(root, patterns):
    for top in sorted({pattern.split('/')[0] for _, pattern in patterns}):
        for folder, _, files in os.walk(os.path.join(root, top)):
            for name in sorted(files):
                if name.endswith(('.c', '.h')):
                    yield os.path.relpath(os.path.join(folder, name), root)


def includes(root, path):
    with open(os.path.join(root, path), encoding='utf-8') as text:
        return re.findall(r'^\s*#\s*include\s+"([^"]+)"', text.read(), re.M)


def objects(root, build, patterns):
    """-> {object file: source}; what is generated belongs to the folder whose CMakeLists.txt makes it."""
    found = {}
    with open(os.path.join(build, 'compile_commands.json'), encoding='utf-8') as commands:
        for command in json.load(commands):
            source = os.path.relpath(command['file'], root)
            if command['file'].startswith(os.path.realpath(build) + os.sep):
                source = os.path.relpath(command['file'], build)
            output = os.path.join(command['directory'], re.search(r' -o (\S+)', command['command'])[1])
            if room_of(source, patterns) and os.path.exists(output):
                found[output] = source
    return found


def symbols(files):
    """-> {symbol: objects that define it}, {object: symbols that it needs}"""
    defined, needed = collections.defaultdict(list), collections.defaultdict(set)
    listing = subprocess.run(['nm', '-A', *files], capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        place, _, rest = line.partition(':')
        kind, name = rest.split()[-2:]
        if kind in 'Uw':
            needed[place].add(name)
        elif kind.isupper():
            defined[name].append(place)
    return defined, needed


ENQUEUES = 'shim/driver/enqueue.c'


def calls_of_enqueue(root, path):
    """The lines of the shim's other files on which a function of the driver's is called that enqueues a command."""
    if not path.startswith('shim/') or path == ENQUEUES:
        return []
    with open(os.path.join(root, path), encoding='utf-8') as text:
        return [number for number, line in enumerate(text, 1) if re.search(r'(->|\.)\s*clEnqueue\w+\s*\(', line)]


def given(root, files, patterns):
    """-> {(room, name)}: structs of functions that a room asks of one above, declared in its upward.h."""
    found = set()
    for path in files:
        if os.path.basename(path) == 'upward.h':
            with open(os.path.join(root, path), encoding='utf-8') as text:
                found |= {(room_of(path, patterns), m) for m in re.findall(r'^extern const struct (\w+) \1\b', text.read(), re.M)}
    return found


def main():
    root, build = (os.path.realpath(path) for path in sys.argv[1:3])
    table = sys.argv[3] if len(sys.argv) > 3 else os.path.join(os.path.dirname(__file__), 'rooms.txt')
    patterns, allowed = read_table(table)
    wrong = []

    def may_use(source, target):
        here, there = room_of(source, patterns), room_of(target, patterns)
        return not here or not there or there in allowed[here]

    def edge(source, target, by):
        if not may_use(source, target):
            here, there = room_of(source, patterns), room_of(target, patterns)
            wrong.append(f'{here} -> {there}: {source} -> {target} ({by})')

    files = list(sources(root, patterns))
    for path in files:
        if not room_of(path, patterns):
            wrong.append(f'{path}: belongs to no room')
        for target in includes(root, path):
            edge(path, target, 'include')
        for number in calls_of_enqueue(root, path):
            wrong.append(f'{path}:{number}: enqueues a command of the driver, which {ENQUEUES} alone does')

    built = objects(root, build, patterns)
    asked = given(root, files, patterns)
    defined, needed = symbols(sorted(built))
    for user in sorted(needed):
        for name in sorted(needed[user]):
            if (room_of(built[user], patterns), name) in asked:
                continue
            everywhere = [built[place] for place in defined.get(name, [])]
            # What is loaded into an application defines OpenCL's functions, exit and write, which other programs have
            # from the system. Two programs may each have a function of one name: it is the one that may be used.
            beside = [target for target in everywhere if target.split('/')[0] == built[user].split('/')[0]]
            targets = [] if name == 'write' else beside or (everywhere if name.startswith('gs_') else [])
            if not any(may_use(built[user], target) for target in targets):
                for target in targets:
                    edge(built[user], target, name)

    for line in sorted(set(wrong)):
        print(line)
    print(f'{len(allowed)} rooms, {len(files)} files, {len(built)} objects: {len(set(wrong))} wrong')
    # Half the sources are headers, so fewer objects than that mean that they were not found.
    if len(built) < len(files) // 4:
        sys.exit('too few objects: has this tree been built?')
    sys.exit(1 if wrong else 0)


if __name__ == '__main__':
    main()
