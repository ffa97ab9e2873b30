// What `margay hipcc` finds where no rocrand is installed.
#error "rocrand/rocrand_kernel.h is not installed: apt-get install librocrand-dev"
