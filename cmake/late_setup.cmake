# liblzma and nettle ask the processor for its features before main() runs. In a virtual machine, each of these
# questions costs 2 to 70 us, and most starts of the program need neither library. So the program links a copy of the
# object file that asks: nettle's asks when it is first used, and late_setup.c does it for liblzma's.

# twinstack_late_object(OUT ARCHIVE MEMBER OPTION...): sets OUT to a copy of MEMBER that objcopy made with OPTIONS;
# to nothing if ARCHIVE has no such member, or one that does nothing before main().
function(twinstack_late_object out archive member)
  set(${out} "" PARENT_SCOPE)
  set(folder "${CMAKE_BINARY_DIR}/late")
  file(MAKE_DIRECTORY "${folder}")
  execute_process(COMMAND "${CMAKE_AR}" p "${archive}" "${member}" OUTPUT_FILE "${folder}/whole-${member}"
    RESULT_VARIABLE failed ERROR_QUIET)
  if(failed)
    return()
  endif()
  execute_process(COMMAND "${CMAKE_OBJDUMP}" -h -j .init_array "${folder}/whole-${member}"
    RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(failed)
    return()
  endif()
  execute_process(COMMAND "${CMAKE_OBJCOPY}" ${ARGN} "${folder}/whole-${member}" "${folder}/${member}"
    RESULT_VARIABLE failed ERROR_QUIET)
  if(NOT failed)
    set(${out} "${folder}/${member}" PARENT_SCOPE)
  endif()
endfunction()

# twinstack_late_setup(TARGET)
function(twinstack_late_setup target)
  get_target_property(lzma twinstack::lzma IMPORTED_LOCATION)
  get_target_property(nettle twinstack::nettle IMPORTED_LOCATION)
  if(nettle MATCHES "\\.a$")
    twinstack_late_object(object "${nettle}" fat-x86_64.o --remove-section=.init_array --remove-section=.rela.init_array)
    target_sources(${target} PRIVATE ${object})
  endif()
  if(lzma MATCHES "\\.a$")
    twinstack_late_object(object "${lzma}" liblzma_la-crc64_fast.o
      --rename-section .init_array=.data.rel.ro.lzma_setup,alloc,data,contents
      --add-symbol lzma_setup=.data.rel.ro.lzma_setup:0,global,object --redefine-sym lzma_crc64=lzma_chosen_crc64)
    if(object)
      target_sources(${target} PRIVATE ${object} late_setup.c)
    endif()
  endif()
endfunction()
