# room(NAME DEPENDS room... PRIVATE_DEPENDS room... FRONTS room... FRONT header... SOURCES file...
#      LIBRARIES target...)
#
# One room of the house: a static library `room_NAME` whose headers are spelt
# "NAME/header.h".  A room sees its own headers and those of the rooms it declares, and no
# others, because each room's include folder is private to those who name it; and a program
# `link_NAME`, which holds the whole room and only what it declares, so that a call along an
# undeclared arrow does not link.
#
# What a room has in PRIVATE_DEPENDS its own files alone can include: those that depend on it link
# that room and do not see its headers.  Of a room in FRONTS they see the headers that it names as its
# FRONT, and no others.
#
# Folders and headers are linked where the system permits it. On Windows that takes Developer Mode, so there
# each header gets a file of one line that includes it.
option(TWINSTACK_FORWARD_HEADERS "headers of one line in place of links" ${CMAKE_HOST_WIN32})

# show_headers(TO FROM HEADER...): headers below FROM can be included from the folder TO.
function(show_headers to from)
  file(MAKE_DIRECTORY "${to}")
  foreach(header IN LISTS ARGN)
    if(TWINSTACK_FORWARD_HEADERS)
      file(CONFIGURE OUTPUT "${to}/${header}" CONTENT "#include \"${from}/${header}\"\n" @ONLY)
    else()
      file(CREATE_LINK "${from}/${header}" "${to}/${header}" SYMBOLIC)
    endif()
  endforeach()
endfunction()

function(room name)
  cmake_parse_arguments(ROOM "" "" "DEPENDS;PRIVATE_DEPENDS;FRONTS;FRONT;SOURCES;LIBRARIES" ${ARGN})
  set(front "${CMAKE_BINARY_DIR}/rooms/${name}")
  if(TWINSTACK_FORWARD_HEADERS)
    if(IS_SYMLINK "${front}/${name}") # of an earlier configuration: writing below it would write into the sources
      file(REMOVE "${front}/${name}")
    endif()
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" *.h *.def)
    show_headers("${front}/${name}" "${CMAKE_CURRENT_SOURCE_DIR}" ${headers})
  else()
    file(MAKE_DIRECTORY "${front}")
    file(CREATE_LINK "${CMAKE_CURRENT_SOURCE_DIR}" "${front}/${name}" SYMBOLIC)
  endif()

  add_library(room_${name} STATIC ${ROOM_SOURCES})
  target_include_directories(room_${name} PUBLIC "${front}")
  target_link_libraries(room_${name} PRIVATE twinstack::warnings)
  if(TWINSTACK_SANITIZE AND NOT name IN_LIST TWINSTACK_OFTEN_RUN)
    target_compile_options(room_${name} PRIVATE -O0)
  endif()
  foreach(dep IN LISTS ROOM_DEPENDS)
    target_link_libraries(room_${name} PUBLIC room_${dep})
  endforeach()
  foreach(dep IN LISTS ROOM_PRIVATE_DEPENDS)
    target_link_libraries(room_${name} PRIVATE room_${dep})
  endforeach()
  target_link_libraries(room_${name} PUBLIC ${ROOM_LIBRARIES})
  show_headers("${front}.front/${name}" "${CMAKE_CURRENT_SOURCE_DIR}" ${ROOM_FRONT})
  foreach(other IN LISTS ROOM_FRONTS)
    target_include_directories(room_${name} INTERFACE "${CMAKE_BINARY_DIR}/rooms/${other}.front")
  endforeach()

  if(CMAKE_CROSSCOMPILING)
    return() # the arrows are the same on every system
  endif()
  add_executable(link_${name} "${CMAKE_SOURCE_DIR}/cmake/link_room.c")
  target_link_libraries(link_${name} PRIVATE "$<LINK_LIBRARY:WHOLE_ARCHIVE,room_${name}>" twinstack_test_linker)
endfunction()
