# The same for 32 bits.  C is compiled as for Microsoft's own environment, with the headers of
# mingw-w64: its 32-bit one has no structured exception handling.
set(TWINSTACK_PROCESSOR i686)
include(${CMAKE_CURRENT_LIST_DIR}/wine-clang.cmake)
foreach(option IN ITEMS --target=i686-pc-windows-msvc -fgnuc-version=4.2.1 -fno-ms-compatibility -U_MSC_VER -msse2
    -D__MINGW32__=1 -D__MSVCRT__=1 -D_X86_ -nostdlibinc "SHELL:-isystem /usr/i686-w64-mingw32/include"
    "SHELL:-Xclang -fno-autolink")
  add_compile_options("$<$<COMPILE_LANGUAGE:C>:${option}>")
endforeach()
