# Cross toolchain for the Windows programs: clang 19 and lld, mingw-w64 headers and import
# libraries, real PE files with real PDBs.  Reproducible: nothing of the build folder gets
# into an image or a PDB.
set(CMAKE_SYSTEM_NAME Windows)
if(NOT TWINSTACK_PROCESSOR)
  set(TWINSTACK_PROCESSOR x86_64) # or i686
endif()
set(CMAKE_SYSTEM_PROCESSOR ${TWINSTACK_PROCESSOR})

foreach(language C CXX ASM)
  set(CMAKE_${language}_COMPILER_TARGET ${TWINSTACK_PROCESSOR}-w64-mingw32)
endforeach()
set(CMAKE_C_COMPILER clang-19)
set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_ASM_COMPILER clang-19)
set(CMAKE_RC_COMPILER llvm-rc-19)
set(CMAKE_AR llvm-ar-19 CACHE FILEPATH "")
set(CMAKE_RANLIB llvm-ranlib-19 CACHE FILEPATH "")

set(_debug "-g -gcodeview -gno-codeview-command-line -ffile-compilation-dir=.")
set(CMAKE_C_FLAGS_INIT "${_debug} -fms-extensions")
set(CMAKE_CXX_FLAGS_INIT "${_debug} -fms-extensions")

# -s: the DWARF of the C runtime's objects would make readers ignore the PDB.
set(_link "-fuse-ld=lld-19 -Wl,-s -Wl,--pdb= -Wno-unused-command-line-argument -Wl,-Xlink=-Brepro -Wl,-Xlink=-pdbsourcepath:.")
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "${_link}")
endforeach()

set(CMAKE_FIND_ROOT_PATH /usr/${TWINSTACK_PROCESSOR}-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
