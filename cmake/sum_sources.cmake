# Writes OUT, a C file with a sum over the files below FROM that OUT.list names: names and content, no times, no absolute paths.
file(STRINGS "${OUT}.list" files)
foreach(file IN LISTS files)
  file(SHA256 "${FROM}/${file}" sum)
  string(APPEND sums "${file} ${sum}\n")
endforeach()
string(SHA256 sum "${sums}")
string(SUBSTRING "${sum}" 0 16 sum)
file(WRITE "${OUT}" "/* Made by cmake/sum_sources.cmake. */\n#include \"pages/shown.h\"\n\nconst char shown_program[] = \"${sum}\";\n")
