#include "report/document/document_json.hpp"

#include <fmt/format.h>

#include <set>

#include "report/document/document.hpp"
#include "report/document/document_value.hpp"
#include "report/document/provenance.hpp"

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

void write_profile_head(Json& json, const Profile& profile, std::string_view scope,
                        std::string_view selection) {
  json.member("files", profile.provenance.files);
  json.member("format", profile.provenance.format);
  json.key("clock");
  write_clock(json, profile, profile.base_clock);
  json.member("partial", is_damaged(profile));
  json.member("structure_only", is_structure_only(profile));
  if (const auto about = about_times(profile); !about.empty()) json.member("about_times", about);
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

namespace {

void write_member(Json& json, const Field& field, const Value& value) {
  if (field.key.empty()) return;
  json.key(field.key);
  if (!value.known()) return json.null();
  std::visit(
      [&](const auto& held) {
        if constexpr (!std::is_same_v<decltype(held), const std::monostate&>) json.value(held);
      },
      value.held());
}

void write_table(Json& json, const Table& table) {
  if (table.fields.empty()) return;
  json.member("row_count", std::max<std::uint64_t>(table.row_count, table.rows.size()));
  json.objects("rows", table.rows, [&](const std::vector<Value>& row) {
    for (std::size_t i = 0; i < table.fields.size(); ++i) {
      write_member(json, table.fields[i], row[i]);
    }
  });
}

void write_section(Json& json, const Section& section) {
  for (const Fact& fact : section.facts) write_member(json, fact.field, fact.value);
  write_table(json, section.table);
  if (!section.remarks.empty()) json.member("remarks", section.remarks);
  write_sections(json, section.parts);
}

void write_document(Json& json, const Document& document) {
  if (document.profile != nullptr) {
    write_profile_head(json, *document.profile, document.scope, document.selection);
  }
  if (!document.sides.empty()) {
    json.objects("profiles", document.sides, [&](const DocumentSide& side) {
      json.member("side", side.name);
      write_profile_head(json, *side.profile);
      write_notes(json, side.profile->notes);
    });
  }
  write_sections(json, document.sections, "notes");  // the head has them all
}

}  // namespace

// The sections of a list stand together, at the place of the first.
void write_sections(Json& json, const std::vector<Section>& sections, std::string_view left_out) {
  std::set<std::string_view> written{left_out};
  for (const Section& section : sections) {
    if (section.key.empty() || !written.insert(section.key).second) continue;
    if (!section.in_list) {
      json.object(section.key, [&] { write_section(json, section); });
      continue;
    }
    json.array(section.key, sections, [&](const Section& each) {
      if (each.key == section.key) json.object([&] { write_section(json, each); });
    });
  }
}

std::string documents_json(std::span<const Document> documents, std::span<const Note> notes) {
  if (documents.size() == 1 && documents[0].profile == nullptr) {
    return document_json(documents[0], notes);
  }
  return json_text([&](Json& json) {
    json.objects("profiles", documents, [&](const Document& document) {
      write_document(json, document);
      if (document.profile != nullptr) write_notes(json, document.profile->notes);
    });
    write_notes(json, notes);
  });
}

std::string document_json(const Document& document, std::span<const Note> notes) {
  return json_text([&](Json& json) {
    write_document(json, document);
    write_notes(json, notes);
  });
}

}  // namespace npuscope::report
