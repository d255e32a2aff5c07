#include "report/document/profile_json.hpp"

#include "report/document/damage.hpp"
#include "report/document/names.hpp"
#include "report/document/provenance.hpp"
#include "report/document/quantity.hpp"

namespace npuscope::report {

void write_profile_head(Json& json, const Profile& profile, std::string_view scope,
                        std::string_view selection) {
  json.member("files", profile.provenance.files);
  json.member("format", profile.provenance.format);
  json.key("clock");
  write_clock(json, profile, profile.base_clock);
  json.member("partial", is_damaged(profile));
  json.member("structure_only", is_structure_only(profile));
  json.member("scope", or_null(scope));
  json.member("selection", or_null(selection));
}

void write_clock(Json& json, const Profile& profile, ClockId id) {
  if (index_of(id) >= profile.clocks.size()) return json.null();
  const Clock& found = profile.clocks[index_of(id)];
  json.object([&] {
    json.member("name", profile.text(found.name));
    json.member("kind", stable_name(found.kind));
    json.member("unit", unit_of(profile, id));
    json.member("hertz", found.rate.value > 0 ? std::optional(found.rate.value) : std::nullopt);
  });
}

void write_notes(Json& json, std::span<const Note> notes) {
  json.objects("notes", notes, [&](const Note& note) {
    json.member("severity", stable_name(note.severity));
    json.member("file", note.file);
    json.member("offset", note.offset);
    json.member("count", note.count);
    json.member("message", note.message);
  });
}

}  // namespace npuscope::report
