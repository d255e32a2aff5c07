# re2::re2, the library of Debian's libre2-dev, which ships no CMake package of its own.
# Installed beside npuscopeConfig.cmake, because the static library needs it again.
include(FindPackageHandleStandardArgs)
find_path(RE2_INCLUDE_DIR re2/re2.h)
find_library(RE2_LIBRARY re2)
find_package_handle_standard_args(re2 REQUIRED_VARS RE2_LIBRARY RE2_INCLUDE_DIR)
if(re2_FOUND AND NOT TARGET re2::re2)
  add_library(re2::re2 UNKNOWN IMPORTED)
  set_target_properties(re2::re2 PROPERTIES IMPORTED_LOCATION ${RE2_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${RE2_INCLUDE_DIR})
endif()
