// What `margay hipcc` finds where no hipFFT is installed.
#error "hipfft/hipfft.h is not installed, and Debian 12 has no package of hipFFT: get it from ROCm"
