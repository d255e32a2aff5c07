# Makes a header that holds the text of all files that match PATTERNS (separated by |) as NAME, in
# NAMESPACE.
# Run as: cmake -DPATTERNS=... -DNAMESPACE=... -DNAME=... -DOUTPUT=... -P embed_text.cmake
string(REPLACE "|" ";" patterns "${PATTERNS}")
file(GLOB files ${patterns})
set(entries "")
foreach(file ${files})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(APPEND entries "    {\"${name}\", R\"embedded(${text})embedded\"sv},\n")
endforeach()
file(WRITE ${OUTPUT}.new "// Made by cmake/embed_text.cmake.
#pragma once
#include <string_view>
#include <utility>
#ifdef __clang__
#pragma clang diagnostic ignored \"-Woverlength-strings\"
#endif
namespace ${NAMESPACE} {
using namespace std::string_view_literals;  // a constant's length need not be counted
inline constexpr std::pair<std::string_view, std::string_view> ${NAME}[] = {
${entries}};
}  // namespace ${NAMESPACE}
")
file(COPY_FILE ${OUTPUT}.new ${OUTPUT} ONLY_IF_DIFFERENT)
