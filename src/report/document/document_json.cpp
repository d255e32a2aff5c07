#include <cmath>
#include <nlohmann/json.hpp>

#include "report/document/document.hpp"
#include "report/document/json_text.hpp"
#include "report/document/provenance.hpp"
#include "report/document/sections_json.hpp"

namespace npuscope::report {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Value& value) {
  struct Make {
    Json operator()(std::monostate) const { return nullptr; }
    Json operator()(const std::string& text) const { return text; }
    Json operator()(const std::vector<std::string>& texts) const { return texts; }
    Json operator()(bool truth) const { return truth; }
    Json operator()(std::int64_t number) const { return number; }
    Json operator()(const std::vector<std::int64_t>& numbers) const { return numbers; }
    Json operator()(double number) const {  // JSON has no infinity and no NaN
      return std::isfinite(number) ? Json(number) : Json(nullptr);
    }
  };
  return std::visit(Make{}, value.held());
}

void add_sections(Json& object, const std::vector<Section>& sections);

Json json_of(const Section& section) {
  Json object = Json::object();
  for (const Fact& fact : section.facts) {
    if (!fact.field.key.empty()) object[fact.field.key] = json_of(fact.value);
  }
  const Table& table = section.table;
  if (!table.fields.empty()) {
    object["row_count"] = std::max<std::uint64_t>(table.row_count, table.rows.size());
    Json rows = Json::array();
    for (const auto& values : table.rows) {
      Json row = Json::object();
      for (std::size_t i = 0; i < table.fields.size(); ++i) {
        if (!table.fields[i].key.empty()) row[table.fields[i].key] = json_of(values[i]);
      }
      rows.push_back(std::move(row));
    }
    object["rows"] = std::move(rows);
  }
  if (!section.remarks.empty()) object["remarks"] = section.remarks;
  add_sections(object, section.parts);
  return object;
}

void add_sections(Json& object, const std::vector<Section>& sections) {
  for (const Section& section : sections) {
    if (section.key.empty()) continue;
    if (!section.in_list) {
      object[section.key] = json_of(section);
    } else {
      Json& list = object[section.key];
      if (!list.is_array()) list = Json::array();
      list.push_back(json_of(section));
    }
  }
}

Json json_of(const Document& document) {
  Json object = Json::object();
  if (document.profile != nullptr) {
    object = profile_head_json(*document.profile, document.scope, document.selection);
  }
  for (const DocumentSide& side : document.sides) {
    Json head{{"side", side.name}};
    head.update(profile_head_json(*side.profile));
    head["notes"] = notes_json(side.profile->notes);
    object["profiles"].push_back(std::move(head));
  }
  add_sections(object, document.sections);
  if (document.profile != nullptr) object["notes"] = notes_json(document.profile->notes);
  return object;
}

}  // namespace

Json sections_json(const std::vector<Section>& sections) {
  Json object = Json::object();
  add_sections(object, sections);
  return object;
}

std::string documents_json(std::span<const Document> documents, std::span<const Note> notes) {
  if (documents.size() == 1 && documents[0].profile == nullptr) {
    return document_json(documents[0], notes);
  }
  Json all = Json::object();
  all["profiles"] = Json::array();
  for (const Document& document : documents) all["profiles"].push_back(json_of(document));
  all["notes"] = notes_json(notes);
  return json_text(all);
}

std::string document_json(const Document& document, std::span<const Note> notes) {
  Json object = json_of(document);
  object["notes"] = notes_json(notes);
  return json_text(object);
}

}  // namespace npuscope::report
