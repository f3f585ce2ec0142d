# One set of warnings for every target of ours; warnings are errors.
add_library(twinstack_warnings INTERFACE)
add_library(twinstack::warnings ALIAS twinstack_warnings)
if(MSVC)
  target_compile_options(twinstack_warnings INTERFACE /W4 /WX /utf-8)
  target_compile_definitions(twinstack_warnings INTERFACE _CRT_SECURE_NO_WARNINGS)
else()
  target_compile_options(twinstack_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wconversion -Wstrict-prototypes -Wmissing-prototypes
    -Wcast-qual -Wundef -Wwrite-strings -Wvla -Wformat=2 -Wshadow -Werror)
  target_compile_definitions(twinstack_warnings INTERFACE _POSIX_C_SOURCE=200809L)
endif()
if(TWINSTACK_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
  if(CMAKE_C_COMPILER_ID STREQUAL "Clang")
    add_compile_options(-fsanitize=fuzzer-no-link) # so that the fuzzers can see where they get
    include(CheckLinkerFlag)
    check_linker_flag(C -fuse-ld=lld TWINSTACK_LLD) # a hundred programs: GNU ld takes three times as long
    if(TWINSTACK_LLD)
      add_link_options(-fuse-ld=lld)
    endif()
  endif()
endif()

# For programs of tests: 180 of them, for which GNU ld takes twice as long as LLVM's, where that is there.
add_library(twinstack_test_linker INTERFACE)
find_program(TWINSTACK_TEST_LLD ld.lld HINTS /usr/lib/llvm-19/bin)
if(TWINSTACK_TEST_LLD AND CMAKE_C_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_CROSSCOMPILING)
  cmake_path(GET TWINSTACK_TEST_LLD PARENT_PATH folder)
  target_link_options(twinstack_test_linker INTERFACE "-B${folder}" -fuse-ld=lld)
endif()
