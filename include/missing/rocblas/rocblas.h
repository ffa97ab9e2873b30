// What `margay hipcc` finds where no rocBLAS is installed.
#error \
    "rocblas/rocblas.h is not installed, and Debian 12 has no package of rocBLAS: get it from ROCm"
