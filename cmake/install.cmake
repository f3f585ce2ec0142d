# What `cmake --install` puts below its prefix, and the packages that cpack makes of it: the program, its manual pages,
# completion scripts for three shells, and libtwinstack (analyze/library).
include(GNUInstallDirs)
install(TARGETS twinstack)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")

if(NOT CMAKE_CROSSCOMPILING AND NOT WIN32)
  # The program prints its pages from the tables of its verbs.
  set(pages "${CMAKE_BINARY_DIR}/pages")
  add_custom_command(OUTPUT "${pages}/made"
    COMMAND "${CMAKE_COMMAND}" -D "tool=$<TARGET_FILE:twinstack>" -D "pages=${pages}" -P "${CMAKE_CURRENT_LIST_DIR}/pages.cmake"
    DEPENDS twinstack "${CMAKE_CURRENT_LIST_DIR}/pages.cmake" VERBATIM)
  add_custom_target(pages ALL DEPENDS "${pages}/made")
  install(DIRECTORY "${pages}/man1" DESTINATION "${CMAKE_INSTALL_MANDIR}")
  install(FILES "${pages}/twinstack" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
  install(FILES "${pages}/_twinstack" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions")
  install(FILES "${pages}/twinstack.fish" DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
endif()

set(CPACK_PACKAGE_VERSION "${TWINSTACK_RELEASE}")
set(CPACK_PACKAGE_VENDOR twinstack)
set(CPACK_PACKAGE_CONTACT "twinstack <twinstack@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE "${CMAKE_SOURCE_DIR}/LICENSE")
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
if(WIN32)
  set(CPACK_GENERATOR ZIP)
else()
  set(CPACK_GENERATOR DEB TXZ)
endif()
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libcurl4")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libnats3.4, nats-server")
include(CPack)
