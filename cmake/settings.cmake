# How everything is compiled.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

option(NPUSCOPE_BUILD_TESTS "Build the tests; the benchmarks are built by name" ON)
option(NPUSCOPE_BUILD_PYTHON "Build the Python module" OFF)
option(NPUSCOPE_TEST_PYTHON "Test it, which needs the packages of packages.txt under python" OFF)
option(NPUSCOPE_UNITY "Compile the files of a layer in batches" ON)
set(NPUSCOPE_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined")
# A fifth of the compile time of gcc's sanitizers. Access through a null pointer ends a program in any case.
set(NPUSCOPE_NOT_SANITIZE "" CACHE STRING "Checks of those sanitizers that are left out, e.g. null,alignment")
set(NPUSCOPE_TEST_OBJECTS "" CACHE PATH "Folder test_objects of a build by the same compiler, whose tests are linked")

find_program(CCACHE ccache)
if(CCACHE)
  # What ccache must know of precompiled headers (its manual); __TIME__ stands nowhere.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-fpch-preprocess)
  endif()
endif()

set(npuscope_batch_size 30)
set(npuscope_test_batch_size 15)
# Of code that no command waits for, and of tests. It stands after the configuration's -O3.
set(npuscope_cold_options $<$<CONFIG:Release>:-Og>)
set(npuscope_test_options ${npuscope_cold_options})
set(npuscope_warm_options $<$<CONFIG:Release>:-O2>)

# Same input, same bytes, on any machine: no fused multiply-add behind our back.
set(npuscope_compile_options -Wall -Wextra -Wpedantic -Werror -Wnon-virtual-dtor -ffp-contract=off)
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND npuscope_compile_options -fsigned-char)  # where it is not the machine's own choice
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC bug 105651: false alarms on "text" + std::string(...).
  list(APPEND npuscope_compile_options -Wno-restrict)
  if(NPUSCOPE_SANITIZE OR NPUSCOPE_UNITY)
    # GCC's manual: sanitizers make this warning fire on code that is right; so does more inlining.
    list(APPEND npuscope_compile_options -Wno-maybe-uninitialized)
  endif()
  if(NPUSCOPE_UNITY)
    # Of precompiled headers GCC forgets that they are the system's: false alarms on std::string.
    list(APPEND npuscope_compile_options -Wno-array-bounds -Wno-stringop-overflow
         -Wno-stringop-overread)
  endif()
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # A tenth of GCC's time is the collection of its own garbage; a batch fits memory without.
  add_compile_options(--param=ggc-min-heapsize=2000000)
  # GCC inlines less in a large unit. Readers and writers of large files need it as in small ones,
  # for a fifth more of their compile time.
  set(npuscope_hot_options $<$<CONFIG:Release>:--param=large-unit-insns=100000>)
endif()
# In a batch a local name may be that of a constant of another file: only presets without batches
# warn of those.
if(NOT NPUSCOPE_UNITY)
  list(APPEND npuscope_compile_options -Wshadow)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND npuscope_compile_options -Wshadow=local)
endif()
# What layers and programs get, tests do not: what a fault could be turned into. docs/robustness.md says what that costs.
set(npuscope_hardening_options "")
if(NOT NPUSCOPE_SANITIZE)  # sanitizers look at the same calls, and replace them
  list(APPEND npuscope_hardening_options -fstack-protector-strong -fstack-clash-protection
       $<$<CONFIG:Release>:-D_FORTIFY_SOURCE=2>)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(APPEND npuscope_hardening_options -fcf-protection)
  elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    list(APPEND npuscope_hardening_options -mbranch-protection=standard)
  endif()
endif()
include(CheckPIESupported)
check_pie_supported(OUTPUT_VARIABLE why_programs_have_a_fixed_address LANGUAGES CXX)
add_link_options(LINKER:-z,relro,-z,now,-z,noexecstack,-z,text)
# Same sources, same bytes, in whichever folder they are built (./dev test-reproducible).
list(APPEND npuscope_hardening_options $<$<CONFIG:Release>:-ffile-prefix-map=${PROJECT_BINARY_DIR}/=>
     $<$<CONFIG:Release>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>)
if(NPUSCOPE_SANITIZE)
  add_compile_options(-fsanitize=${NPUSCOPE_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  if(NPUSCOPE_NOT_SANITIZE)
    add_compile_options(-fno-sanitize=${NPUSCOPE_NOT_SANITIZE})
  endif()
  add_link_options(-fsanitize=${NPUSCOPE_SANITIZE})
endif()
