// See abi.h.
#include "runtime/base/abi.h"

#include <dlfcn.h>
#include <link.h>

#include <string_view>

namespace margay::runtime {

HipAbi abi_of_library(const char* needed_name) {
  constexpr std::string_view kStem = "libamdhip64.so.";
  const std::string_view name = needed_name;
  if (!name.starts_with(kStem) || name.size() <= kStem.size()) return HipAbi::hip5;
  const char version = name[kStem.size()];
  return version >= '6' && version <= '9' ? HipAbi::hip6 : HipAbi::hip5;
}

HipAbi abi_of_caller(const void* return_address) {
  Dl_info info;
  link_map* map = nullptr;
  if (dladdr1(return_address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 ||
      map == nullptr || map->l_ld == nullptr) {
    return HipAbi::hip5;
  }
  const char* strings = nullptr;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(entry->d_un.d_ptr);
  }
  if (strings == nullptr) return HipAbi::hip5;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_NEEDED && abi_of_library(strings + entry->d_un.d_val) == HipAbi::hip6) {
      return HipAbi::hip6;
    }
  }
  return HipAbi::hip5;
}

}  // namespace margay::runtime
