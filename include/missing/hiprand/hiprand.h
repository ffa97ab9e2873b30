// What `margay hipcc` finds where no hiprand is installed.
#error "hiprand/hiprand.h is not installed: apt-get install libhiprand-dev"
