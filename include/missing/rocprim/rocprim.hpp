// What `margay hipcc` finds where no rocPRIM is installed.
#error "rocprim/rocprim.hpp is not installed: apt-get install librocprim-dev"
