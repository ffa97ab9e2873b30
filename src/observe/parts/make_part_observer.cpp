#include "observe/parts/make_part_observer.h"

#include "observe/check/parts.h"
#include "observe/observer_kind.h"
#include "observe/profile/parts.h"

namespace margay {

std::unique_ptr<PartObserver> make_part_observer(std::span<const std::byte> setup,
                                                 const PartOfLaunch& part) {
  Reader in(setup);
  switch (in.get<ObserverKind>()) {
    case ObserverKind::profiler:
      return profile::make_part_observer(in, part);
    case ObserverKind::checker:
      return check::make_part_observer(in, part);
  }
  return nullptr;
}

}  // namespace margay
