#!/usr/bin/env bash
# Makes corpus/cases and corpus/symbols again: captures a handful of scenarios and keeps what was sealed.
# Needs what ./run sets up; nothing else is touched when the capture fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly fresh=build/corpus
readonly scenarios='null_write inline_chain inline_twice crash_in_dll stack_overflow noreturn_tail null_call sleep_forever deadlock'

./run setup
rm -rf "$fresh"
build/bin/twinstack run -k "(${scenarios// / or }) and (ob0 or ob2)" --out "$fresh" --db "$fresh/run.db" --keep all
for part in cases symbols; do
  rm -rf "corpus/$part"
  cp -a "$fresh/$part" "corpus/$part"
done
build/bin/twinstack check corpus/cases/*
du -sh corpus/cases corpus/symbols
