// A stub of ROCm 6's libamdhip64.so.6 for linking a program; never run.
extern "C" {
#pragma GCC visibility push(default)
int hipMalloc(void**, unsigned long) { return 1; }
int hipFree(void*) { return 1; }
int hipPointerGetAttributes(void*, const void*) { return 1; }
int hipGetDevicePropertiesR0600(void*, int) { return 1; }
int hipGraphCreate(void**, unsigned) { return 1; }
int hipGraphDestroy(void*) { return 1; }
int hipGraphNodeGetType(void*, int*) { return 1; }
int hipGraphAddMemcpyNode1D(void**, void*, void**, unsigned long, void*, void*, unsigned long,
                            int) {
  return 1;
}
#pragma GCC visibility pop
}
