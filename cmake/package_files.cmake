# SPDX-License-Identifier: MIT
# Run by cpack on the files of each package, before they are packed: Debian wants pages and changelog compressed, and the
# licence under the name copyright.
file(GLOB roots LIST_DIRECTORIES true "${CPACK_TEMPORARY_DIRECTORY}/*")
foreach(root ${roots})
  get_filename_component(component ${root} NAME)
  set(package gpusparc)
  if(component STREQUAL samples)
    set(package gpusparc-samples)
  endif()
  set(docs ${root}/usr/share/doc/${package})
  file(MAKE_DIRECTORY ${docs})
  file(REMOVE ${docs}/LICENSE)
  file(COPY_FILE ${CPACK_RESOURCE_FILE_LICENSE} ${docs}/copyright)
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
  file(WRITE ${docs}/changelog "gpusparc (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * The changes are told in CHANGELOG.md of the package gpusparc.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  file(GLOB_RECURSE compressed ${root}/usr/share/man/*)
  foreach(file ${compressed} ${docs}/changelog)
    execute_process(COMMAND gzip -9nf ${file} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endforeach()
