# Libraries from the Debian release; packages.txt names their packages. What the library (not only
# the programs) links must also stand in npuscopeConfig.cmake.in.
list(APPEND CMAKE_MODULE_PATH ${PROJECT_SOURCE_DIR}/cmake)
find_package(fmt REQUIRED)
find_package(TBB REQUIRED)
find_package(tl-expected REQUIRED)
find_package(simdjson REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(CLI11 REQUIRED)
if(NPUSCOPE_BUILD_TESTS)
  find_package(nlohmann_json REQUIRED)
  find_package(Protobuf REQUIRED)
  find_package(ONNX REQUIRED)
endif()
find_package(xxHash REQUIRED)
find_package(re2 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(libdeflate REQUIRED)
find_package(zstd REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(xlsxwriter REQUIRED)  # loaded when it is needed; the wheel links it
find_path(CURL_INCLUDE_DIR curl/curl.h REQUIRED)  # headers only: the library is loaded when it is needed
find_path(PROTOZERO_INCLUDE_DIR protozero/pbf_reader.hpp REQUIRED)  # headers only
