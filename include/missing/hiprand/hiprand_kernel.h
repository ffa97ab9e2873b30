// What `margay hipcc` finds where no hiprand is installed.
#error "hiprand/hiprand_kernel.h is not installed: apt-get install libhiprand-dev"
