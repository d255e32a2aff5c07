# xlsxwriter::xlsxwriter, the library of Debian's libxlsxwriter-dev, which ships no CMake package of its
# own.
include(FindPackageHandleStandardArgs)
find_path(XLSXWRITER_INCLUDE_DIR xlsxwriter.h)
find_library(XLSXWRITER_LIBRARY xlsxwriter)
find_package_handle_standard_args(xlsxwriter REQUIRED_VARS XLSXWRITER_LIBRARY XLSXWRITER_INCLUDE_DIR)
if(xlsxwriter_FOUND AND NOT TARGET xlsxwriter::xlsxwriter)
  file(REAL_PATH ${XLSXWRITER_LIBRARY} file)  # which is installed where libraries are brought
  add_library(xlsxwriter::xlsxwriter SHARED IMPORTED)
  set_target_properties(xlsxwriter::xlsxwriter PROPERTIES IMPORTED_LOCATION ${file}
                        INTERFACE_INCLUDE_DIRECTORIES ${XLSXWRITER_INCLUDE_DIR})
endif()
