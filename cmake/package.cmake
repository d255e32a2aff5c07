# Packages, by ./dev package: Debian packages of the installation's components, and an archive of the programs with
# the libraries that they need, but for those of the C and C++ runtime (glibc 2.34, libstdc++ of GCC 11: Debian 12,
# Ubuntu 22.04, RHEL 9 or newer), that runs from any folder and needs no root.
# Opened by name.
install(IMPORTED_RUNTIME_ARTIFACTS xlsxwriter::xlsxwriter RUNTIME_DEPENDENCY_SET npuscope_brought
        LIBRARY DESTINATION lib/npuscope COMPONENT brought)
npuscope_install_brought(npuscope_brought lib/npuscope brought)

set(CPACK_PACKAGE_NAME npuscope)
set(CPACK_PACKAGE_VENDOR "npuscope")
set(CPACK_PACKAGE_CONTACT "the npuscope authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGE_DESCRIPTION "Opens what NPUs and their tools record (Qualcomm Cloud AI 100 and QNN HTP, Synaptics Torq,
SigmaStar IPU, Chrome and Perfetto traces) and says where the time goes and what to do about it.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_SYSTEM_NAME linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_COMPONENTS_ALL runtime dev doc)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/package_of_generator.cmake)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME npuscope)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
npuscope_read_version(soversion ${XLSXWRITER_INCLUDE_DIR}/xlsxwriter.h LXW_SOVERSION)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS libxlsxwriter${soversion})  # opened by name
# Opened by name, and only for fleets on ClickHouse. The archive takes the one of the machine: who brings a library of
# TLS has to keep it mended.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS libcurl4)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libnpuscope-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DOC_PACKAGE_NAME npuscope-doc)
set(CPACK_DEBIAN_DOC_PACKAGE_SECTION doc)
set(CPACK_DEBIAN_DOC_PACKAGE_ARCHITECTURE all)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "The programs npuscope, npuscope-fleet and npuscope-model.")
set(CPACK_COMPONENT_DEV_DESCRIPTION "Headers, static libraries and CMake package.")
set(CPACK_COMPONENT_DOC_DESCRIPTION "Documentation and examples.")
# Who links the static libraries needs what they are built on: the list of packages.txt.
file(STRINGS packages.txt lines)
set(is_library FALSE)
set(libraries "")
foreach(line ${lines})
  if(line MATCHES "^# ")
    string(COMPARE EQUAL "${line}" "# libraries" is_library)
  elseif(is_library)
    list(APPEND libraries ${line})
  endif()
endforeach()
list(JOIN libraries ", " CPACK_DEBIAN_DEV_PACKAGE_DEPENDS)
include(CPack)
