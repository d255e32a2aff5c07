# Read by cpack when the generator is known: the archive has the programs and what they bring.
if(CPACK_GENERATOR STREQUAL "TGZ")
  list(GET CPACK_INSTALL_CMAKE_PROJECTS 0 build)
  set(CPACK_INSTALL_CMAKE_PROJECTS "")
  foreach(component runtime brought doc)
    list(APPEND CPACK_INSTALL_CMAKE_PROJECTS ${build} npuscope ${component} /)
  endforeach()
endif()
