#include "report/document/document_json.hpp"

#include <fmt/format.h>

namespace npuscope::report {

std::string json_head(std::string_view command) {
  return fmt::format(
      "{{\n  \"schema_version\": {},\n  \"npuscope\": \"{}\",\n  \"command\": \"{}\",",
      json_schema_version, NPUSCOPE_VERSION, command);
}

std::string with_json_head(std::string_view command, std::string_view object) {
  return json_head(command).append(object.substr(1));
}

}  // namespace npuscope::report
