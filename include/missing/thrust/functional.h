// What `margay hipcc` finds where no rocThrust is installed.
#error \
    "thrust/functional.h is not installed, and Debian 12 has no package of rocThrust: get its headers and those of rocPRIM from ROCm"
