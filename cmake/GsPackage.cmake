# SPDX-License-Identifier: MIT
# `cpack -G DEB` in a build folder makes gpusparc_*.deb (programs, shim, translator, pages, unit, docs) and
# gpusparc-samples_*.deb. Wants dpkg-dev, which finds the libraries that they depend on.
set(GS_MAINTAINER "The gpusparc developers <gpusparc@packages.invalid>" CACHE STRING "who answers for the packages")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME gpusparc)
set(CPACK_PACKAGE_VENDOR gpusparc)
set(CPACK_PACKAGE_CONTACT "${GS_MAINTAINER}")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/package_files.cmake)
set(CPACK_STRIP_FILES ON)
set(CPACK_SET_DESTDIR ON) # the unit names the daemon by the prefix, which otherwise were the folder of the packing
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL gpusparc samples)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)

# libclang reads clang's own header of OpenCL C, which its library's package doesn't depend on.
set(CPACK_DEBIAN_GPUSPARC_PACKAGE_NAME gpusparc)
set(CPACK_DEBIAN_GPUSPARC_PACKAGE_DEPENDS "ocl-icd-libopencl1 | libopencl1, libclang-common-19-dev")
set(CPACK_DEBIAN_GPUSPARC_PACKAGE_RECOMMENDS "pocl-opencl-icd | opencl-icd")
set(CPACK_DEBIAN_GPUSPARC_PACKAGE_SUGGESTS "gpusparc-samples, librsvg2-bin")
set(CPACK_DEBIAN_GPUSPARC_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/cmake/prerm)
set(CPACK_DEBIAN_GPUSPARC_DESCRIPTION
    "run OpenCL applications on all GPUs of the machine
gpusparc runs an unmodified OpenCL application, written for one GPU, on all
GPUs of the machine: it splits each kernel launch, keeps the GPUs' memories
coherent and gives the application the result that one GPU would have given.
A daemon schedules such applications by priority and decides how many GPUs
each may use so that every deadline is met.")

set(CPACK_DEBIAN_SAMPLES_PACKAGE_NAME gpusparc-samples)
set(CPACK_DEBIAN_SAMPLES_PACKAGE_RECOMMENDS "pocl-opencl-icd | opencl-icd")
set(CPACK_DEBIAN_SAMPLES_PACKAGE_SUGGESTS "gpusparc")
set(CPACK_DEBIAN_SAMPLES_DESCRIPTION
    "sample OpenCL applications for gpusparc
OpenCL programs as a user would write them for one GPU, from adding vectors to
a page rank, and the programs that measure gpusparc on them. 'gpusparc bench'
runs them on one device and on many. They work without gpusparc as well.")
include(CPack)
