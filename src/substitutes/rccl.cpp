// RCCL. Source of the names: its public headers, ROCm 7.
#define MARGAY_LIBRARY "RCCL"
#define MARGAY_STATUS 5  // ncclInvalidUsage
#include "substitutes/refuse.h"

extern "C" MARGAY_EXPORT const char* ncclGetErrorString(int /*result*/) {
  return "collectives are not implemented by the virtual device";
}
extern "C" MARGAY_EXPORT const char* ncclGetLastError(void* /*communicator*/) {
  return ncclGetErrorString(0);
}

MARGAY_REFUSE(ncclAllGather)
MARGAY_REFUSE(ncclAllReduce)
MARGAY_REFUSE(ncclBroadcast)
MARGAY_REFUSE(ncclCommAbort)
MARGAY_REFUSE(ncclCommCount)
MARGAY_REFUSE(ncclCommDestroy)
MARGAY_REFUSE(ncclCommGetAsyncError)
MARGAY_REFUSE(ncclCommInitRankConfig)
MARGAY_REFUSE(ncclCommSplit)
MARGAY_REFUSE(ncclCommWindowDeregister)
MARGAY_REFUSE(ncclCommWindowRegister)
MARGAY_REFUSE(ncclGetUniqueId)
MARGAY_REFUSE(ncclGetVersion)
MARGAY_REFUSE(ncclGroupEnd)
MARGAY_REFUSE(ncclGroupStart)
MARGAY_REFUSE(ncclMemAlloc)
MARGAY_REFUSE(ncclMemFree)
MARGAY_REFUSE(ncclRecv)
MARGAY_REFUSE(ncclReduceScatter)
MARGAY_REFUSE(ncclSend)
