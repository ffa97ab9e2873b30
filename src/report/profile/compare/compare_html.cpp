// A comparison as a page; see compare.h. It needs no script.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/profile/compare/compare.h"
#include "report/profile/page/page_text.h"
#include "report/profile/page/web/files.h"

namespace margay::profile {
namespace {

std::string bar(double share, std::string_view kind) {
  return fmt::format("<span class=\"bar\"><i class=\"{}\" style=\"width:{:.2f}%\"></i></span>",
                     kind, 100 * std::clamp(share, 0.0, 1.0));
}

/// `bars`: each value against the largest of all rows.
std::string table(std::string_view id, std::string_view title, const std::vector<Difference>& rows,
                  bool bars) {
  if (rows.empty()) return {};
  double largest = 0;
  for (const Difference& d : rows) largest = std::max({largest, std::abs(d.a), std::abs(d.b)});
  std::string out = fmt::format(
      "<section id=\"{}\"><h2>{}</h2><div class=\"scroll\"><table "
      "class=\"compare\"><thead><tr><th></th>"
      "<th scope=\"col\">A</th><th scope=\"col\">B</th><th "
      "scope=\"col\">B/A</th></tr></thead><tbody>",
      id, title);
  for (const Difference& d : rows) {
    const auto cell = [&](double value, std::string_view kind) {
      return fmt::format("<td class=\"number\">{}{}</td>", html_escaped(value_text(d, value)),
                         bars && largest > 0 ? bar(value / largest, kind) : std::string{});
    };
    out += fmt::format("<tr><th scope=\"row\">{}</th>{}{}<td class=\"number\">{}</td></tr>",
                       html_escaped(d.what), cell(d.a, "b"), cell(d.b, "memory"),
                       html_escaped(change_text(d)));
  }
  return out + "</tbody></table></div></section>";
}

}  // namespace

std::string html_of(const Comparison& comparison, const Pair& kernels) {
  const auto name = [](const KernelProfile* k) {
    return html_escaped(report::short_function(k->name));
  };
  std::string body = fmt::format(
      "<header><p class=\"eyebrow\">Margay comparison</p><h1>{} and {}</h1>"
      "<p class=\"full\">A: {}</p><p class=\"full\">B: {}</p><p class=\"short\">{}.</p></header>",
      name(kernels.a), name(kernels.b), html_escaped(kernels.a->name),
      html_escaped(kernels.b->name), html_escaped(comparison.verdict));
  body += table("time", "Modelled time, first launch", comparison.time, false);
  body += table("bounds", "Needs at least, per launch", comparison.bounds, true);
  body += table("resources", "What the compiler made of it", comparison.resources, false);
  if (!comparison.lines.empty()) {
    body += "<section id=\"lines\"><h2>Lines that changed most</h2><ul class=\"plain\">";
    for (const std::string& line : comparison.lines)
      body += "<li><code>" + html_escaped(line) + "</code></li>";
    body += "</ul></section>";
  }
  body += table("metrics", "Counters and metrics, per launch", comparison.metrics, false);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\">\n<title>{} and {} - Margay "
      "comparison</title>\n<style>\n{}</style>\n</head>\n"
      "<body>\n<main>{}</main>\n</body>\n</html>\n",
      name(kernels.a), name(kernels.b), web::kStyle, body);
}

}  // namespace margay::profile
