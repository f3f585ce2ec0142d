#!/bin/bash
# A symbolizer to start from, for one that is a command: here addr2line, whose lines come in pairs, function and file:line.
while read -r line; do
  word() { sed "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/" <<<"$line"; }
  case $line in
    *'"hello"'*)
      suite=$(word suite)
      echo '{"name":"example","version":"1","bugs":null,"can":["addresses.dwarf"]}'
      ;;
    *'"image"'*)
      at=$(word rva) back=0
      if [ "$(word lookup)" = return ]; then back=1; fi # a return address is asked less 1
      frames=$(addr2line -fiC -e "$suite/$(word image)" "$(printf '%x' $((at - back)))" | paste - - |
        sed -E 's/"/\\"/g; s/^(.*)\t(.*):([0-9]+).*$/{"function":"\1","file":"\2","line":\3,"inlined":true}/; $s/true}$/false}/; /^\{/!d' | paste -sd,)
      echo "{\"id\":\"$(word id)\",\"frames\":[$frames]}"
      ;;
    *) echo "{\"id\":\"$(word id)\",\"unsupported\":true,\"issue\":null}" ;;
  esac
done
