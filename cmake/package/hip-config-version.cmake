# The headers are HIP 5.2's with what HIP 6 and 7 add; a project may require either version.
set(PACKAGE_VERSION 7.0.0)
if(PACKAGE_FIND_VERSION_MAJOR GREATER 7)
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
else()
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
