// What `margay hipcc` finds where no rocrand is installed.
#error "rocrand/rocrand.h is not installed: apt-get install librocrand-dev"
