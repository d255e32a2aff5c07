#include "report/html/report_page.hpp"

#include <fmt/format.h>

#include "base/packed_text.hpp"
#include "report/document/json_head.hpp"
#include "report/document/profile_json.hpp"
#include "report/html/page_json.hpp"
#include "report/html/page_template.hpp"
#include "report/html/profile_pages.hpp"

namespace npuscope::report {
namespace {

// A script ends at "</", whatever it is of.
std::string within_script(const std::string& json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

std::string filled(std::string_view page, std::string_view mark, std::string_view by) {
  const std::size_t at = page.find(mark);
  return std::string(page.substr(0, at)).append(by).append(page.substr(at + mark.size()));
}

template <class Fill>
std::string compact(Fill fill) {
  std::string text;
  Json json(text, compact_layout());
  json.object([&] { fill(json); });
  return text;
}

void write_list(Json& json, std::string_view key, const std::vector<std::string>& values) {
  json.array(key, values, [&](const std::string& value) { json.raw(value); });
}

// JSON without blanks, as json_text() writes it.
std::string indented(std::string_view json) {
  std::string out;
  std::size_t depth = 0;
  bool in_text = false;
  const auto add_line = [&] { out.append(1, '\n').append(2 * depth, ' '); };
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    const bool ends = c == '}' || c == ']';
    if (ends && !in_text) {
      --depth;
      if (json[i - 1] != '{' && json[i - 1] != '[') add_line();
    }
    out += c;
    if (c == '"') in_text = !in_text;
    if (!in_text) {
      if (c == ':') out += ' ';
      if (c == '{' || c == '[') {
        ++depth;
        if (json[i + 1] != '}' && json[i + 1] != ']') add_line();
      }
      if (c == ',') add_line();
    } else if (c == '\\') {
      out += json[++i];
    }
  }
  return out += '\n';
}

}  // namespace

void ReportPage::add(const analysis::Analysis& analysis, const ReportPart& part) {
  ProfilePages pages = profile_pages(analysis, request_, part);
  profiles_.push_back(std::move(pages.report));
  ProfileColumns columns =
      profile_columns(analysis, pages.op_rows, pages.places, request_.limits, columns_.size());
  heads_.push_back(std::move(columns.head));
  columns_ += columns.bytes;
}

void ReportPage::set_comparison(const Document& document) {
  comparison_ = compact([&](Json& json) { write_page(json, "npuscope diff", document); });
}

void ReportPage::set_fleet(const FleetReport& fleet) {
  fleet_ = compact([&](Json& json) {
    json.member("store", fleet.store);
    json.member("where", or_null(fleet.where));
    json.objects("pages", fleet.pages, [&](const FleetReport::Page& page) {
      write_page(json, page.command, page.document);
    });
    json.objects("missing", fleet.missing, [&](const auto& missing) {
      json.member("command", missing.first);
      json.member("why", missing.second);
    });
  });
}

void ReportPage::add_notes(const std::vector<Note>& notes) {
  notes_.insert(notes_.end(), notes.begin(), notes.end());
}

void ReportPage::write_members(Json& json) const {
  json.member("arguments", request_.arguments);
  write_list(json, "profiles", profiles_);
  json.key("comparison");
  json.raw(comparison_);
  json.key("fleet");
  json.raw(fleet_);
  write_notes(json, notes_);
}

std::string ReportPage::json() const {
  return indented(compact([&](Json& json) { write_members(json); }));
}

// The length of the head, the head, zeros up to a multiple of eight, the columns.
std::string ReportPage::data() const {
  const std::string head = compact([&](Json& json) { write_list(json, "profiles", heads_); });
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += char(head.size() >> shift);
  bytes += head;
  while (bytes.size() % 8 != 0) bytes += '\0';
  return bytes + columns_;
}

std::string ReportPage::html() const {
  const std::string report = compact([&](Json& json) {
    json.member("schema_version", json_schema_version);
    json.member("npuscope", NPUSCOPE_VERSION);
    json.member("command", "report");
    write_members(json);
  });
  const std::string page =
      filled(page_template[0].second, "<!--npuscope-report-->", within_script(report));
  return filled(page, "<!--npuscope-data-->", packed_text(data()));
}

}  // namespace npuscope::report
