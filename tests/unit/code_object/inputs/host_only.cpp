// A host library without device code.
extern "C" int host_only() { return 1; }
