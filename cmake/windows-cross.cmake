# Cross toolchain for the tool itself: clang and lld with the headers and import libraries of mingw-w64,
# and the libraries that cmake/windows/ builds.  One file comes out: nothing has to be shipped with it.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER clang-19)
set(CMAKE_C_COMPILER_TARGET x86_64-w64-mingw32)
set(CMAKE_CXX_COMPILER clang++-19) # for LLVM's demangler alone
set(CMAKE_CXX_COMPILER_TARGET x86_64-w64-mingw32)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
set(CMAKE_AR llvm-ar-19 CACHE FILEPATH "")
set(CMAKE_RANLIB llvm-ranlib-19 CACHE FILEPATH "")
set(CMAKE_C_FLAGS_INIT "-D__USE_MINGW_ANSI_STDIO=1 -D_FILE_OFFSET_BITS=64")
set(CMAKE_C_FLAGS_DEBUG "-O0" CACHE STRING "") # no -g: the linker strips the programs
set(CMAKE_EXE_LINKER_FLAGS_INIT "-fuse-ld=lld-19 -static -Wl,-s -Wno-unused-command-line-argument")

set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TWINSTACK_PACKAGES)
set(CMAKE_FIND_ROOT_PATH "${TWINSTACK_PACKAGES}" /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
