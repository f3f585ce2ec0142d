# Libraries from the platform: Debian packages on Linux, vcpkg on Windows.  Archives are
# preferred where the platform has them: each shared library costs 0.1 ms of every start, and
# `resolve` takes about one.
find_package(PkgConfig)

function(twinstack_package alias)
  cmake_parse_arguments(P "" "PKG;HEADER;LIB" "NEEDS" ${ARGN})
  add_library(${alias} UNKNOWN IMPORTED GLOBAL) # a library, so that what it needs is linked after it
  find_library(${P_LIB}_FILE NAMES lib${P_LIB}.a ${P_LIB} REQUIRED)
  find_path(${P_LIB}_INCLUDE ${P_HEADER} REQUIRED)
  set_target_properties(${alias} PROPERTIES IMPORTED_LOCATION "${${P_LIB}_FILE}")
  target_link_libraries(${alias} INTERFACE ${P_NEEDS})
  target_include_directories(${alias} SYSTEM INTERFACE "${${P_LIB}_INCLUDE}")
endfunction()

twinstack_package(twinstack::cjson HEADER cjson/cJSON.h LIB cjson)
twinstack_package(twinstack::sqlite HEADER sqlite3.h LIB sqlite3 NEEDS ${CMAKE_DL_LIBS} $<$<NOT:$<BOOL:${WIN32}>>:m>)
twinstack_package(twinstack::civetweb HEADER civetweb.h LIB civetweb)
twinstack_package(twinstack::nettle HEADER nettle/sha2.h LIB nettle)
twinstack_package(twinstack::z HEADER zlib.h LIB z)
twinstack_package(twinstack::zstd HEADER zstd.h LIB zstd)
twinstack_package(twinstack::lzma HEADER lzma.h LIB lzma)
twinstack_package(twinstack::dwarf HEADER libdwarf/libdwarf.h LIB dwarf NEEDS twinstack::z)
twinstack_package(twinstack::mspack HEADER mspack.h LIB mspack)
# Only the header: the library is loaded when the first symbol server is named.
find_path(CURL_INCLUDE curl/curl.h)
twinstack_package(twinstack::iberty HEADER libiberty/demangle.h LIB iberty)
