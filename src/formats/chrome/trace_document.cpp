#include "formats/chrome/trace_document.hpp"

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
  if (text->starts_with("\xEF\xBB\xBF")) text->erase(0, 3);
  close_array(*text);
  text->reserve(text->size() + simdjson::SIMDJSON_PADDING);
  return text;
}

}  // namespace npuscope::chrome
