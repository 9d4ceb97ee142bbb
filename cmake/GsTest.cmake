# SPDX-License-Identifier: MIT
# A test that hangs ends after a minute of an idle machine. With a load of ten a test takes several times as long.
set(GS_BUSY 4)
math(EXPR GS_LIMIT "60 * ${GS_BUSY}")
# For a script whose many kernels PoCL would spend most of its time on: they are compiled without optimizations.
set(GS_QUICK POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable)

# gs_test(NAME name SOURCES file… [LIBS lib…] [ARGS arg…] [LABELS label…] [ENVIRONMENT A=b…])
# One cmocka program per behaviour. It exits 77 to say that it was skipped. The test folder's name is a label of its own;
# "fast" is that of all these programs, which take a second or a few.
function(gs_test)
  cmake_parse_arguments(T "" "NAME" "SOURCES;LIBS;ARGS;LABELS;ENVIRONMENT" ${ARGN})
  get_filename_component(room ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  add_executable(test_${T_NAME} ${T_SOURCES})
  set_target_properties(test_${T_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_link_libraries(test_${T_NAME} PRIVATE cmocka ${T_LIBS})
  add_test(NAME ${T_NAME} COMMAND test_${T_NAME} ${T_ARGS})
  set_tests_properties(${T_NAME} PROPERTIES TIMEOUT ${GS_LIMIT} SKIP_RETURN_CODE 77
                       LABELS "${room};fast;${T_LABELS}" ENVIRONMENT "${T_ENVIRONMENT}")
endfunction()

# gs_script_test(NAME name SCRIPT file [ARGS …] [LABELS …] [ENVIRONMENT …] [SERIAL])
# A script of bash, or of bats where its name ends so, that drives the real programs. It gets GS_BUILD and GS_SOURCE,
# and a private folder as its working directory, and finds `gpusparc` on its PATH. No daemon answers it but one that it
# begins itself: by a machine's own, launches go otherwise than the tests expect. The time limit is for hangs; the
# script knows it as GS_LIMIT. On a fresh machine PoCL's own cache is empty, and the first run of each kernel compiles
# it. That is most of what the tests cost, so they share a cache, and PoCL compiles a kernel once for all work-group sizes
# and offsets, not for each as it does by itself; it has those built-in functions only that tests/pocl/builtins names.
# Where GS_AS_IS is set it is as it is. Its kernels are linked by tests/pocl/ld. python3 is the one that CMake has found:
# one of pyenv's shims takes most of a second to begin.
# SERIAL: no other test runs beside it, as it counts what the shim does while commands take microseconds.
function(gs_script_test)
  cmake_parse_arguments(T "SERIAL" "NAME;SCRIPT" "ARGS;LABELS;ENVIRONMENT" ${ARGN})
  get_filename_component(room ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  set(dir ${CMAKE_BINARY_DIR}/tests/run/${T_NAME})
  set(caches ${CMAKE_BINARY_DIR}/tests/run)
  file(MAKE_DIRECTORY ${dir} ${caches}/pocl-cache ${caches}/cache)
  set(python ${CMAKE_BINARY_DIR}/tests/python)
  file(MAKE_DIRECTORY ${python})
  file(CREATE_LINK ${Python3_EXECUTABLE} ${python}/python3 SYMBOLIC)
  set(lean POCL_WORK_GROUP_SPECIALIZATION=0 OCL_ICD_VENDORS=${CMAKE_BINARY_DIR}/tests/pocl/vendors)
  if(GS_AS_IS)
    set(lean)
  endif()
  set(shell bash)
  if(T_SCRIPT MATCHES "[.]bats$")
    set(shell bats --tap)
  endif()
  add_test(NAME ${T_NAME} COMMAND ${shell} ${CMAKE_CURRENT_SOURCE_DIR}/${T_SCRIPT} ${T_ARGS} WORKING_DIRECTORY ${dir})
  set_tests_properties(${T_NAME} PROPERTIES TIMEOUT ${GS_LIMIT} SKIP_RETURN_CODE 77 LABELS "${room};${T_LABELS}")
  set_tests_properties(${T_NAME} PROPERTIES ENVIRONMENT
    "GS_LIMIT=${GS_LIMIT};GS_BUILD=${CMAKE_BINARY_DIR};GS_SOURCE=${CMAKE_SOURCE_DIR};PATH=${CMAKE_BINARY_DIR}/bin:${python}:$ENV{PATH};GPUSPARC_SOCKET=${dir}/none;POCL_CACHE_DIR=${caches}/pocl-cache;XDG_CACHE_HOME=${caches}/cache;COMPILER_PATH=${CMAKE_SOURCE_DIR}/tests/pocl;${lean};${T_ENVIRONMENT}")
  if(T_SERIAL)
    set_tests_properties(${T_NAME} PROPERTIES RUN_SERIAL ON)
  endif()
endfunction()
