#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the makespan paper's integer program (its Figure 3, with the short constraints) in CPLEX LP format.
usage: makespan_ilp.py STRING W SIGMA_L SIGMA_C HORIZON
x_w_i_t is 1 if warp w executes instruction i in cycle t; E_t is 1 if all L units are busy in cycle t, G_t all C units."""
import sys

string, W, sigma = sys.argv[1], int(sys.argv[2]), {"L": int(sys.argv[3]), "C": int(sys.argv[4])}
T, I = int(sys.argv[5]), len(string)
warps, instructions, cycles = range(1, W + 1), range(1, I + 1), range(1, T + 1)
busy = {"L": "E", "C": "G"}


def x(w, i, t):
    return f"x_{w}_{i}_{t}"


def total(terms):
    return " + ".join(terms)


def when(w, i, sign="+"):
    return " ".join(f"{sign} {t} {x(w, i, t)}" for t in cycles)


out = ["Maximize", " makespan: " + when(W, I), "Subject To"]
for u in "LC":
    used = [i for i in instructions if string[i - 1] == u]
    if not used:
        continue
    for t in cycles:
        terms = total(x(w, i, t) for w in warps for i in used)
        out.append(f" {terms} <= {sigma[u]}")  # equations 14, 15
        out.append(f" {terms} - {sigma[u]} {busy[u]}_{t} >= 0")  # equation 41
for w in warps:
    for i in instructions:
        out.append(f" {total(x(w, i, t) for t in cycles)} = 1")  # equation 17
        if i < I:
            out.append(f" {when(w, i + 1)} {when(w, i, '-')} >= 1")  # equation 18
        for t in cycles:
            # Equations 34 and 37: i - 1 not done before t, or i done by t, or its units all busy.
            terms = [x(w, i, s) for s in cycles if s <= t] + [f"{busy[string[i - 1]]}_{t}"]
            if i > 1:
                terms += [x(w, i - 1, s) for s in cycles if s >= t]
            out.append(f" {total(terms)} >= 1")
    if w < W:
        out.append(f" {when(W, I)} {when(w, I, '-')} >= 0")
out.append("Binary")
out += [f" {x(w, i, t)}" for w in warps for i in instructions for t in cycles]
out += [f" {busy[u]}_{t}" for u in "LC" if u in string for t in cycles]
out.append("End")
print("\n".join(out))
