# margay_library_names(TARGET VERSION NAMES...): the other file names by which programs ask for a shared library
# whose SONAME ends in VERSION. They are links to it. A wheel cannot hold links, so that there they are
# libraries without code, which need the library: the dynamic linker then finds its symbols, and dlsym does.
# They have its symbol versions, which the linker compares by file name.
function(margay_library_names target version)
  get_target_property(folder ${target} LIBRARY_OUTPUT_DIRECTORY)
  if(NOT MARGAY_WHEEL)
    set_target_properties(${target} PROPERTIES SOVERSION ${version})
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

  file(STRINGS ${CMAKE_CURRENT_SOURCE_DIR}/${target}.map versions REGEX "^hip_[0-9.]+ {|^} ?[a-z0-9_.]*;")
  list(JOIN versions "\n" versions)
  string(REPLACE "};" "};\n" versions "${versions}")
  set(map ${CMAKE_CURRENT_BINARY_DIR}/${target}_names.map)
  file(CONFIGURE OUTPUT ${map} CONTENT "${versions}\n" @ONLY)

  # Stands for the library where the names are linked: they have to need the file, not its SONAME, which is
  # one of them.
  set(source ${PROJECT_SOURCE_DIR}/cmake/wheel/name.cpp)
  add_library(${target}_file SHARED ${source})
  set_target_properties(${target}_file PROPERTIES OUTPUT_NAME ${target}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/names)
  foreach(name ${file}.${version} ${ARGN})
    add_library(${name} SHARED ${source})
    set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX "" NO_SONAME TRUE INSTALL_RPATH "\$ORIGIN"
      LIBRARY_OUTPUT_DIRECTORY ${folder} LINK_DEPENDS ${map})
    target_link_libraries(${name} PRIVATE ${target}_file)
    target_link_options(${name} PRIVATE LINKER:-soname,${name} LINKER:--no-as-needed
      LINKER:--version-script,${map})
    install(TARGETS ${name} LIBRARY DESTINATION lib)
    margay_product(${name})
  endforeach()
endfunction()
