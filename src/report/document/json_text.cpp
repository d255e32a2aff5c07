#include "report/document/json_text.hpp"

namespace simdjson::internal {
char* to_chars(char* first, const char* last,
               double value);  // its header takes a second to compile
}

namespace npuscope::report {

JsonLayout compact_layout() { return {.print_double = simdjson::internal::to_chars}; }

JsonLayout indented_layout() {
  JsonLayout layout = JsonLayout::indented(2);
  layout.print_double = simdjson::internal::to_chars;
  return layout;
}

}  // namespace npuscope::report
