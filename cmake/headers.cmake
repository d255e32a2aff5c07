# The target `headers`: every header of the project, and every library's that it includes, as a source
# file of its own. So each header proves that it compiles alone, and ninja's log says what reading it
# costs (./dev build-times). A plain build leaves the target out.
set(headers)  # pairs: what the source file is called, what it includes
set(includes_of_libraries)
foreach(root include src tests bench)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/${root}
       ${PROJECT_SOURCE_DIR}/${root}/*.hpp)
  foreach(header ${found})
    list(APPEND headers "${root}/${header}" "\"${header}\"")
  endforeach()
  file(GLOB_RECURSE found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${root}/*.?pp)
  foreach(source ${found})
    file(STRINGS ${source} lines REGEX "^#include <.*/")
    list(APPEND includes_of_libraries ${lines})
  endforeach()
endforeach()
list(REMOVE_DUPLICATES includes_of_libraries)
foreach(line ${includes_of_libraries})
  string(REGEX REPLACE "^#include <([^>]*)>.*" "\\1" header "${line}")
  list(APPEND headers "library/${header}" "<${header}>")
endforeach()

set(sources)
while(headers)
  list(POP_FRONT headers name included)
  set(source ${PROJECT_BINARY_DIR}/headers/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "#include ${included}\n")
  list(APPEND sources ${source})
endwhile()
add_library(headers OBJECT EXCLUDE_FROM_ALL ${sources})
target_compile_options(headers PRIVATE ${npuscope_compile_options} -O0)
target_compile_definitions(headers PRIVATE NPUSCOPE_TEST_DATA="" NPUSCOPE_SOURCE_DIR=""
  NPUSCOPE_SHARED_DIR="" NPUSCOPE_PROGRAM="" NPUSCOPE_MODEL_PROGRAM="")
target_include_directories(headers PRIVATE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/bench
                           ${PROJECT_BINARY_DIR}/generated)
target_link_libraries(headers PRIVATE npuscope_common CLI11::CLI11 $<TARGET_NAME_IF_EXISTS:nlohmann_json::nlohmann_json>
  simdjson::simdjson tomlplusplus::tomlplusplus SQLite::SQLite3 re2::re2 $<TARGET_NAME_IF_EXISTS:onnx_proto>)
