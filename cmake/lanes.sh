#!/usr/bin/env bash
# lanes.sh BUILD wine|steps: what ./run measures beside the matrix, in a line or two each; the rest is in BUILD/log.
#   wine   where the matrix is by Microsoft's writer: the same cases of a fixed list by Wine's, as a run of its own before it
#   steps  the walk at every instruction
set -euo pipefail
readonly build=${1:?usage: lanes.sh BUILD wine|steps}
readonly twinstack="$build/bin/twinstack"
# A crash of each kind, and enough of them for an interval.  Figures of two runs compare only where this list stays.
readonly list='null_write or null_read or inline_chain or recursion or noreturn_tail or divide_by_zero or crash_in_dll
  or raise_custom or throw_uncaught or stack_overflow or tail_call or sort_callback or leaf_store or unwind_frame_register
  or float_exception or deadlock'

note() {
  if [ -t 2 ]; then printf '\r\033[K' >&2; fi
  # shellcheck disable=SC2059 # formats of this file
  printf "$@" >&2
}

has_microsofts() {
  local folder
  for folder in . x64 amd64; do
    if [ -f "${TWINSTACK_DEBUGGER:-/nowhere}/$folder/dbgcore.dll" ]; then return 0; fi
  done
  return 1
}

by_wine() {
  local log="$build/log/wine-writer.txt" status=0
  has_microsofts || return 0
  "$twinstack" run --db "$build/twinstack.db" --writer wine --variant ob2 -k "${list//$'\n'/ }" --progress none \
    >"$log" 2>&1 || status=$?
  note 'run: dumps by Wine instead of Microsoft, more in build/log/wine-writer.txt: %s\n' "$(head -n 1 "$log")"
  return "$status"
}

# One line for each half.  `dbghelp` in the article's form costs half a minute a build, so it walks in one of each
# processor.
steps() {
  local log="$build/log/steps.txt" status=0
  {
    "$twinstack" steps --out "$build/steps" --variant ob2 --variant x86-ob2 &&
      "$twinstack" steps --out "$build/steps" --variant o0 --variant ob0 --variant ob2-fp \
        --variant x86-o0 --variant x86-ob0 --walkers rtl,dbghelp-own,backtrace,framepointer
  } >"$log" || status=$?
  grep '^STEPS ' "$log" || :
  [ "$status" = 0 ] || note 'run: the walkers at every instruction, in tables: build/log/steps.txt\n'
  return "$status"
}

case ${2-} in
  wine) by_wine ;;
  steps) steps ;;
  *)
    printf 'usage: lanes.sh BUILD wine|steps\n' >&2
    exit 2
    ;;
esac
