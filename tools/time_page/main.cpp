// What docs/time.md needs of the model of time, as CSV for tools/time_page/page.py.
//   time_page parameters     every figure with its unit, its values, its source
//   time_page points         the points of validation that need no program
#include <cstdio>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "points.h"
#include "timing/parameters.h"

namespace margay::time_page {

/// In double quotes where a comma is.
static std::string field(std::string_view text) {
  if (text.find(',') == std::string_view::npos) return std::string(text);
  return fmt::format("\"{}\"", text);
}

static void print_parameters() {
  std::string head = "name,meaning,unit";
  for (const Gpu& gpu : all_gpus()) head += fmt::format(",{}", gpu.option);
  fmt::print("{},confidence,source\n", head);
  for (const timing::ParameterInfo& info : timing::parameter_table()) {
    std::string row = fmt::format("{},{},{}", info.name, field(info.meaning), field(info.unit));
    for (const Gpu& gpu : all_gpus())
      row += fmt::format(",{:.6g}", timing::parameters_of(gpu).*info.member);
    fmt::print("{},{},{}\n", row, timing::confidence_name(info.confidence), field(info.source));
  }
}

static void print_points() {
  fmt::print("group,what,measured_cycles,modelled_cycles,source\n");
  for (const Point& point : points())
    fmt::print("{},{},{},{:.2f},{}\n", point.group, field(point.what), point.measured,
               point.modelled, field(point.source));
}

}  // namespace margay::time_page

int main(int argc, char** argv) {
  const std::string_view what = argc == 2 ? argv[1] : "";
  if (what == "parameters") {
    margay::time_page::print_parameters();
  } else if (what == "points") {
    margay::time_page::print_points();
  } else {
    fmt::print(stderr, "usage: time_page parameters|points\n");
    return 2;
  }
}
