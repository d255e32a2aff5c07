# -P script: OUTPUT becomes a header with the commit of SOURCE, written only when it changes, so that
# nothing is compiled anew for the same one.
cmake_minimum_required(VERSION 3.25)
if(NOT COMMIT)
  execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD OUTPUT_VARIABLE COMMIT
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    set(COMMIT unknown)
  else()
    execute_process(COMMAND git -C ${SOURCE} diff --quiet HEAD RESULT_VARIABLE is_modified ERROR_QUIET)
    if(is_modified)
      string(APPEND COMMIT ", modified")
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define NPUSCOPE_COMMIT \"@COMMIT@\"\n" @ONLY)
