# npuscope_layer(FOLDER [HOT] ROOMS folders... COLD folders... LINKS libraries... BATCH files): the sources of
# src/FOLDER and of the folders named within it as one object library, at most so many files compiled
# together (else npuscope_batch_size). COLD are those of the folders (. is FOLDER
# itself) that no benchmark measures and no command spends its time in: compiled for a short build
# (npuscope_cold_options); HOT, a layer that large files go through (npuscope_hot_options).
# npuscope_library(COMPONENT FOLDERS...): these layers as the static library npuscope::COMPONENT, which needs the one
# named before; installed, but for `application`, which only the programs link.
# npuscope_program(NAME FOLDER SOURCES files...): a program from the .cpp files directly in FOLDER,
# and the files named.
set(npuscope_layers "" CACHE INTERNAL "")

add_library(npuscope_common INTERFACE)
target_include_directories(npuscope_common INTERFACE ${PROJECT_SOURCE_DIR}/include
                           ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(npuscope_common INTERFACE fmt::fmt TBB::tbb tl::expected)

# Headers are parsed once a batch, templates instantiated once: less than half of the work. A batch
# stays small enough that a change of one file is compiled again in seconds; all of a target are about
# equal.
function(npuscope_compile_in_batches target most)
  get_target_property(sources ${target} SOURCES)
  list(LENGTH sources files)
  math(EXPR batches "(${files} + ${most} - 1) / ${most}")
  math(EXPR size "(${files} + ${batches} - 1) / ${batches}")
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${NPUSCOPE_UNITY} UNITY_BUILD_BATCH_SIZE ${size})
endfunction()

# Preconditions of the standard library end the program where they do not hold. CHECKED FALSE: not in a release build, where
# they were 8 to 17 % of the instructions of what commands spend their time in (docs/robustness.md).
function(npuscope_harden target checked)
  target_compile_options(${target} PRIVATE ${npuscope_hardening_options})
  if(checked OR NOT CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_definitions(${target} PRIVATE _GLIBCXX_ASSERTIONS)
  endif()
endfunction()

function(npuscope_layer folder)
  cmake_parse_arguments(ARG "HOT" "BATCH" "ROOMS;COLD;LINKS" ${ARGN})
  if(NOT ARG_BATCH)
    set(ARG_BATCH ${npuscope_batch_size})
  endif()
  string(REPLACE "/" "_" name ${folder})
  foreach(room . ${ARG_ROOMS})
    file(GLOB found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/${room}/*.cpp)
    if(room IN_LIST ARG_COLD)
      list(APPEND cold_sources ${found})
    else()
      list(APPEND sources ${found})
    endif()
  endforeach()
  if(NOT sources)
    npuscope_objects(npuscope_${name} "${cold_sources}" "${ARG_LINKS}" ${ARG_BATCH} ${npuscope_cold_options})
    return()
  endif()
  npuscope_objects(npuscope_${name} "${sources}" "${ARG_LINKS}" ${ARG_BATCH})
  if(ARG_HOT)
    target_compile_options(npuscope_${name} PRIVATE ${npuscope_hot_options})
  endif()
  if(cold_sources)
    npuscope_objects(npuscope_${name}_cold "${cold_sources}" "${ARG_LINKS}" ${ARG_BATCH} ${npuscope_cold_options})
    target_link_libraries(npuscope_${name} INTERFACE $<TARGET_OBJECTS:npuscope_${name}_cold>)
  endif()
endfunction()

# npuscope_objects(TARGET SOURCES LINKS BATCH options...)
function(npuscope_objects target sources links batch)
  add_library(${target} OBJECT ${sources})
  npuscope_compile_in_batches(${target} ${batch})
  if(ARGN)  # cold
    npuscope_harden(${target} TRUE)
  else()
    npuscope_harden(${target} FALSE)
  endif()
  target_compile_options(${target} PRIVATE ${npuscope_compile_options} ${ARGN})
  target_link_libraries(${target} PUBLIC npuscope_common ${links})
  set(npuscope_layers ${npuscope_layers} ${target} CACHE INTERNAL "")
endfunction()

function(npuscope_library component)
  set(library npuscope_${component}_library)  # the program has the plain name
  add_library(${library} STATIC)
  set_target_properties(${library} PROPERTIES OUTPUT_NAME npuscope-${component} EXPORT_NAME ${component})
  foreach(folder ${ARGN})
    string(REPLACE "/" "_" name ${folder})
    foreach(layer npuscope_${name} npuscope_${name}_cold)
      if(NOT TARGET ${layer})
        continue()
      endif()
      target_sources(${library} PRIVATE $<TARGET_OBJECTS:${layer}>)
      get_target_property(links ${layer} LINK_LIBRARIES)
      list(REMOVE_ITEM links npuscope_common)
      target_link_libraries(${library} PRIVATE ${links})
    endforeach()
  endforeach()
  target_link_libraries(${library} PUBLIC ${npuscope_last_library} fmt::fmt TBB::tbb tl::expected)
  target_include_directories(${library} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
  target_compile_features(${library} PUBLIC cxx_std_20)
  set(npuscope_last_library ${library} PARENT_SCOPE)
  if(NOT component STREQUAL application)
    install(TARGETS ${library} EXPORT npuscopeTargets-${component} COMPONENT dev)
  endif()
endfunction()

function(npuscope_program name folder)
  cmake_parse_arguments(ARG "" "" "SOURCES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(${name} ${sources} ${ARG_SOURCES})
  npuscope_compile_in_batches(${name} ${npuscope_batch_size})
  npuscope_harden(${name} TRUE)
  target_compile_options(${name} PRIVATE ${npuscope_compile_options} ${npuscope_cold_options})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(${name} PRIVATE NPUSCOPE_VERSION="${PROJECT_VERSION}")
  target_link_libraries(${name} PRIVATE npuscope_application_library CLI11::CLI11
                        tomlplusplus::tomlplusplus)
  # Where the archive of package.cmake has the libraries that it brings; the old tag counts for those that these
  # need, too.
  set_target_properties(${name} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/npuscope")
  target_link_options(${name} PRIVATE -Wl,--disable-new-dtags)
  install(TARGETS ${name} RUNTIME_DEPENDENCY_SET npuscope_brought COMPONENT runtime)
endfunction()

# npuscope_embed(LAYER HEADER NAMESPACE NAME PATTERNS...): the text of the files becomes part of the
# program, as the constant NAME of HEADER.
function(npuscope_embed layer header namespace name)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE patterns)
  file(GLOB inputs CONFIGURE_DEPENDS ${patterns})
  string(REPLACE ";" "|" patterns "${patterns}")
  set(output ${PROJECT_BINARY_DIR}/generated/${header})
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed_text.cmake)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} "-DPATTERNS=${patterns}" -DNAMESPACE=${namespace}
            -DNAME=${name} -DOUTPUT=${output} -P ${script}
    DEPENDS ${inputs} ${script} VERBATIM)
  target_sources(${layer} PRIVATE ${output})
  target_include_directories(${layer} PRIVATE ${PROJECT_BINARY_DIR}/generated)
endfunction()
