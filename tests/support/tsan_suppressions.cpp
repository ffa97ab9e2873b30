// Excluded from ThreadSanitizer: the accesses of the programs that Margay runs. Workgroups on
// several host threads may race in the memory they share, and some tests have them do it on
// purpose; telling that is the checker's business. All such accesses are made in these files.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "race:src/exec/instructions/lane_memory.h\n"
         "race:src/exec/instructions/vmem.cpp\n"
         "race:src/exec/instructions/smem.cpp\n"
         "race:src/exec/instructions/atomics.h\n";
}
