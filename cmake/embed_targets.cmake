# Makes npu/target/builtin_targets.hpp, which holds the text of every targets/*.toml.
# Run as: cmake -DSOURCE_DIR=... -DOUTPUT=... -P embed_targets.cmake
file(GLOB files ${SOURCE_DIR}/targets/*.toml)
set(entries "")
foreach(file ${files})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(APPEND entries "    {\"${name}\", R\"toml(${text})toml\"},\n")
endforeach()
file(WRITE ${OUTPUT}.new "// Made from targets/*.toml by cmake/embed_targets.cmake.
#pragma once
#include <string_view>
#include <utility>
namespace npuscope::npu {
inline constexpr std::pair<std::string_view, std::string_view> builtin_target_files[] = {
${entries}};
}  // namespace npuscope::npu
")
file(COPY_FILE ${OUTPUT}.new ${OUTPUT} ONLY_IF_DIFFERENT)
