# cmake --install build/release --prefix P: programs, static libraries, headers, the CMake package
# (find_package(npuscope COMPONENTS core formats)), licence and documents.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/npuscope)

install(DIRECTORY include/npuscope DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN *.hpp)
foreach(component core formats reference)
  install(EXPORT npuscopeTargets-${component} NAMESPACE npuscope:: DESTINATION ${package_folder})
endforeach()
configure_package_config_file(cmake/npuscopeConfig.cmake.in
  ${PROJECT_BINARY_DIR}/npuscopeConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/npuscopeConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/npuscopeConfig.cmake
        ${PROJECT_BINARY_DIR}/npuscopeConfigVersion.cmake cmake/FindxxHash.cmake
        cmake/Findre2.cmake cmake/Findxlsxwriter.cmake
        DESTINATION ${package_folder})

install(FILES LICENSE NOTICE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
install(DIRECTORY examples/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
