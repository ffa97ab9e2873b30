// What `margay hipcc` finds where no RCCL is installed.
#error "rccl/rccl.h is not installed, and Debian 12 has no package of RCCL: get it from ROCm"
