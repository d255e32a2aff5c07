# Installs the build, moves the installation elsewhere, builds examples/ against it as a project of
# its own, and profiles a model with the result and with the installed programs.
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE output
                  RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    string(REPLACE ";" " " command "${ARGN}")
    message(FATAL_ERROR "${command}\nended with ${status}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(expect_match text pattern what)
  if(NOT text MATCHES "${pattern}")
    message(FATAL_ERROR "${what}: expected ${pattern} in\n${text}")
  endif()
endfunction()

function(expect_file path)
  if(NOT EXISTS ${prefix}/${path})
    message(FATAL_ERROR "the installation lacks ${path}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
set(prefix ${WORK_DIR}/moved)
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/installed)
file(RENAME ${WORK_DIR}/installed ${prefix})

# A package of a fresh clone lacked what only a build of everything had made: completions and man pages.
run(ninja -C ${BUILD_DIR} -t commands npuscope_installed)
file(READ ${BUILD_DIR}/cmake_install.cmake script)
string(REGEX MATCHALL "\"${BUILD_DIR}/[^\"]+\"" taken "${script}")
foreach(file ${taken})
  string(REGEX REPLACE "^\"${BUILD_DIR}/|/?\"$" "" file ${file})
  if(file MATCHES "^CMakeFiles/|^npuscopeConfig|cmake_install.cmake$|^[$]")
    continue()  # made when the build was configured
  endif()
  string(FIND "${output}" "${file}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "${file} is installed, and npuscope_installed does not build it")
  endif()
endforeach()

# The programs, and what a user needs to have beside them.
run(${prefix}/bin/npuscope --version)
expect_match("${output}" "^npuscope ${VERSION}\ncommit " "npuscope --version")
run(${prefix}/bin/npuscope-model --help)
expect_match("${output}" "npuscope-model" "npuscope-model --help")
foreach(document LICENSE NOTICE README.md CHANGELOG.md docs/cli.md examples/profile_model.cpp examples/open_trace.cpp)
  expect_file(share/doc/npuscope/${document})
endforeach()
foreach(file man/man1/npuscope-show.1 man/man1/npuscope-model.1 bash-completion/completions/npuscope
        zsh/site-functions/_npuscope fish/vendor_completions.d/npuscope.fish)
  expect_file(share/${file})
endforeach()
file(GLOB_RECURSE headers RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/include/*.hpp)
foreach(header ${headers})
  expect_file(${header})
endforeach()

# Nothing installed for CMake points back into the source or build folder.
file(GLOB_RECURSE package_files ${prefix}/*.cmake)
foreach(package_file ${package_files})
  file(READ ${package_file} text)
  foreach(folder ${SOURCE_DIR} ${BUILD_DIR})
    string(FIND "${text}" "${folder}/" at)
    if(NOT at EQUAL -1)
      message(FATAL_ERROR "${package_file} names ${folder}")
    endif()
  endforeach()
endforeach()

# find_package(npuscope) in another project.
run(${CMAKE_COMMAND} -S ${prefix}/share/doc/npuscope/examples -B ${WORK_DIR}/build -G Ninja
    -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=Release)
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run(${WORK_DIR}/build/open_trace ${SOURCE_DIR}/tests/data/chrome/kineto.json)
expect_match("${output}" "wall 1000000 ticks" "what open_trace prints")
file(MAKE_DIRECTORY ${WORK_DIR}/resnet50)
run(${WORK_DIR}/build/profile_model ${SOURCE_DIR}/models/light_resnet50.onnx ${WORK_DIR}/resnet50)
expect_match("${output}" "aicconvolutiond32 +[1-9]" "what profile_model prints")
file(MAKE_DIRECTORY ${WORK_DIR}/squeezenet)
run(${WORK_DIR}/build/profile_model ${SOURCE_DIR}/models/light_squeezenet.onnx ${WORK_DIR}/squeezenet)
expect_match("${output}" "aicconvolutiond32 +[1-9]" "what profile_model prints")

# Who only opens profiles and asks needs no library of the reference NPU or of spreadsheets.
file(WRITE ${WORK_DIR}/only_open/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(only_open LANGUAGES CXX)
find_package(npuscope REQUIRED COMPONENTS core formats)
add_executable(only_open ${prefix}/share/doc/npuscope/examples/open_trace.cpp)
target_link_libraries(only_open PRIVATE npuscope::formats)
")
run(${CMAKE_COMMAND} -S ${WORK_DIR}/only_open -B ${WORK_DIR}/only_open/build -G Ninja
    -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_DISABLE_FIND_PACKAGE_ONNX=TRUE
    -DCMAKE_DISABLE_FIND_PACKAGE_Protobuf=TRUE -DCMAKE_DISABLE_FIND_PACKAGE_xlsxwriter=TRUE
    -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=TRUE)
run(${CMAKE_COMMAND} --build ${WORK_DIR}/only_open/build)
run(${WORK_DIR}/only_open/build/only_open ${SOURCE_DIR}/tests/data/chrome/kineto.json)
