# SPDX-License-Identifier: MIT
# gs_test(NAME name SOURCES file… [LIBS lib…] [ARGS arg…] [TIMEOUT seconds] [LABELS label…] [ENVIRONMENT A=b…])
# One cmocka program per behaviour. It exits 77 to say that it was skipped. The test folder's name is a label of its own.
function(gs_test)
  cmake_parse_arguments(T "" "NAME;TIMEOUT" "SOURCES;LIBS;ARGS;LABELS;ENVIRONMENT" ${ARGN})
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 60)
  endif()
  get_filename_component(room ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  add_executable(test_${T_NAME} ${T_SOURCES})
  set_target_properties(test_${T_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_link_libraries(test_${T_NAME} PRIVATE cmocka ${T_LIBS})
  add_test(NAME ${T_NAME} COMMAND test_${T_NAME} ${T_ARGS})
  set_tests_properties(${T_NAME} PROPERTIES TIMEOUT ${T_TIMEOUT} SKIP_RETURN_CODE 77 LABELS "${room};${T_LABELS}"
                       ENVIRONMENT "${T_ENVIRONMENT}")
endfunction()

# gs_script_test(NAME name SCRIPT file [ARGS …] [TIMEOUT seconds] [LABELS …] [ENVIRONMENT …] [SERIAL])
# A shell script that drives the real programs. It gets GS_BUILD and GS_SOURCE, and a private folder as its
# working directory, and finds `gpusparc` on its PATH. No daemon answers it but one that it begins itself: by a machine's
# own, launches go otherwise than the tests expect. The time limit is for hangs: on a fresh machine PoCL's own cache is
# empty, and the first run of each kernel compiles it.
function(gs_script_test)
  cmake_parse_arguments(T "SERIAL" "NAME;SCRIPT;TIMEOUT" "ARGS;LABELS;ENVIRONMENT" ${ARGN})
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 600)
  endif()
  get_filename_component(room ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  set(dir ${CMAKE_BINARY_DIR}/tests/run/${T_NAME})
  file(MAKE_DIRECTORY ${dir})
  add_test(NAME ${T_NAME} COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/${T_SCRIPT} ${T_ARGS} WORKING_DIRECTORY ${dir})
  set_tests_properties(${T_NAME} PROPERTIES TIMEOUT ${T_TIMEOUT} SKIP_RETURN_CODE 77 LABELS "${room};${T_LABELS}")
  set_tests_properties(${T_NAME} PROPERTIES ENVIRONMENT
    "GS_BUILD=${CMAKE_BINARY_DIR};GS_SOURCE=${CMAKE_SOURCE_DIR};PATH=${CMAKE_BINARY_DIR}/bin:$ENV{PATH};GPUSPARC_SOCKET=${dir}/none;${T_ENVIRONMENT}")
  if(T_SERIAL)
    set_tests_properties(${T_NAME} PROPERTIES RUN_SERIAL ON)
  endif()
endfunction()
