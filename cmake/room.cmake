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
function(room name)
  cmake_parse_arguments(ROOM "" "" "DEPENDS;PRIVATE_DEPENDS;FRONTS;FRONT;SOURCES;LIBRARIES" ${ARGN})
  set(front "${CMAKE_BINARY_DIR}/rooms/${name}")
  file(MAKE_DIRECTORY "${front}")
  file(CREATE_LINK "${CMAKE_CURRENT_SOURCE_DIR}" "${front}/${name}" SYMBOLIC COPY_ON_ERROR)

  add_library(room_${name} STATIC ${ROOM_SOURCES})
  target_include_directories(room_${name} PUBLIC "${front}")
  target_link_libraries(room_${name} PRIVATE twinstack::warnings)
  foreach(dep IN LISTS ROOM_DEPENDS)
    target_link_libraries(room_${name} PUBLIC room_${dep})
  endforeach()
  foreach(dep IN LISTS ROOM_PRIVATE_DEPENDS)
    target_link_libraries(room_${name} PRIVATE room_${dep})
  endforeach()
  target_link_libraries(room_${name} PUBLIC ${ROOM_LIBRARIES})
  foreach(header IN LISTS ROOM_FRONT)
    file(MAKE_DIRECTORY "${front}.front/${name}")
    file(CREATE_LINK "${CMAKE_CURRENT_SOURCE_DIR}/${header}" "${front}.front/${name}/${header}" SYMBOLIC COPY_ON_ERROR)
  endforeach()
  foreach(other IN LISTS ROOM_FRONTS)
    target_include_directories(room_${name} INTERFACE "${CMAKE_BINARY_DIR}/rooms/${other}.front")
  endforeach()

  if(CMAKE_CROSSCOMPILING)
    return() # the arrows are the same on every system
  endif()
  add_executable(link_${name} "${CMAKE_SOURCE_DIR}/cmake/link_room.c")
  target_link_libraries(link_${name} PRIVATE "$<LINK_LIBRARY:WHOLE_ARCHIVE,room_${name}>")
endfunction()
