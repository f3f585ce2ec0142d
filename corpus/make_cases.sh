#!/usr/bin/env bash
# Makes corpus/cases, corpus/symbols and corpus/steps again: captures a handful of scenarios and keeps what was
# sealed.
# Needs what ./run sets up; nothing else is touched when the capture fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly fresh=build/corpus
# Both builds of two scenarios, the inlining one of the others; dumps of a deep stack would be too big, and
# a hang in a system call needs system images, which are not ours to give away.
# Of x86 what the runtime's call frame information, the program's frame data and a jump into data decide; made where
# there is 32-bit Wine, else those that are there stay.
readonly chosen_x86='inline_chain or throw_uncaught or call_data'
readonly chosen='null_write or inline_chain or ob2 and (inline_twice or crash_in_dll or noreturn_tail or null_call or recursion or spin and not (sort or generated))'

./run setup
rm -rf "$fresh" "$fresh-x86"
build/bin/twinstack run -k "$chosen" --variant ob0,ob2 --out "$fresh" --db "$fresh/run.db"
if build/bin/twinstack run -k "x86-ob2 and ($chosen_x86)" --variant x86-ob2 --out "$fresh-x86" --db "$fresh/run.db" &&
  [ -d "$fresh-x86/symbols" ]; then
  mv "$fresh-x86"/cases/* "$fresh/cases/"
  mv "$fresh-x86"/symbols/victims-x86-* "$fresh/symbols/"
else
  mv corpus/cases/*.x86-ob2 "$fresh/cases/"
  mv corpus/symbols/victims-x86-ob2.* "$fresh/symbols/"
fi
rm -rf corpus/cases corpus/symbols
mkdir corpus/symbols
cp -a "$fresh/cases" corpus/cases
cp -a "$fresh"/symbols/{victims-*,plugin-call-ob2*} corpus/symbols/
build/bin/twinstack check corpus/cases/*
mkdir -p corpus/steps
build/bin/twinstack steps --variant ob2 --walkers rtl,dbghelp-own,backtrace,framepointer --out "$fresh" --pack corpus/steps/ob2.rec
du -sh corpus/cases corpus/symbols corpus/steps
