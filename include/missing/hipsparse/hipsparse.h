// What `margay hipcc` finds where no hipSPARSE is installed.
#error \
    "hipsparse/hipsparse.h is not installed, and Debian 12 has no package of hipSPARSE: get it from ROCm"
