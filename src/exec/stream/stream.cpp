#include "exec/stream/stream.h"

namespace margay {

std::unique_ptr<WorkgroupObserver> LaunchObserver::observe(const LaunchRequest& request,
                                                           Program& program) {
  return std::make_unique<StreamObserver<Watcher>>(watch(request, program), program);
}

}  // namespace margay
