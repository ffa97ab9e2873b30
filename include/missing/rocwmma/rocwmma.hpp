// What `margay hipcc` finds where no rocWMMA is installed.
#error \
    "rocwmma/rocwmma.hpp is not installed, and Debian 12 has no package of rocWMMA: get its headers from ROCm"
