# Libraries from the Debian release; packages.txt names their packages.
find_package(fmt REQUIRED)
find_package(TBB REQUIRED)
find_package(tl-expected REQUIRED)
find_package(simdjson REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Protobuf REQUIRED)
find_package(ONNX REQUIRED)
find_package(ZLIB REQUIRED)

find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
find_library(XXHASH_LIBRARY xxhash REQUIRED)
add_library(xxHash::xxhash UNKNOWN IMPORTED)
set_target_properties(xxHash::xxhash PROPERTIES IMPORTED_LOCATION ${XXHASH_LIBRARY}
                      INTERFACE_INCLUDE_DIRECTORIES ${XXHASH_INCLUDE_DIR})
