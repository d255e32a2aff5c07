#include "report/document/json_head.hpp"
#include "report/document/profile_json.hpp"
#include "report/query/query_output.hpp"

namespace npuscope::report {

std::string query_json_head(std::string_view command, std::span<const QueriedProfile> profiles,
                            std::span<const Note> notes) {
  std::string text = json_text([&](Json& json) {
    json.objects("profiles", profiles, [&](const QueriedProfile& queried) {
      json.member("name", queried.name);
      write_profile_head(json, *queried.profile, {}, queried.selection);
      write_notes(json, queried.profile->notes);
    });
    write_notes(json, notes);
  });
  text.resize(text.rfind("\n}"));
  return with_json_head(command, text) + ",";
}

}  // namespace npuscope::report
