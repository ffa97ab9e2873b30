// What `margay hipcc` finds where no hipBLAS is installed.
#error \
    "hipblas/hipblas.h is not installed, and Debian 12 has no package of hipBLAS: get it from ROCm"
