#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Campaigns that take longer than a test may: each function below is one, and is named by the first argument.
#   scripts/soak.sh                  lists them
#   scripts/soak.sh samples 1000     runs one, with its arguments
# Wants a build in build/ (or GS_BUILD). A campaign works in a folder of its own and prints the seeds it used.
set -euo pipefail
cd "$(dirname "$0")/.."
export GS_SOURCE=$PWD GS_BUILD=${GS_BUILD:-$PWD/build}
export PATH=$GS_BUILD/bin:$PATH

# samples [ROUNDS [SEED]]: samples of random sizes, plain and split, compared byte for byte
samples() {
    bash "$GS_SOURCE/tests/samples/random.sh" "${@:-500}"
}

# stress [ROUNDS [SEED [STEPS [THREADS]]]]: random sequences of OpenCL commands, plain and split, compared byte for byte
stress() {
    bash "$GS_SOURCE/tests/e2e/stress.sh" "${2:-$RANDOM}" "${1:-100}" "${3:-600}" "${4:-4}"
}

campaign=${1:-}
if [ -z "$campaign" ] || ! grep -q "^$campaign() {" scripts/soak.sh; then
    sed -n 's/^# \([a-z_]*\( \[.*\]\)\?: .*\)/\1/p' scripts/soak.sh
    [ -z "$campaign" ] || exit 2
    exit 0
fi
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$campaign" "$@"
