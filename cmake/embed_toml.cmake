# Makes a header that holds the text of every *.toml of a folder as NAME, in NAMESPACE.
# Run as: cmake -DFOLDER=... -DNAMESPACE=... -DNAME=... -DOUTPUT=... -P embed_toml.cmake
file(GLOB files ${FOLDER}/*.toml)
get_filename_component(folder ${FOLDER} NAME)
set(entries "")
foreach(file ${files})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(APPEND entries "    {\"${name}\", R\"toml(${text})toml\"},\n")
endforeach()
file(WRITE ${OUTPUT}.new "// Made from ${folder}/*.toml by cmake/embed_toml.cmake.
#pragma once
#include <string_view>
#include <utility>
namespace ${NAMESPACE} {
inline constexpr std::pair<std::string_view, std::string_view> ${NAME}[] = {
${entries}};
}  // namespace ${NAMESPACE}
")
file(COPY_FILE ${OUTPUT}.new ${OUTPUT} ONLY_IF_DIFFERENT)
