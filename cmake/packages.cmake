# Libraries from the platform: Debian packages on Linux, vcpkg on Windows.
find_package(PkgConfig)

function(twinstack_package alias)
  cmake_parse_arguments(P "" "PKG;HEADER;LIB" "" ${ARGN})
  add_library(${alias} INTERFACE IMPORTED GLOBAL)
  find_library(${P_LIB}_FILE NAMES ${P_LIB} REQUIRED)
  find_path(${P_LIB}_INCLUDE ${P_HEADER} REQUIRED)
  target_link_libraries(${alias} INTERFACE "${${P_LIB}_FILE}")
  target_include_directories(${alias} SYSTEM INTERFACE "${${P_LIB}_INCLUDE}")
endfunction()

twinstack_package(twinstack::cjson HEADER cjson/cJSON.h LIB cjson)
twinstack_package(twinstack::sqlite HEADER sqlite3.h LIB sqlite3)
twinstack_package(twinstack::civetweb HEADER civetweb.h LIB civetweb)
twinstack_package(twinstack::nettle HEADER nettle/sha2.h LIB nettle)
twinstack_package(twinstack::dwarf HEADER libdwarf/libdwarf.h LIB dwarf)
twinstack_package(twinstack::mspack HEADER mspack.h LIB mspack)
twinstack_package(twinstack::iberty HEADER libiberty/demangle.h LIB iberty)
