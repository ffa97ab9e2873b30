/* Stands in for libamdhip64 where Python's side of the checker is tested: it remembers what it is
   asked, and its report is the text of the file that STAND_IN_REPORT names. */
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

const char *margayCheckEnd(void) {
  if (!running) return NULL;
  running = 0;
  free(report);
  report = calloc(1, 1 << 20);
  FILE *file = fopen(getenv("STAND_IN_REPORT"), "rb");
  if (file == NULL) return NULL;
  fread(report, 1, (1 << 20) - 1, file);
  fclose(file);
  return report;
}
#endif
