// What `margay hipcc` finds where no hipCUB is installed.
#error \
    "hipcub/hipcub.hpp is not installed, and Debian 12 has no package of hipCUB: get its headers from ROCm"
