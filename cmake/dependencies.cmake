# Debian packages the build needs besides LLVM; tools/packages.txt lists what provides them.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
if(NOT MARGAY_WHEEL)
  find_package(GTest REQUIRED)
  find_package(benchmark REQUIRED)
  include(GoogleTest)
endif()
