#include "formats/chrome/trace_document.hpp"

#include <algorithm>

namespace npuscope::chrome {
namespace {

void close_array(std::string& text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos || text[first] != '[') return;
  const auto last = text.find_last_not_of(" \t\r\n");
  if (text[last] == ',') {
    text.erase(last);
  } else if (text[last] != '}') {
    return;
  }
  text += "]\n";
}

}  // namespace

Result<std::string> read_trace_text(ByteSource& source, std::uint64_t limit) {
  auto text = read_all(source, limit);
  if (!text) return text;
  if (text->empty()) {
    return input_error("{}: an empty file; the run or the copy that made it failed, make it again",
                       source.name());
  }
  if (text->starts_with("\xFF\xFE") || text->starts_with("\xFE\xFF")) {
    return input_error("{}: text in UTF-16, as PowerShell's > writes; save it as UTF-8",
                       source.name());
  }
  if (text->starts_with("\xEF\xBB\xBF")) text->erase(0, 3);
  close_array(*text);
  text->reserve(text->size() + simdjson::SIMDJSON_PADDING);
  return text;
}

void append_changed(std::string& out, std::string_view text, std::vector<TextChange> changes) {
  std::sort(changes.begin(), changes.end(),
            [](const TextChange& a, const TextChange& b) { return a.at < b.at; });
  std::size_t done = 0;
  for (const TextChange& change : changes) {
    if (change.at < done || change.at > text.size()) continue;
    out.append(text, done, change.at - done);
    out += change.text;
    done = std::min(change.at + change.length, text.size());
  }
  out.append(text, done);
}

}  // namespace npuscope::chrome
