#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the shim: measures.py SOURCE BUILD

Prints each function of seven parameters and more that is no entry point, and each file with its variables: those with static storage
that aren't constant, threads' own and functions' own among them; and how many functions of each room the others call, by the objects'
symbols and by what headers define inline. Exits with 1 if there is such a function, or if there are more variables than MOST_VARIABLES,
more functions of a room that others call than MOST_CALLED, more lines than MOST_LINES, or more fields of a head (the record of a
handle) than MOST_FIELDS, or more concepts on a launch's walk than MOST_CONCEPTS; these numbers may only become less. A head has one
pointer for each other room, no more, and only that room looks into what it leads to. A concept is a struct that the walk's files name
and that isn't the record of an object of OpenCL's; docs/glossary.md has each in an entry of its own.
"""
import collections
import json
import os
import re
import subprocess
import sys

import check

MOST_PARAMETERS = 6
MOST_VARIABLES = 60
MOST_CALLED = 30
MOST_LINES = 28000
HEADS = 'shim/record/objects.h'
MOST_FIELDS = {'gs_context': 24, 'gs_queue': 11, 'gs_mem': 19}
WALK = ('shim/api/kernel.c', 'shim/launch')
BYTES_ARE_OF = {'shim/memory', 'shim/transfer', 'shim/coherence'}  # gs_mem.bytes
OPENCLS = {'gs_context', 'gs_queue', 'gs_program', 'gs_kernel', 'gs_arg', 'gs_mem', 'gs_events'}
MOST_CONCEPTS = 20
NOT_OURS = ('__libc_start_main',)  # its form is libc's


def without_text(source):
    """Comments become blanks, strings empty: neither has a parameter."""
    return re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\])*"', lambda m: '""' if m[0][0] == '"' else ' ', source, flags=re.S)


def parameters(text):
    depth, count = 0, 1 if text.strip() not in ('', 'void') else 0
    for character in text:
        depth += (character in '([') - (character in ')]')
        count += character == ',' and not depth
    return count


def wide_functions(source):
    """-> [(name, parameters)] of the functions that a source defines."""
    found = []
    for match in re.finditer(r'^(?!typedef|#)[A-Za-z_][^;{}()]*?\b(\w+)\(([^{};]*)\)\s*\n\{', without_text(source), re.M):
        count = parameters(match[2])
        if count > MOST_PARAMETERS and 'CL_API_ENTRY' not in match[0] and match[1] not in NOT_OURS:
            found.append((match[1], count))
    return found


def variables(objects):
    """-> {object: names}"""
    found, place = {}, None
    listing = subprocess.run(['objdump', '-t', *objects], capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        head = re.match(r'(\S+):\s+file format', line)
        place = head[1] if head else place
        entry = re.match(r'[0-9a-f]+ .{6}. \.(t?data|t?bss)(\S*)\s+[0-9a-f]+ (?:\.hidden )?(\S+)$', line)
        if entry and not entry[2].startswith('.rel.ro') and not entry[3].startswith(('.', '__odr_asan')):
            found.setdefault(place, []).append(entry[3])
    return found


def shim_objects(build):
    """-> {object: source} of libgpusparc.so, but for what is generated."""
    found = {}
    with open(os.path.join(build, 'compile_commands.json'), encoding='utf-8') as commands:
        for command in json.load(commands):
            output = re.search(r' -o (\S+)', command['command'])[1]
            path = os.path.join(command['directory'], output)
            if '/gpusparc_shim.dir/' in output and '/generated/' not in command['file'] and os.path.exists(path):
                found[path] = command['file']
    return found


def inline_functions(root, sources):
    """-> {function: header that defines it}"""
    found = {}
    for path in sources:
        if path.endswith('.h'):
            with open(os.path.join(root, path), encoding='utf-8') as text:
                for name in re.findall(r'^static [^;{}()]*\binline\b[^;{}]*?\b(\w+)\(', text.read(), re.M):
                    found[name] = path
    return found


def called_by_others(root, objects, patterns):
    """-> {room: functions of it that other rooms of the shim call}"""
    called = collections.defaultdict(set)

    def call(name, here, there):
        if here != there:
            called[here].add(name)

    objects = {place: os.path.relpath(source, root) for place, source in objects.items()}
    defined, needed = check.symbols(sorted(objects))
    for user, names in needed.items():
        for name in names:
            for place in defined.get(name, []):
                call(name, check.room_of(objects[place], patterns), check.room_of(objects[user], patterns))
    sources = [path for path in check.sources(root, patterns) if path.startswith('shim/')]
    inline = inline_functions(root, sources)
    for path in sources:
        with open(os.path.join(root, path), encoding='utf-8') as text:
            for name in set(re.findall(r'\b(\w+)(?=\()', without_text(text.read()))) & set(inline):
                call(name, check.room_of(inline[name], patterns), check.room_of(path, patterns))
    return called


def lines(folder):
    """-> how many its sources and headers have"""
    count = 0
    for place, _, files in os.walk(folder):
        for name in files:
            if name.endswith(('.c', '.h')):
                with open(os.path.join(place, name), encoding='utf-8') as text:
                    count += sum(1 for _ in text)
    return count


def fields(source, name):
    """-> [(type, field)] of a struct that a source defines."""
    body = re.search(r'\bstruct ' + name + r' \{\n(.*?)^\};', without_text(source), re.M | re.S)[1]
    found = []
    for line in body.split(';'):
        declared = re.match(r'\s*(?:_Alignas\(\d+\)\s*)?((?:const |struct |enum )*\w+)\s+(.*\w.*)', line, re.S)
        for field in declared[2].split(',') if declared else []:
            pointer = '*' in field
            found.append((declared[1] + ' *' * pointer, re.search(r'(\w+)\s*(?:\[\w+\])?\s*$', field)[1]))
    return found


def rooms_of_structs(root, sources, patterns):
    """-> {struct: room that defines it}"""
    found = {}
    for path in sources:
        with open(os.path.join(root, path), encoding='utf-8') as text:
            for name in re.findall(r'^struct (\w+) \{', text.read(), re.M):
                found[name] = check.room_of(path, patterns)
    return found


def keepers(source, rooms, heads):
    """-> {field of a head: rooms that may look into what it leads to}"""
    found = {}
    for head in heads:
        for kind, field in fields(source, head):
            struct = re.match(r'(?:const )?struct (\w+) \*', kind)
            room = rooms.get(struct[1]) if struct else None
            if room and room.startswith('shim/') and room != 'shim/record':
                found[field] = BYTES_ARE_OF if field == 'bytes' else {room}
    return found


def opened(source, room, kept):
    """-> the fields of heads through which a source of that room looks into what others keep."""
    return sorted(field for field, keeping in kept.items() if room not in keeping and re.search(rf'->{field}\s*->', source))


def wrong_heads(source, rooms, most):
    """-> what is wrong with the heads that a source of the room shim/record defines."""
    wrong = []
    for head, count in most.items():
        kept = collections.defaultdict(list)
        for kind, field in fields(source, head):
            struct = re.match(r'(?:const )?struct (\w+)', kind)
            room = rooms.get(struct[1]) if struct else None
            if room and room.startswith('shim/') and room != 'shim/record':
                kept[room].append(field)
                if '*' not in kind:
                    wrong.append(f'{head}: {field} is a struct of {room}, not a pointer')
        wrong += [f'{head}: {len(names)} fields of {room}: {" ".join(names)}' for room, names in kept.items() if len(names) > 1]
        if len(fields(source, head)) > count:
            wrong.append(f'{head}: {len(fields(source, head))} fields, {count} at most')
    return wrong


def structs(source):
    """-> the structs that a source names, but for the driver's and libc's."""
    return set(re.findall(r'\bstruct (?!_cl_|timespec\b)(\w+)', without_text(source)))


def entries(glossary):
    """-> the structs that entries of the glossary are about."""
    return {name for line in glossary.splitlines() if line.startswith('| ') for name in re.findall(r'`struct (\w+)`', line)}


def concepts_of_walk(root):
    """-> the structs that the files of a launch's walk name."""
    found = set()
    for place in WALK:
        path = os.path.join(root, place)
        for file in [path] if os.path.isfile(path) else sorted(os.path.join(path, name) for name in os.listdir(path)):
            with open(file, encoding='utf-8') as text:
                found |= structs(text.read())
    return found


def too_many(called, most):
    """-> the rooms of which others call more than so many functions."""
    return [room for room, names in sorted(called.items()) if len(names) > most]


def main():
    root, build = (os.path.realpath(path) for path in sys.argv[1:3])
    wrong = 0
    for folder, _, files in os.walk(os.path.join(root, 'shim')):
        for name in sorted(files):
            if name.endswith('.c'):
                path = os.path.join(folder, name)
                with open(path, encoding='utf-8') as text:
                    for function, count in wide_functions(text.read()):
                        print(f'{os.path.relpath(path, root)}: {function} has {count} parameters')
                        wrong += 1
    objects = shim_objects(build)
    if not objects:
        sys.exit('no objects of the shim: has this tree been built?')
    found = variables(sorted(objects))
    count = sum(len(names) for names in found.values())
    if count > MOST_VARIABLES:
        for place in sorted(found):
            print(f'{os.path.relpath(objects[place], root)}: {" ".join(sorted(found[place]))}')
        wrong += 1
    patterns, _ = check.read_table(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'rooms.txt'))
    called = called_by_others(root, objects, patterns)
    for room in too_many(called, MOST_CALLED):
        print(f'{room}: others call {len(called[room])} of its functions: {" ".join(sorted(called[room]))}')
        wrong += 1
    print(', '.join(f'{len(names)} of {room}' for room, names in sorted(called.items())) + ' are called by other rooms')
    rooms = rooms_of_structs(root, [path for path in check.sources(root, patterns) if path.startswith('shim/')], patterns)
    with open(os.path.join(root, HEADS), encoding='utf-8') as text:
        records = text.read()
    heads = wrong_heads(records, rooms, MOST_FIELDS)
    kept = keepers(records, rooms, MOST_FIELDS)
    for path in check.sources(root, patterns):
        with open(os.path.join(root, path), encoding='utf-8') as text:
            found = opened(without_text(text.read()), check.room_of(path, patterns), kept) if path.startswith('shim/') else []
        heads += [f'{path} looks into another room\'s struct by {field}' for field in found]
    for line in heads:
        print(line)
    wrong += len(heads)
    walk = concepts_of_walk(root)
    concepts = walk - OPENCLS
    with open(os.path.join(root, 'docs', 'glossary.md'), encoding='utf-8') as text:
        for name in sorted(concepts - entries(text.read())):
            print(f'{name}: a concept of a launch\'s walk without an entry of docs/glossary.md')
            wrong += 1
    if len(concepts) > MOST_CONCEPTS:
        print(f'too many concepts on a launch\'s walk: {" ".join(sorted(concepts))}')
        wrong += 1
    print(f'{len(concepts)} concepts on a launch\'s walk, {MOST_CONCEPTS} at most, beside {len(walk & OPENCLS)} of OpenCL\'s')
    length = lines(os.path.join(root, 'shim'))
    wrong += length > MOST_LINES
    print(f'{length} lines of the shim, {MOST_LINES} at most')
    print(f'{len(objects)} objects of the shim with {count} variables, {MOST_VARIABLES} at most: {wrong} wrong')
    sys.exit(1 if wrong else 0)


if __name__ == '__main__':
    main()
