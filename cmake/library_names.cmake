# margay_library_names(TARGET VERSION NAMES...): the other file names by which programs ask for a shared library
# whose SONAME ends in VERSION. They are links to it. A wheel cannot hold links, so that there they are
# libraries of a name (below).
function(margay_library_names target version)
  get_target_property(folder ${target} LIBRARY_OUTPUT_DIRECTORY)
  if(NOT MARGAY_WHEEL)
    set_target_properties(${target} PROPERTIES SOVERSION ${version})
    add_library(${target}_file ALIAS ${target})
    foreach(name IN LISTS ARGN)
      add_custom_command(TARGET ${target} POST_BUILD
        COMMAND ${CMAKE_COMMAND} -E create_symlink $<TARGET_FILE_NAME:${target}> ${folder}/${name})
      install(FILES ${folder}/${name} DESTINATION lib)
    endforeach()
    return()
  endif()

  # The library itself is the file without a version, for linkers and for dlopen.
  set(file lib${target}.so)
  set_target_properties(${target} PROPERTIES NO_SONAME TRUE)
  target_link_options(${target} PRIVATE LINKER:-soname,${file}.${version})
  # Stands for the library where the names are linked: they have to need the file, not its SONAME, which is
  # one of them.
  add_library(${target}_file SHARED ${PROJECT_SOURCE_DIR}/cmake/wheel/name.cpp)
  set_target_properties(${target}_file PROPERTIES OUTPUT_NAME ${target}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/names)
  foreach(name ${file}.${version} ${ARGN})
    margay_library_name(${target} ${name} lib .)
  endforeach()
endfunction()

# margay_library_name(TARGET NAME DESTINATION FROM): in DESTINATION of the build and of the installation, a library
# without code whose file and SONAME are NAME, and which needs TARGET, in the folder FROM there: the dynamic
# linker then finds its symbols, and dlsym does. It has TARGET's symbol versions, which the linker compares
# by file name.
function(margay_library_name target name destination from)
  get_target_property(source ${target} SOURCE_DIR)
  set(map ${PROJECT_BINARY_DIR}/${target}_names.map)
  file(STRINGS ${source}/${target}.map versions REGEX "^hip_[0-9.]+ {|^} ?[a-z0-9_.]*;")
  list(JOIN versions "\n" versions)
  string(REPLACE "};" "};\n" versions "${versions}")
  file(CONFIGURE OUTPUT ${map} CONTENT "${versions}\n" @ONLY)

  add_library(${name} SHARED ${PROJECT_SOURCE_DIR}/cmake/wheel/name.cpp)
  set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX "" NO_SONAME TRUE BUILD_RPATH "\$ORIGIN/${from}"
    INSTALL_RPATH "\$ORIGIN/${from}" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${destination} LINK_DEPENDS ${map})
  target_link_libraries(${name} PRIVATE ${target}_file)
  target_link_options(${name} PRIVATE LINKER:-soname,${name} LINKER:--no-as-needed LINKER:--version-script,${map})
  install(TARGETS ${name} LIBRARY DESTINATION ${destination})
  margay_product(${name})
endfunction()
