// A library linked to ROCm's libamdhip64: its references carry symbol versions.
#pragma GCC visibility push(default)
extern "C" int hipMalloc(void**, unsigned long);

extern "C" int allocates() {
  void* memory = nullptr;
  return hipMalloc(&memory, 64);
}
#pragma GCC visibility pop
