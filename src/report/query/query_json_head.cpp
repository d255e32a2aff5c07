#include <nlohmann/json.hpp>

#include "report/document/json_head.hpp"
#include "report/document/json_text.hpp"
#include "report/document/provenance.hpp"
#include "report/query/query_output.hpp"

namespace npuscope::report {

std::string query_json_head(std::string_view command, std::span<const QueriedProfile> profiles,
                            std::span<const Note> notes) {
  nlohmann::ordered_json object{{"profiles", nlohmann::ordered_json::array()}};
  for (const QueriedProfile& queried : profiles) {
    nlohmann::ordered_json head{{"name", queried.name}};
    head.update(profile_head_json(*queried.profile, {}, std::string(queried.selection)));
    head["notes"] = notes_json(queried.profile->notes);
    object["profiles"].push_back(std::move(head));
  }
  object["notes"] = notes_json(notes);
  std::string text = with_json_head(command, json_text(object));
  text.resize(text.rfind("\n}"));
  return text + ",";
}

}  // namespace npuscope::report
