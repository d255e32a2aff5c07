// Whether a picture is XML that a browser takes.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"

namespace npuscope::report {

// What is wrong with a document as XML; empty: nothing. Elements close in order, attributes are
// quoted, & begins one of the references that we write, characters are those that XML has.
inline std::string problem_in(std::string_view xml) {
  std::vector<std::string> open;
  const auto check_text = [](std::string_view text) -> std::string {
    if (printable(text) != text) return "a control character or broken UTF-8";
    for (std::size_t at = text.find('&'); at != text.npos; at = text.find('&', at + 1)) {
      const std::string_view rest = text.substr(at);
      const auto references = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
      if (std::none_of(references.begin(), references.end(),
                       [&](const char* known) { return rest.starts_with(known); })) {
        return "a bare &";
      }
    }
    return "";
  };
  std::size_t at = xml.starts_with("<?xml") ? xml.find("?>") + 2 : 0;
  while (at < xml.size()) {
    const std::size_t tag = std::min(xml.find('<', at), xml.size());
    std::string text(xml.substr(at, tag - at));
    std::erase(text, '\n');
    if (open.empty() && !text.empty()) return "text outside of the root: " + text;
    if (const std::string wrong = check_text(text); !wrong.empty()) return wrong + " in " + text;
    if (tag == xml.size()) break;
    const std::size_t end = xml.find('>', tag);
    if (end == xml.npos) return "an open tag";
    std::string_view inside = xml.substr(tag + 1, end - tag - 1);
    at = end + 1;
    if (inside.starts_with('/')) {
      if (open.empty() || open.back() != inside.substr(1))
        return "wrong end of " + std::string(inside);
      open.pop_back();
      continue;
    }
    const bool is_empty = inside.ends_with('/');
    if (is_empty) inside.remove_suffix(1);
    if (std::count(inside.begin(), inside.end(), '"') % 2 != 0) return "an open quote";
    if (inside.find('<') != inside.npos) return "< in a tag";
    if (const std::string wrong = check_text(inside); !wrong.empty()) return wrong;
    if (!is_empty) open.push_back(std::string(inside.substr(0, inside.find(' '))));
  }
  return open.empty() ? "" : "not closed: " + open.back();
}

}  // namespace npuscope::report
