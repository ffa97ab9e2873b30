#include "exercise.h"

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "report/profile/analysis/advice.h"
#include "report/profile/compare/compare.h"
#include "report/profile/json/json.h"
#include "report/profile/page/html.h"
#include "report/profile/text/text.h"
#include "report/profile/text/trace.h"

namespace margay::profile {

void exercise(std::string_view text) {
  const auto profile = parse_profile(text);
  if (!profile) return;
  const auto no_source = [](const std::string&) -> std::optional<std::vector<std::string>> {
    return std::nullopt;
  };
  std::size_t size = text_of(*profile, {{}, true}).size() + text_of(*profile, {{}, false}).size() +
                     trace_of(*profile).size() + html_of(*profile, no_source, advice_for).size();
  if (const auto pair = choose_kernels(*profile, *profile, "", ""))
    size += text_of(compare(*pair->a, *pair->b), *pair, {}).size();
  // What is read once is written so that it can be read again.
  const auto again = parse_profile(json_of(*profile));
  if (!again || json_of(*again) != json_of(*profile) || size == 0) std::abort();
}

}  // namespace margay::profile
