/* Stands in for libamdhip64 where Python's side of the checker and the profiler is tested: it
   remembers what it is asked, and its report is the text of the file that STAND_IN_REPORT names, its
   profile that of STAND_IN_PROFILE. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char options[256];
static char *report;
static int running;

const char *standInOptions(void) { return options; }

int hipInit(unsigned flags) { return (int)flags; }

#ifndef NOT_MARGAY
const char *margayCheckError(void) { return running ? "a check is running already" : "no check is running"; }

int margayCheckBegin(const char *words) {
  if (running || strlen(words) >= sizeof options) return 1;
  strcpy(options, words);
  running = 1;
  return 0;
}

static const char *end(const char *variable) {
  if (!running) return NULL;
  running = 0;
  free(report);
  report = calloc(1, 1 << 20);
  FILE *file = fopen(getenv(variable), "rb");
  if (file == NULL) return NULL;
  fread(report, 1, (1 << 20) - 1, file);
  fclose(file);
  return report;
}

const char *margayCheckEnd(void) { return end("STAND_IN_REPORT"); }

#ifndef NO_PROFILER
int margayProfileBegin(const char *words) { return margayCheckBegin(words); }
const char *margayProfileEnd(void) { return end("STAND_IN_PROFILE"); }
const char *margayProfileError(void) { return running ? "a profile is running already" : "no profile is running"; }
#endif
#endif
