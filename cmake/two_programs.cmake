# On Linux, `twinstack` is two programs: one without shared libraries, which starts faster, and the whole one, in
# libexec/; analyze/whole.h explains them. It is one program, the whole one, where a library has no archive.
option(TWINSTACK_TWO_PROGRAMS "Link twinstack without shared libraries, and a second program that can load libcurl and libnats" ON)

# The file of the whole program is named `twinstack`, too, so that tools show both under that name.
function(twinstack_two_programs)
  if(NOT TWINSTACK_TWO_PROGRAMS OR TWINSTACK_GROUPED) # the linker takes single files below
    return()
  endif()
  get_property(libraries GLOBAL PROPERTY twinstack_libraries)
  foreach(library IN LISTS libraries)
    if(NOT TARGET ${library})
      list(REMOVE_ITEM libraries ${library})
    endif()
  endforeach()
  file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/links.c" CONTENT "int main(void) { return 0; }\n")
  unset(TWINSTACK_LINKS_STATICALLY CACHE) # archives may have been added
  try_compile(TWINSTACK_LINKS_STATICALLY "${CMAKE_BINARY_DIR}" "${CMAKE_BINARY_DIR}/links.c"
    LINK_OPTIONS -static-pie LINK_LIBRARIES ${libraries} m ${CMAKE_DL_LIBS} OUTPUT_VARIABLE said)
  if(NOT TWINSTACK_LINKS_STATICALLY)
    string(REGEX MATCH "[^\n]*(cannot find|attempted static link|error:)[^\n]*" why "${said}")
    message(STATUS "twinstack is one program, and starts more slowly: it cannot be linked statically (${why})")
    return()
  endif()

  include(GNUInstallDirs)
  file(RELATIVE_PATH folder "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBEXECDIR}/twinstack")
  add_executable(twinstack_whole main.c)
  target_link_libraries(twinstack_whole PRIVATE room_verbs twinstack::warnings)
  set_target_properties(twinstack_whole PROPERTIES OUTPUT_NAME twinstack
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin/${folder}")
  install(TARGETS twinstack_whole DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/twinstack")

  add_dependencies(twinstack twinstack_whole)
  # Of the rooms fetch and stream, the linker takes these objects in place of those that load a library.
  target_sources(twinstack PRIVATE whole.c fetch/transfer_none.c stream/queue_none.c)
  target_compile_definitions(twinstack PRIVATE "TWINSTACK_WHOLE=\"${folder}/twinstack\"")
  # Parts of libc.a need its dlopen(), and with it comes a warning for each program that mentions that name.
  target_link_options(twinstack PRIVATE -static-pie -Wl,--wrap=dlopen,--defsym=__wrap_dlopen=no_dlopen)
endfunction()
