# npuscope_layer(FOLDER NEEDS layers... ROOMS folders... HOT folders... COLD folders... LINKS libraries... BATCH files): the
# sources of src/FOLDER and of the folders named within it as object libraries, at most so many files compiled together
# (else npuscope_batch_size). NEEDS are the layers that it includes, next to `base`, which all may: who links a layer
# links these, too, and a test holds the includes to them. `.` is FOLDER itself. HOT are those that large files go through, COLD those that no benchmark
# measures and no command spends its time in (npuscope_hot_options, npuscope_cold_options).
# npuscope_library(COMPONENT FOLDERS...): these layers as the static library npuscope::COMPONENT, which needs the one
# named before; installed, but for `application` and `fleet`, which only the programs link.
# npuscope_program(NAME LIBRARIES...): a program with these and with what all have of a command line; who asks adds its sources.

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

# WAY is how code is compiled: hot (large files go through it), warm, cold (no benchmark measures it, no command spends its
# time in it), test. Preconditions of the standard library end the program where they do not hold, but in hot and warm code
# of a release build, where they were 8 to 17 % of the instructions of what commands spend their time in
# (docs/robustness.md).
function(npuscope_compile_as way target)
  # PIC also where a program would do with PIE: precompiled headers are of one or the other. No function of ours is
  # replaced at run time: without saying so, GCC inlines none that has a name outside its file.
  target_compile_options(${target} PRIVATE ${npuscope_compile_options} -fPIC -fno-semantic-interposition
                         ${npuscope_${way}_options})
  if(way STREQUAL test)
    # As GTest::gtest has it: of a precompiled header all definitions must be the same.
    target_compile_definitions(${target} PRIVATE GTEST_HAS_PTHREAD=1)
  else()
    target_compile_options(${target} PRIVATE ${npuscope_hardening_options})
    if(way STREQUAL cold OR NOT CMAKE_BUILD_TYPE STREQUAL "Release")
      target_compile_definitions(${target} PRIVATE _GLIBCXX_ASSERTIONS)
    endif()
  endif()
  set(headers npuscope_headers_${way})
  if(TARGET ${headers} AND NOT target STREQUAL headers)
    target_precompile_headers(${target} REUSE_FROM ${headers})
  endif()
endfunction()

# The source file of a target that has only what others compiled.
set(npuscope_nothing ${PROJECT_BINARY_DIR}/generated/nothing.cpp)
file(CONFIGURE OUTPUT ${npuscope_nothing} CONTENT "")

# npuscope_precompile(WAY HEADER): what every file reads is parsed once for all that is compiled this way.
function(npuscope_precompile way header)
  # Only batches: who compiles each file alone wants to know whether it includes what it needs.
  if(NOT NPUSCOPE_UNITY OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  set(target npuscope_headers_${way})
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${npuscope_nothing})
  npuscope_compile_as(${way} ${target})
  target_link_libraries(${target} PRIVATE npuscope_common)
  # By a name that is the same in every clone: ccache finds it again.
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_precompile_headers(${target} PRIVATE <${header}>)
endfunction()
foreach(way hot warm cold)
  npuscope_precompile(${way} base/precompiled.hpp)
endforeach()

function(npuscope_layer folder)
  cmake_parse_arguments(ARG "" "BATCH" "NEEDS;ROOMS;HOT;COLD;LINKS" ${ARGN})
  npuscope_describe_layer(${folder} NEEDS ${ARG_NEEDS} LINKS ${ARG_LINKS})
  if(NOT ARG_BATCH)
    set(ARG_BATCH ${npuscope_batch_size})
  endif()
  string(REPLACE "/" "_" name ${folder})
  foreach(room . ${ARG_ROOMS})
    file(GLOB found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/${room}/*.cpp)
    if(room IN_LIST ARG_HOT)
      list(APPEND hot_sources ${found})
    elseif(room IN_LIST ARG_COLD)
      list(APPEND cold_sources ${found})
    else()
      list(APPEND warm_sources ${found})
    endif()
  endforeach()
  add_library(npuscope_${name} INTERFACE)
  foreach(way hot warm cold)
    if(NOT ${way}_sources)
      continue()
    endif()
    set(part npuscope_${name}_${way})
    add_library(${part} OBJECT ${${way}_sources})
    npuscope_compile_in_batches(${part} ${ARG_BATCH})
    npuscope_compile_as(${way} ${part})
    target_link_libraries(${part} PUBLIC npuscope_common ${ARG_LINKS})
    set_property(TARGET npuscope_${name} APPEND PROPERTY npuscope_parts ${part})
    target_sources(npuscope_${name} INTERFACE $<TARGET_OBJECTS:${part}>)
  endforeach()
  set_property(TARGET npuscope_${name} PROPERTY npuscope_links ${ARG_LINKS})
  list(TRANSFORM ARG_NEEDS REPLACE "/" "_")
  list(TRANSFORM ARG_NEEDS PREPEND npuscope_)
  target_link_libraries(npuscope_${name} INTERFACE ${ARG_LINKS} ${ARG_NEEDS})
  if(NOT folder STREQUAL base)
    target_link_libraries(npuscope_${name} INTERFACE npuscope_base)
  endif()
endfunction()

# npuscope_describe_layer(FOLDER NEEDS layers... LINKS libraries...): a line of what npuscope_write_layers(FILE) writes, for
# the test of what the sources of a layer include.
function(npuscope_describe_layer)
  string(JOIN " " line ${ARGN})
  set_property(GLOBAL APPEND_STRING PROPERTY npuscope_layers "${line}\n")
endfunction()
function(npuscope_write_layers file)
  get_property(lines GLOBAL PROPERTY npuscope_layers)
  file(CONFIGURE OUTPUT ${file} CONTENT "${lines}")
endfunction()

function(npuscope_library component)
  set(library npuscope_${component}_library)  # the program has the plain name
  add_library(${library} STATIC)
  set_target_properties(${library} PROPERTIES OUTPUT_NAME npuscope-${component} EXPORT_NAME ${component})
  foreach(folder ${ARGN})
    string(REPLACE "/" "_" name ${folder})
    get_target_property(parts npuscope_${name} npuscope_parts)
    foreach(part ${parts})
      target_sources(${library} PRIVATE $<TARGET_OBJECTS:${part}>)
    endforeach()
    get_target_property(links npuscope_${name} npuscope_links)
    if(links)
      target_link_libraries(${library} PRIVATE ${links})
    endif()
  endforeach()
  target_link_libraries(${library} PUBLIC ${npuscope_last_library} fmt::fmt TBB::tbb tl::expected)
  target_include_directories(${library} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
  target_compile_features(${library} PUBLIC cxx_std_20)
  set(npuscope_last_library ${library} PARENT_SCOPE)
  if(NOT component MATCHES "^(application|fleet)$")
    install(TARGETS ${library} EXPORT npuscopeTargets-${component} COMPONENT dev)
  endif()
endfunction()

# npuscope_cli_part(TARGET SOURCES...): files of src/cli that several programs have.
function(npuscope_cli_part target)
  add_library(${target} OBJECT ${ARGN})
  npuscope_compile_in_batches(${target} ${npuscope_batch_size})
  npuscope_compile_as(cold ${target})
  target_compile_definitions(${target} PRIVATE NPUSCOPE_VERSION="${PROJECT_VERSION}")
  target_link_libraries(${target} PUBLIC npuscope_common)
endfunction()

function(npuscope_program name)
  npuscope_plain_program(${name} ${ARGN})
  # Where the archive of package.cmake has the libraries that it brings.
  set_target_properties(${name} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/npuscope")
  install(TARGETS ${name} RUNTIME_DEPENDENCY_SET npuscope_brought COMPONENT runtime)
endfunction()

# npuscope_plain_program(NAME LIBRARIES...): the same, not installed.
function(npuscope_plain_program name)
  add_executable(${name})
  npuscope_compile_as(cold ${name})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(${name} PRIVATE NPUSCOPE_VERSION="${PROJECT_VERSION}")
  target_link_libraries(${name} PRIVATE npuscope_command_line npuscope_version ${ARGN})
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${NPUSCOPE_UNITY} UNITY_BUILD_BATCH_SIZE ${npuscope_batch_size})
  # The old tag of a path to libraries counts for those that these need, too.
  target_link_options(${name} PRIVATE -Wl,--disable-new-dtags)
  # Symbols are looked for library by library, most of them to be found in this one.
  target_link_options(${name} PRIVATE -Wl,--push-state,--no-as-needed -lstdc++ -Wl,--pop-state)
endfunction()

# npuscope_embed(FOLDER HEADER NAMESPACE NAME PATTERNS...): the text of the files becomes part of the
# program, as the constant NAME of HEADER.
function(npuscope_embed folder header namespace name)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE patterns)
  file(GLOB inputs CONFIGURE_DEPENDS ${patterns})
  string(REPLACE ";" "|" patterns "${patterns}")
  set(output ${PROJECT_BINARY_DIR}/generated/${header})
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed_text.cmake)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} "-DPATTERNS=${patterns}" -DNAMESPACE=${namespace}
            -DNAME=${name} -DOUTPUT=${output} -P ${script}
    DEPENDS ${inputs} ${script} VERBATIM)
  npuscope_add_generated(${folder} ${output})
endfunction()

# npuscope_embed_toml(FOLDER HEADER NAMESPACE NAME PATTERNS...): what TOML files say (profile/embedded_toml.hpp), likewise.
function(npuscope_embed_toml folder header namespace name)
  if(NOT TARGET embed_toml)
    add_executable(embed_toml ${PROJECT_SOURCE_DIR}/cmake/embed_toml.cpp)
    target_compile_features(embed_toml PRIVATE cxx_std_20)
    target_link_libraries(embed_toml PRIVATE npuscope_common tomlplusplus::tomlplusplus)
  endif()
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE patterns)
  file(GLOB inputs CONFIGURE_DEPENDS ${patterns})
  set(output ${PROJECT_BINARY_DIR}/generated/${header})
  cmake_path(GET output PARENT_PATH parent)
  file(MAKE_DIRECTORY ${parent})
  add_custom_command(OUTPUT ${output} COMMAND embed_toml ${output} ${namespace} ${name} ${inputs}
    DEPENDS embed_toml ${inputs} VERBATIM)
  npuscope_add_generated(${folder} ${output})
endfunction()

function(npuscope_add_generated folder output)
  string(REPLACE "/" "_" layer ${folder})
  get_target_property(parts npuscope_${layer} npuscope_parts)
  foreach(part ${parts})
    target_sources(${part} PRIVATE ${output})
    target_include_directories(${part} PRIVATE ${PROJECT_BINARY_DIR}/generated)
  endforeach()
endfunction()
