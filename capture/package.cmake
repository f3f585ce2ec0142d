# The capture as a package: a static library, its header, a CMake configuration and a pkg-config file.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_SIZEOF_VOID_P EQUAL 8)
  message(FATAL_ERROR "twinstack-capture: gcc has no __try, and its replacement in guarded.c is for x64; use clang or MSVC")
endif()
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(CAPTURE_PACKAGE_VERSION 0.1.0)
set(system_libraries dbghelp ntdll winhttp)

add_library(twinstack-capture STATIC ${sources} upload.c)
if(NOT MSVC AND CMAKE_SIZEOF_VOID_P EQUAL 8) # Microsoft's stack probe has unwind data
  enable_language(ASM)
  target_sources(twinstack-capture PRIVATE chkstk.S)
endif()
add_library(twinstack::capture ALIAS twinstack-capture)
set_target_properties(twinstack-capture PROPERTIES EXPORT_NAME capture C_STANDARD 11)
cmake_path(GET CMAKE_CURRENT_SOURCE_DIR PARENT_PATH above) # headers are spelt "capture/..."
target_include_directories(twinstack-capture PUBLIC "$<BUILD_INTERFACE:${above}>"
  "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
target_compile_definitions(twinstack-capture PRIVATE _WIN32_WINNT=0x0A00)
if(NOT MSVC)
  target_compile_options(twinstack-capture PRIVATE $<$<COMPILE_LANGUAGE:C>:-fms-extensions>
    $<$<C_COMPILER_ID:GNU>:-Wno-array-bounds>) # in NtCurrentTeb of winnt.h
  target_precompile_headers(twinstack-capture PRIVATE cap.h) # nearly all of the time is the parsing of <windows.h>
  set_source_files_properties(outside.c PROPERTIES SKIP_PRECOMPILE_HEADERS ON) # has another header first
endif()
target_link_libraries(twinstack-capture PUBLIC ${system_libraries})

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/twinstack-capture")
install(TARGETS twinstack-capture EXPORT twinstack-capture ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(FILES capture_port.h upload.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/capture")
install(EXPORT twinstack-capture NAMESPACE twinstack:: FILE twinstack-capture-config.cmake DESTINATION "${package_folder}")
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/twinstack-capture-config-version.cmake"
  VERSION ${CAPTURE_PACKAGE_VERSION} COMPATIBILITY SameMajorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/twinstack-capture-config-version.cmake" DESTINATION "${package_folder}")

list(TRANSFORM system_libraries PREPEND -l OUTPUT_VARIABLE system_flags)
list(JOIN system_flags " " system_flags)
file(CONFIGURE OUTPUT twinstack-capture.pc @ONLY CONTENT [[
prefix=${pcfiledir}/../..
Name: twinstack-capture
Description: Records crashes and hangs as module!offset stacks and minidumps
Version: @CAPTURE_PACKAGE_VERSION@
Cflags: -I${prefix}/@CMAKE_INSTALL_INCLUDEDIR@
Libs: -L${prefix}/@CMAKE_INSTALL_LIBDIR@ -ltwinstack-capture @system_flags@
]])
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/twinstack-capture.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
