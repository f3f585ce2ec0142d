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
