#!/bin/sh
# A contestant to start from, for tools that are asked by a command: it reports the moment itself and no caller.
while read -r line; do
  word() { printf '%s' "$line" | sed "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/"; }
  case $line in
    *'"hello"'*) echo '{"name":"example","version":"1","bugs":null,"can":["moments.x64"]}' ;;
    *'"rip"'*) echo "{\"id\":\"$(word id)\",\"frames\":[{\"ip\":\"$(word rip)\",\"sp\":\"$(word rsp)\"}]}" ;;
    *) echo "{\"id\":\"$(word id)\",\"unsupported\":true,\"issue\":null}" ;;
  esac
done
