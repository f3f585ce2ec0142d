#!/usr/bin/env bash
# Makes corpus/cases, corpus/symbols and corpus/steps again: captures a handful of scenarios and keeps what was
# sealed.
# Needs what ./run sets up; nothing else is touched when the capture fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly fresh=build/corpus
# Both builds of two scenarios, the inlining one of the others; dumps of a deep stack would be too big, and
# a hang in a system call needs system images, which are not ours to give away.
readonly chosen='null_write or inline_chain or ob2 and (inline_twice or crash_in_dll or noreturn_tail or null_call or recursion or spin and not (sort or generated))'

./run setup
rm -rf "$fresh"
build/bin/twinstack run -k "$chosen" --variant ob0,ob2 --out "$fresh" --db "$fresh/run.db"
rm -rf corpus/cases corpus/symbols
mkdir corpus/symbols
cp -a "$fresh/cases" corpus/cases
cp -a "$fresh"/symbols/{victims-*,plugin-call-ob2*} corpus/symbols/
build/bin/twinstack check corpus/cases/*
mkdir -p corpus/steps
build/bin/twinstack steps --variant ob2 --walkers rtl,dbghelp-own,backtrace,framepointer --out "$fresh" --pack corpus/steps/ob2.rec
du -sh corpus/cases corpus/symbols corpus/steps
