#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Looks at the words of the shim's public names: words.py SOURCE

A function that a header declares is named by words of OpenCL's (as its own functions have them), of docs/glossary.md, or of words.txt:
Linux's, and those that were there before this was asked. Prints each other word with a function that has it, and exits with 1 then.
"""
import glob
import os
import re
import sys


def stem(word):
    """So that ask, asks, asked and asking are one word."""
    return re.sub(r'(ies|es|s|ed|ing|e|y)$', '', word) if len(word) > 3 else word


def opencl_words():
    """-> words of clEnqueueNDRangeKernel, CL_MEM_READ_ONLY and the like."""
    words = set()
    for path in glob.glob(os.path.join(os.environ.get('GS_CL_INCLUDE') or '/usr/include', 'CL', '*.h')):
        with open(path, encoding='utf-8') as text:
            for name in set(re.findall(r'\b(?:cl[A-Z]\w*|cl_\w+|CL_\w+)\b', text.read())):
                words |= {part.lower() for part in re.findall(r'[A-Z]?[a-z]+|[A-Z]+(?![a-z])', name[2:])}
    return words


def glossary_words(source):
    with open(os.path.join(source, 'docs', 'glossary.md'), encoding='utf-8') as text:
        entries = [line.split('|')[1] for line in text if line.startswith('| ')]
    return set(re.findall(r'[a-z]+', ' '.join(entries).lower()))


def listed_words(source):
    with open(os.path.join(source, 'tests', 'rooms', 'words.txt'), encoding='utf-8') as text:
        return set(re.findall(r'[a-z]+', re.sub(r'#.*', '', text.read())))


def public_names(source):
    """-> {function: header}"""
    names = {}
    for path in sorted(glob.glob(os.path.join(source, 'shim', '*', '*.h'))):
        with open(path, encoding='utf-8') as text:
            plain = re.sub(r'/\*.*?\*/', ' ', text.read(), flags=re.S)
        for name in re.findall(r'\bgs_(\w+)\(', plain):
            names.setdefault(name, os.path.relpath(path, source))
    return names


def unknown(names, known):
    """-> {word: function}"""
    stems = {stem(word) for word in known}
    return {word: f'gs_{name} ({header})' for name, header in names.items() for word in name.split('_')
            if stem(word) not in stems and not word.isdigit()}


def main():
    source = os.path.realpath(sys.argv[1])
    names, listed = public_names(source), listed_words(source)
    opencl = opencl_words()
    if len(opencl) < 100:
        sys.exit("OpenCL's headers weren't found: where are they? GS_CL_INCLUDE says so")
    found = unknown(names, opencl | glossary_words(source) | listed)
    for word, function in sorted(found.items()):
        print(f'{function}: "{word}" is neither a word of OpenCL\'s nor in docs/glossary.md')
    print(f'{len(names)} public names of the shim: {len(found)} unknown words')
    sys.exit(1 if found else 0)


if __name__ == '__main__':
    main()
