#include "report/html/page_json.hpp"

#include "report/document/sections_json.hpp"

namespace npuscope::report {
namespace {

using Json = nlohmann::ordered_json;

const char* word_of(Format format) {
  switch (format) {
    case Format::name: return "name";
    case Format::names: return "names";
    case Format::numbers: return "numbers";
    case Format::truth: return "truth";
    case Format::count: return "count";
    case Format::number: return "number";
    case Format::exact: return "exact";
    case Format::ticks: return "ticks";
    case Format::seconds: return "seconds";
    case Format::bytes: return "bytes";
    case Format::bytes_per_second: return "bytes_per_second";
    case Format::hertz: return "hertz";
    case Format::share: return "share";
    case Format::change: return "change";
    case Format::bar: return "bar";
  }
  return "name";
}

Json json_of(const Field& field) {
  Json object{{"key", field.key}, {"label", field.label}, {"format", word_of(field.format)}};
  if (field.clock) object["clock"] = index_of(*field.clock);
  if (field.only_if_known) object["only_if_known"] = true;
  return object;
}

Json layout_json(const std::vector<Section>& sections) {
  Json list = Json::array();
  for (const Section& section : sections) {
    if (section.key.empty()) continue;
    Json object{{"key", section.key}, {"title", section.title}};
    Json& facts = object["facts"] = Json::array();
    for (const Fact& fact : section.facts) {
      if (!fact.field.key.empty()) facts.push_back(json_of(fact.field));
    }
    Json& fields = object["fields"] = Json::array();
    for (const Field& field : section.table.fields) {
      if (!field.key.empty()) fields.push_back(json_of(field));
    }
    object["parts"] = layout_json(section.parts);
    if (section.in_list) object["in_list"] = true;
    list.push_back(std::move(object));
  }
  return list;
}

}  // namespace

Json page_json(const std::string& command, const Document& document) {
  return {{"command", command},
          {"scope", document.scope.empty() ? Json() : Json(document.scope)},
          {"values", sections_json(document.sections)},
          {"layout", layout_json(document.sections)}};
}

}  // namespace npuscope::report
