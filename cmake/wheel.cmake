# MARGAY_WHEEL: what ../pyproject.toml packs, from the preset of that name. Tool and runtime then need no
# library that manylinux does not promise (PEP 600): archives are linked in place of shared libraries. The
# objects are those of the preset release, so that ccache has them.
option(MARGAY_WHEEL "Build for the Python wheel: no tests, nothing that needs a compiler's libraries" OFF)
if(NOT MARGAY_WHEEL)
  return()
endif()

# pyproject.toml names the wheel after the glibc of Debian 12; a newer one gives the libraries newer symbols.
set(MARGAY_WHEEL_GLIBC 2.36)
execute_process(COMMAND getconf GNU_LIBC_VERSION OUTPUT_VARIABLE glibc COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCH "[0-9.]+" glibc "${glibc}")
if(glibc VERSION_GREATER MARGAY_WHEEL_GLIBC)
  message(FATAL_ERROR "this machine has glibc ${glibc} and the wheel is for ${MARGAY_WHEEL_GLIBC}: build it "
    "on Debian 12, or change MARGAY_WHEEL_GLIBC here and wheel.tags in pyproject.toml")
endif()

# margay_use_archive(TARGET ARCHIVE): whoever links the imported library TARGET gets ARCHIVE.
function(margay_use_archive target archive)
  get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${archive})
  foreach(configuration IN LISTS configurations)
    set_target_properties(${target} PROPERTIES IMPORTED_LOCATION_${configuration} ${archive}
      IMPORTED_SONAME_${configuration} "")
  endforeach()
endfunction()

# Debian has no archive of fmt, but the source that one is made of.
add_library(margay_fmt STATIC cmake/wheel/fmt.cpp)
target_include_directories(margay_fmt PRIVATE
  $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
margay_use_archive(fmt::fmt ${PROJECT_BINARY_DIR}/libmargay_fmt.a)
add_dependencies(fmt::fmt margay_fmt)

# What LLVM's archives need; its list names more than the parts of it that are used do (Z3, 20 MB).
foreach(pair "ZLIB::ZLIB z" "zstd::libzstd_shared zstd")
  string(REPLACE " " ";" pair "${pair}")
  list(GET pair 0 target)
  list(GET pair 1 name)
  find_library(MARGAY_ARCHIVE_${name} lib${name}.a REQUIRED)
  margay_use_archive(${target} ${MARGAY_ARCHIVE_${name}})
endforeach()
add_link_options(LINKER:--as-needed LINKER:--exclude-libs,ALL)

# The licences of what is linked in or packed ask for their notices in binaries, too.
foreach(package llvm-${MARGAY_LLVM}-dev libfmt-dev zlib1g-dev libzstd-dev nlohmann-json3-dev libcli11-dev
    rocm-device-libs)
  install(FILES /usr/share/doc/${package}/copyright DESTINATION licenses RENAME ${package})
endforeach()
