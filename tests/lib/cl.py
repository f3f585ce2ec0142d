"""MSVC's command line, as far as it can be tested without Windows: with clang and mingw-w64's headers."""

# The flags with which clang's cl driver compiles against mingw-w64's headers. None of them concerns
# optimisation except sibling calls, which are off in both.
CL = ["clang-19", "--driver-mode=cl", "--target=x86_64-pc-windows-msvc", "/nologo", "/c", "/Z7", "/GS-", "/X",
      "/clang:-fgnuc-version=4.2.1", "-fno-ms-compatibility", "-U_MSC_VER", "-D__MINGW32__=1", "-D__MINGW64__=1",
      "-D__MSVCRT__=1", "/imsvc", "/usr/x86_64-w64-mingw32/include", "/clang:-std=c11",
      "/clang:-fno-optimize-sibling-calls", "/clang:-fno-strict-aliasing"]
