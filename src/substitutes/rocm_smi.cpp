// ROCm SMI. Source of the names: its public headers, ROCm 7.
#define MARGAY_LIBRARY "ROCm SMI"
#define MARGAY_STATUS 2  // RSMI_STATUS_NOT_SUPPORTED
#include "substitutes/refuse.h"

extern "C" MARGAY_EXPORT int rsmi_status_string(int /*status*/, const char** text) {
  *text = "not implemented by the virtual device";
  return 0;
}

/// Nothing of a virtual device can be monitored: there are none for it.
extern "C" MARGAY_EXPORT int rsmi_init(unsigned long /*flags*/) { return 0; }
extern "C" MARGAY_EXPORT int rsmi_num_monitor_devices(unsigned* count) {
  *count = 0;
  return 0;
}

MARGAY_REFUSE(rsmi_dev_gpu_metrics_info_get)
MARGAY_REFUSE(rsmi_dev_pci_id_get)
MARGAY_REFUSE(rsmi_dev_xgmi_hive_id_get)
MARGAY_REFUSE(rsmi_topo_get_link_type)
