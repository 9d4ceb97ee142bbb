# SPDX-License-Identifier: MIT
# For the scripts of this folder that need the engine: they are skipped where it isn't built.
fail() { echo "FAILED: $*"; exit 1; }
skip() { echo "left out: $*"; exit 77; }
engine=${GPUSPARC_ENGINE:-${XDG_DATA_HOME:-$HOME/.local/share}/gpusparc/remote}
[ -x "$engine/bin/pocld" ] || skip "there is no engine; scripts/remote.sh builds it"
edits=$(sha256sum <"$GS_SOURCE/scripts/remote_edits.py" | cut -c1-16)
[ "$(cut -d' ' -f2 "$engine/VERSION")" = "$edits" ] || skip "the engine is of other edits; scripts/remote.sh builds it anew"
export GPUSPARC_ENGINE=$engine
