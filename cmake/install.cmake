# cmake --install build/release --prefix P: programs, static libraries, headers, the CMake package
# (find_package(npuscope COMPONENTS core formats)), licence and documents. Components of the installation: runtime
# (programs, licence), dev (what links the library needs), doc; package.cmake makes packages of them.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/npuscope)

# npuscope_install_brought(SET FOLDER COMPONENT [EXCLUDE_FROM_ALL]): the libraries that the targets of a dependency set
# need, but for those of the C and C++ runtime, with the licence of each of them, where Debian keeps it.
function(npuscope_install_brought set folder component)
  install(RUNTIME_DEPENDENCY_SET ${set} COMPONENT ${component} ${ARGN} DESTINATION ${folder}
          PRE_EXCLUDE_REGEXES "^lib(c|m|gcc_s|stdc\\+\\+)\\.so" "^ld-linux"
          POST_EXCLUDE_REGEXES "/lib(c|m|gcc_s|stdc\\+\\+)\\.so" "/ld-linux")
  install(CODE "set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${folder}\")" COMPONENT ${component} ${ARGN})
  install(CODE [[
    file(GLOB libraries "${folder}/lib*.so*")
    foreach(library ${libraries})
      get_filename_component(name ${library} NAME)
      execute_process(COMMAND dpkg-query -S "*/${name}" OUTPUT_VARIABLE owners ERROR_QUIET)
      if(owners MATCHES "^([^:]+):")
        set(package ${CMAKE_MATCH_1})
        file(COPY_FILE /usr/share/doc/${package}/copyright "${folder}/${package}.copyright" RESULT copied)
      endif()
    endforeach()
  ]] COMPONENT ${component} ${ARGN})
endfunction()

install(DIRECTORY include/npuscope DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        COMPONENT dev FILES_MATCHING PATTERN *.hpp)
foreach(component core formats reference)
  install(EXPORT npuscopeTargets-${component} NAMESPACE npuscope:: DESTINATION ${package_folder}
          COMPONENT dev)
endforeach()
configure_package_config_file(cmake/npuscopeConfig.cmake.in
  ${PROJECT_BINARY_DIR}/npuscopeConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/npuscopeConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/npuscopeConfig.cmake
        ${PROJECT_BINARY_DIR}/npuscopeConfigVersion.cmake cmake/FindxxHash.cmake
        cmake/Findre2.cmake cmake/Findlibdeflate.cmake
        DESTINATION ${package_folder} COMPONENT dev)

# What an installation takes of the build, for ./dev package.
add_custom_target(npuscope_installed)
add_dependencies(npuscope_installed npuscope npuscope-fleet npuscope-model npuscope_core_library npuscope_formats_library
                 npuscope_reference_library)

# Made by the program itself, of its own flags (src/cli/description.hpp).
set(shell_files ${PROJECT_BINARY_DIR}/shell)
add_custom_command(OUTPUT ${shell_files}/made
  COMMAND ${CMAKE_COMMAND} -E make_directory ${shell_files}/man
  COMMAND npuscope completion --man-pages ${shell_files}/man
  COMMAND npuscope completion bash > ${shell_files}/npuscope
  COMMAND npuscope completion zsh > ${shell_files}/_npuscope
  COMMAND npuscope completion fish > ${shell_files}/npuscope.fish
  COMMAND npuscope-model --man-page > ${shell_files}/man/npuscope-model.1
  COMMAND ${CMAKE_COMMAND} -E touch ${shell_files}/made
  DEPENDS npuscope npuscope-fleet npuscope-model VERBATIM)
if(NOT NPUSCOPE_SANITIZE)
  add_custom_target(npuscope_shell_files ALL DEPENDS ${shell_files}/made)
  add_dependencies(npuscope_installed npuscope_shell_files)
  install(DIRECTORY ${shell_files}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 
          COMPONENT runtime FILES_MATCHING PATTERN *.1)
  install(FILES ${shell_files}/npuscope DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
          COMPONENT runtime)
  install(FILES ${shell_files}/_npuscope DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions
          COMPONENT runtime)
  install(FILES ${shell_files}/npuscope.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
          COMPONENT runtime)
endif()

install(FILES LICENSE NOTICE README.md SKILL.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR}
        COMPONENT runtime)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs COMPONENT doc)
install(DIRECTORY examples/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT doc)
