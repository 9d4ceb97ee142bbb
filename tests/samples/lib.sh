# SPDX-License-Identifier: MIT
# For the tests of the samples: the rows of MANIFEST, and how a sample is run.
set -u
samples=$GS_BUILD/lib/gpusparc/samples

# manifest COMMAND…: calls COMMAND with name, class, small arguments and scaling of each sample.
manifest() {
    local name class small scale
    while IFS='|' read -r name class small scale; do
        case $name in ''|'#'*) continue ;; esac
        name=${name// /}
        "$@" "$name" "${class// /}" "$small" "$scale"
    done <"$samples/MANIFEST"
}

failures=0
fail() {
    echo "FAIL: $*" >&2
    failures=$((failures + 1))
}
