# Libraries from the platform.  On Debian: archives where there are any, because each shared library
# costs 0.1 ms of every start, and `resolve` takes about one.  With vcpkg: the package's own CMake
# configuration, then its pkg-config file.
find_package(PkgConfig)
set(TWINSTACK_ARCHIVES "" CACHE PATH "a folder with archives of libraries that Debian has as shared ones only: see archives.sh")

# twinstack_package(ALIAS [HEADER file] LIB name [CONFIG package targets...] [PKG module] [NEEDS library...] [OPTIONAL])
#
# CONFIG names the CMake package and its possible targets, PKG its pkg-config module.  An OPTIONAL library that is not found
# leaves no target.
function(twinstack_package alias)
  cmake_parse_arguments(P "OPTIONAL" "PKG;HEADER;LIB" "NEEDS;CONFIG" ${ARGN})
  if(DEFINED VCPKG_TARGET_TRIPLET)
    twinstack_vcpkg_package(${alias} "${P_PKG}" ${P_CONFIG})
    if(TARGET ${alias})
      return()
    endif()
  endif()
  set(own "${TWINSTACK_ARCHIVES}/lib${P_LIB}.a")
  if(EXISTS "${own}")
    set(${P_LIB}_FILE "${own}")
  else()
    find_library(${P_LIB}_FILE NAMES lib${P_LIB}.a ${P_LIB} PATHS /usr/lib/llvm-19/lib)
  endif()
  if(P_HEADER) # not _INCLUDE, which older trees have in their cache with another folder
    find_path(${P_LIB}_FOLDER ${P_HEADER})
  endif()
  if(NOT ${P_LIB}_FILE OR (P_HEADER AND NOT ${P_LIB}_FOLDER))
    if(NOT P_OPTIONAL)
      message(FATAL_ERROR "${P_LIB}: no library, or no ${P_HEADER}")
    endif()
    message(STATUS "${P_LIB}: not found, built without it")
    return()
  endif()
  add_library(${alias} UNKNOWN IMPORTED GLOBAL) # a library, so that what it needs is linked after it
  set_target_properties(${alias} PROPERTIES IMPORTED_LOCATION "${${P_LIB}_FILE}")
  target_link_libraries(${alias} INTERFACE ${P_NEEDS})
  if(P_HEADER)
    target_include_directories(${alias} SYSTEM INTERFACE "${${P_LIB}_FOLDER}")
  endif()
endfunction()

function(twinstack_vcpkg_package alias pkg)
  if(ARGC GREATER 2)
    list(POP_FRONT ARGN config)
    find_package(${config} CONFIG QUIET GLOBAL)
    foreach(target IN LISTS ARGN)
      if(TARGET ${target})
        add_library(${alias} INTERFACE IMPORTED GLOBAL)
        target_link_libraries(${alias} INTERFACE ${target})
        return()
      endif()
    endforeach()
  endif()
  if(pkg AND PKG_CONFIG_FOUND)
    string(MAKE_C_IDENTIFIER "${pkg}" name)
    pkg_check_modules(${name} QUIET IMPORTED_TARGET GLOBAL "${pkg}")
    if(TARGET PkgConfig::${name})
      add_library(${alias} INTERFACE IMPORTED GLOBAL)
      target_link_libraries(${alias} INTERFACE PkgConfig::${name})
    endif()
  endif()
endfunction()

set(sockets $<$<BOOL:${WIN32}>:ws2_32> $<$<BOOL:${MINGW}>:winpthread>)
twinstack_package(twinstack::cjson HEADER cjson/cJSON.h LIB cjson CONFIG cJSON cjson PKG libcjson)
twinstack_package(twinstack::sqlite HEADER sqlite3.h LIB sqlite3
  CONFIG unofficial-sqlite3 unofficial::sqlite3::sqlite3 PKG sqlite3
  NEEDS ${CMAKE_DL_LIBS} $<$<NOT:$<BOOL:${WIN32}>>:m>)
twinstack_package(twinstack::civetweb HEADER civetweb.h LIB civetweb CONFIG civetweb civetweb::civetweb NEEDS ${sockets})
twinstack_package(twinstack::nettle HEADER nettle/sha2.h LIB nettle PKG nettle)
twinstack_package(twinstack::z HEADER zlib.h LIB z PKG zlib)
twinstack_package(twinstack::zstd HEADER zstd.h LIB zstd
  CONFIG zstd zstd::libzstd zstd::libzstd_static zstd::libzstd_shared PKG libzstd)
twinstack_package(twinstack::lzma HEADER lzma.h LIB lzma CONFIG liblzma liblzma::liblzma PKG liblzma)
twinstack_package(twinstack::mspack HEADER mspack.h LIB mspack PKG libmspack)
twinstack_package(twinstack::capstone HEADER capstone/capstone.h LIB capstone
  CONFIG capstone capstone::capstone capstone::capstone_static capstone::capstone_shared PKG capstone)
# Names of Rust and D stay decorated without it; vcpkg has no such package.
twinstack_package(twinstack::iberty HEADER libiberty/demangle.h LIB iberty OPTIONAL)
# LLVM's demangler: a C function of its C++ runtime (archives.sh takes it out). Without it, libiberty reads those names of C++
# that it knows.
twinstack_package(twinstack::cxxabi LIB c++abi OPTIONAL NEEDS -static-libgcc)
# Only the header: the library is loaded when the first symbol server is named.
find_path(CURL_INCLUDE curl/curl.h)
# Likewise, when the first queue nats:// is named.
find_path(NATS_INCLUDE nats/nats.h)
if(NOT NATS_INCLUDE)
  message(STATUS "libnats: not found; queues are folders only")
endif()
