# The versions of the libraries, for -V, found when the build is configured: reading them from the headers cost more
# than any other file of the command line. generated/cli/library_versions.hpp has them, a line per library:
#
#   {"zlib", "1.2.13"},
#
# npuscope_read_version(VARIABLE HEADER MACROS...): what the header defines these as, joined by dots; empty: it does not.
function(npuscope_read_version variable header)
  set(version)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
  foreach(macro ${ARGN})
    if(EXISTS ${header})
      file(STRINGS ${header} line REGEX "^#define ${macro}[ \t]" LIMIT_COUNT 1)
      if(line MATCHES "${macro}[ \t]+\"?([0-9.]+)")
        list(APPEND version ${CMAKE_MATCH_1})
      endif()
    endif()
  endforeach()
  list(JOIN version "." version)
  set(${variable} "${version}" PARENT_SCOPE)
endfunction()

npuscope_read_version(zlib_version ${ZLIB_INCLUDE_DIR}/zlib.h ZLIB_VERSION)
npuscope_read_version(libdeflate_version ${LIBDEFLATE_INCLUDE_DIR}/libdeflate.h LIBDEFLATE_VERSION_STRING)
npuscope_read_version(xxhash_version ${XXHASH_INCLUDE_DIR}/xxhash.h XXH_VERSION_MAJOR XXH_VERSION_MINOR
                      XXH_VERSION_RELEASE)
npuscope_read_version(xlsxwriter_version ${XLSXWRITER_INCLUDE_DIR}/xlsxwriter.h LXW_VERSION)
string(REGEX MATCH "^[0-9]+\\.[0-9]+" tbb_version "${TBB_VERSION}")

set(libraries  # pairs, in the order of -V
  CLI11 "${CLI11_VERSION}"
  fmt "${fmt_VERSION}"
  libdeflate "${libdeflate_version}"
  simdjson "${simdjson_VERSION}"
  SQLite "${SQLite3_VERSION}"
  TBB "${tbb_version}"
  toml++ "${tomlplusplus_VERSION}"
  xlsxwriter "${xlsxwriter_version}"
  xxHash "${xxhash_version}"
  zlib "${zlib_version}"
  zstd "${zstd_VERSION}")
set(rows)
while(libraries)
  list(POP_FRONT libraries library version)
  if(version STREQUAL "")
    message(WARNING "The version of ${library} is not known; npuscope -V says so")
    set(version unknown)
  endif()
  string(APPEND rows "    {\"${library}\", \"${version}\"},\n")
endwhile()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/cli/library_versions.hpp @ONLY CONTENT
"// Made by cmake/library_versions.cmake.
#pragma once
namespace npuscope::cli {
struct LibraryVersion {
  const char* library;
  const char* version;
};
inline constexpr LibraryVersion library_versions[] = {
@rows@};
}  // namespace npuscope::cli
")
