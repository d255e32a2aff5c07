#include "report/html/page_json.hpp"

#include "report/document/document_json.hpp"

namespace npuscope::report {
namespace {

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

void write_field(Json& json, const Field& field) {
  if (field.key.empty()) return;
  json.object([&] {
    json.member("key", field.key);
    json.member("label", field.label);
    json.member("format", word_of(field.format));
    if (field.clock) json.member("clock", index_of(*field.clock));
    if (field.only_if_known) json.member("only_if_known", true);
  });
}

void write_layout(Json& json, const std::vector<Section>& sections) {
  json.array(sections, [&](const Section& section) {
    if (section.key.empty()) return;
    json.object([&] {
      json.member("key", section.key);
      json.member("title", section.title);
      json.array("facts", section.facts, [&](const Fact& fact) { write_field(json, fact.field); });
      json.array("fields", section.table.fields,
                 [&](const Field& field) { write_field(json, field); });
      json.key("parts");
      write_layout(json, section.parts);
      if (section.in_list) json.member("in_list", true);
    });
  });
}

}  // namespace

void write_page(Json& json, std::string_view command, const Document& document) {
  json.member("command", command);
  json.member("scope", or_null(document.scope));
  json.object("values", [&] { write_sections(json, document.sections); });
  json.key("layout");
  write_layout(json, document.sections);
}

}  // namespace npuscope::report
