# SPDX-License-Identifier: MIT
# What the tests of the command line share: complain TEXT notes a failure; says TEXT ARGUMENT... holds gpusparc to one line
# on stderr that has TEXT, and to a status above 0. A test ends with: exit $fail
fail=0
complain() {
  echo "$*" >&2
  fail=1
}
says() {
  local text=$1 said rc=0
  shift
  said=$(gpusparc "$@" 2>&1 >/dev/null </dev/null) || rc=$?
  [[ $rc != 0 && $said == gpusparc*": "*"$text"* && $(wc -l <<<"$said") = 1 ]] ||
    complain "gpusparc $*: exit status $rc, and says: $said"
}
