// Assembles the page: its text, style and scripts from web/, and the data.
#include "report/profile/page/html.h"

#include <string_view>

#include "report/profile/page/page_text.h"
#include "report/profile/page/web/files.h"

namespace margay::profile {

std::string html_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

namespace {

/// JSON that cannot end the element it is in: "<" occurs in strings only, and may be written
/// as an escape there.
std::string script_safe(const std::string& json) {
  std::string out;
  out.reserve(json.size() + json.size() / 16);
  for (const char c : json) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out;
}

std::string title_of(const Profile& profile) {
  if (profile.kernels.empty()) return "Profile without kernels";
  std::string title =
      profile.kernels.front().name.substr(0, profile.kernels.front().name.find('('));
  if (profile.kernels.size() > 1)
    title += " and " + std::to_string(profile.kernels.size() - 1) + " more";
  return title + " - Margay profile";
}

/// Replaces "{{name}}" in the page. Each occurs once; inserted text is not scanned again.
std::string filled(std::string_view page, std::string_view title, std::string_view data) {
  std::string out;
  out.reserve(page.size() + data.size() + 64 * 1024);
  while (true) {
    const std::size_t begin = page.find("{{");
    if (begin == std::string_view::npos) break;
    const std::size_t end = page.find("}}", begin);
    const std::string_view name = page.substr(begin + 2, end - begin - 2);
    out += page.substr(0, begin);
    if (name == "title") out += title;
    if (name == "style") out += web::kStyle;
    if (name == "script") out += web::kScript;
    if (name == "data") out += data;
    page.remove_prefix(end + 2);
  }
  out += page;
  return out;
}

}  // namespace

std::string html_of(const Profile& profile, const SourceReader& source, const Adviser& adviser) {
  // Names and source text may contain any bytes.
  const std::string data =
      page_data(profile, source, adviser).dump(-1, ' ', false, Json::error_handler_t::replace);
  return filled(web::kPage, html_escaped(title_of(profile)), script_safe(data));
}

}  // namespace margay::profile
