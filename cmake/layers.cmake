# npuscope_layer(FOLDER [COLD] ROOMS folders... LINKS libraries...): the sources of src/FOLDER and of
# the folders named within it as one object library. COLD: no command waits for its code, so it is
# compiled for a short build (npuscope_cold_options).
# npuscope_library(): all layers so far as the installed static library npuscope.
# npuscope_program(NAME FOLDER SOURCES files...): a program from the .cpp files directly in FOLDER,
# and the files named.
set(npuscope_layers "" CACHE INTERNAL "")

add_library(npuscope_common INTERFACE)
target_include_directories(npuscope_common INTERFACE ${PROJECT_SOURCE_DIR}/include
                           ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(npuscope_common INTERFACE fmt::fmt TBB::tbb tl::expected)

# Headers are parsed once a batch, templates instantiated once: less than half of the work. A batch
# stays small enough that a change of one file is compiled again in seconds.
function(npuscope_compile_in_batches target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${NPUSCOPE_UNITY}
                        UNITY_BUILD_BATCH_SIZE ${npuscope_batch_size})
endfunction()

function(npuscope_layer folder)
  cmake_parse_arguments(ARG "COLD" "" "ROOMS;LINKS" ${ARGN})
  string(REPLACE "/" "_" name ${folder})
  set(patterns ${PROJECT_SOURCE_DIR}/src/${folder}/*.cpp)
  foreach(room ${ARG_ROOMS})
    list(APPEND patterns ${PROJECT_SOURCE_DIR}/src/${folder}/${room}/*.cpp)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  if(NOT sources)
    return()
  endif()
  add_library(npuscope_${name} OBJECT ${sources})
  npuscope_compile_in_batches(npuscope_${name})
  target_compile_options(npuscope_${name} PRIVATE ${npuscope_compile_options})
  if(ARG_COLD)
    target_compile_options(npuscope_${name} PRIVATE ${npuscope_cold_options})
  endif()
  target_link_libraries(npuscope_${name} PUBLIC npuscope_common ${ARG_LINKS})
  set(npuscope_layers ${npuscope_layers} npuscope_${name} CACHE INTERNAL "")
endfunction()

function(npuscope_library)
  add_library(npuscope STATIC)
  add_library(npuscope::npuscope ALIAS npuscope)
  foreach(layer ${npuscope_layers})
    target_sources(npuscope PRIVATE $<TARGET_OBJECTS:${layer}>)
    get_target_property(links ${layer} LINK_LIBRARIES)
    list(REMOVE_ITEM links npuscope_common)
    target_link_libraries(npuscope PRIVATE ${links})
  endforeach()
  target_link_libraries(npuscope PUBLIC fmt::fmt TBB::tbb tl::expected)
  target_include_directories(npuscope PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
  target_compile_features(npuscope PUBLIC cxx_std_20)
endfunction()

function(npuscope_program name folder)
  cmake_parse_arguments(ARG "" "" "SOURCES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
  if(NOT sources)
    return()
  endif()
  set(target ${name}-program)  # the library has the plain name
  add_executable(${target} ${sources} ${ARG_SOURCES})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name})
  npuscope_compile_in_batches(${target})
  target_compile_options(${target} PRIVATE ${npuscope_compile_options} ${npuscope_cold_options})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(${target} PRIVATE NPUSCOPE_VERSION="${PROJECT_VERSION}")
  target_link_libraries(${target} PRIVATE npuscope CLI11::CLI11 nlohmann_json::nlohmann_json)
  install(TARGETS ${target})
endfunction()

# npuscope_embed(LAYER FOLDER HEADER NAMESPACE NAME): the text of FOLDER/*.toml becomes part of the
# program, as the constant NAME of HEADER.
function(npuscope_embed layer folder header namespace name)
  file(GLOB inputs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.toml)
  set(output ${PROJECT_BINARY_DIR}/generated/${header})
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed_toml.cmake)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${PROJECT_SOURCE_DIR}/${folder} -DNAMESPACE=${namespace}
            -DNAME=${name} -DOUTPUT=${output} -P ${script}
    DEPENDS ${inputs} ${script})
  target_sources(${layer} PRIVATE ${output})
  target_include_directories(${layer} PRIVATE ${PROJECT_BINARY_DIR}/generated)
endfunction()
