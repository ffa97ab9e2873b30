// rocprofiler-sdk. Source of the names: its public headers, ROCm 7.
#define MARGAY_LIBRARY "rocprofiler-sdk"
#define MARGAY_STATUS 17  // ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED
#include "substitutes/refuse.h"

extern "C" MARGAY_EXPORT const char* rocprofiler_get_status_string(int /*status*/) {
  return "not implemented by the virtual device: margay prof and margay time are";
}
// Nothing is configured: the tool that asks is never called.
extern "C" MARGAY_EXPORT int rocprofiler_force_configure(void* /*configure*/) { return 0; }

MARGAY_REFUSE(rocprofiler_assign_callback_thread)
MARGAY_REFUSE(rocprofiler_configure_buffer_tracing_service)
MARGAY_REFUSE(rocprofiler_configure_callback_tracing_service)
MARGAY_REFUSE(rocprofiler_context_is_valid)
MARGAY_REFUSE(rocprofiler_create_buffer)
MARGAY_REFUSE(rocprofiler_create_callback_thread)
MARGAY_REFUSE(rocprofiler_create_context)
MARGAY_REFUSE(rocprofiler_flush_buffer)
MARGAY_REFUSE(rocprofiler_get_timestamp)
MARGAY_REFUSE(rocprofiler_iterate_callback_tracing_kind_operations)
MARGAY_REFUSE(rocprofiler_iterate_callback_tracing_kinds)
MARGAY_REFUSE(rocprofiler_query_available_agents)
MARGAY_REFUSE(rocprofiler_query_callback_tracing_kind_name)
MARGAY_REFUSE(rocprofiler_query_callback_tracing_kind_operation_name)
MARGAY_REFUSE(rocprofiler_start_context)
MARGAY_REFUSE(rocprofiler_stop_context)
