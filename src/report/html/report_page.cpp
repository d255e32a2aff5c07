#include "report/html/report_page.hpp"

#include <fmt/format.h>

#include "base/packed_text.hpp"
#include "report/document/json_head.hpp"
#include "report/document/json_text.hpp"
#include "report/document/provenance.hpp"
#include "report/html/page_json.hpp"
#include "report/html/page_template.hpp"
#include "report/html/profile_pages.hpp"

namespace npuscope::report {
namespace {

using Json = nlohmann::ordered_json;

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
  comparison_ = page_json("npuscope diff", document);
}

void ReportPage::set_fleet(const FleetReport& fleet) {
  fleet_ = {{"store", fleet.store},
            {"where", fleet.where.empty() ? Json() : Json(fleet.where)},
            {"pages", Json::array()},
            {"missing", Json::array()}};
  for (const FleetReport::Page& page : fleet.pages) {
    fleet_["pages"].push_back(page_json(page.command, page.document));
  }
  for (const auto& [command, why] : fleet.missing) {
    fleet_["missing"].push_back({{"command", command}, {"why", why}});
  }
}

void ReportPage::add_notes(const std::vector<Note>& notes) {
  for (Json& note : notes_json(notes)) notes_.push_back(std::move(note));
}

nlohmann::ordered_json ReportPage::report() const {
  return {{"schema_version", json_schema_version},
          {"npuscope", NPUSCOPE_VERSION},
          {"command", "report"},
          {"arguments", request_.arguments},
          {"profiles", profiles_},
          {"comparison", comparison_},
          {"fleet", fleet_},
          {"notes", notes_}};
}

std::string ReportPage::json() const {
  return json_text({{"arguments", request_.arguments},
                    {"profiles", profiles_},
                    {"comparison", comparison_},
                    {"fleet", fleet_},
                    {"fleet", fleet_},
                    {"notes", notes_}});
}

// The length of the head, the head, zeros up to a multiple of eight, the columns.
std::string ReportPage::data() const {
  const std::string head =
      Json{{"profiles", heads_}}.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += char(head.size() >> shift);
  bytes += head;
  while (bytes.size() % 8 != 0) bytes += '\0';
  return bytes + columns_;
}

std::string ReportPage::html() const {
  const std::string json = report().dump(-1, ' ', false, Json::error_handler_t::replace);
  const std::string page =
      filled(page_template[0].second, "<!--npuscope-report-->", within_script(json));
  return filled(page, "<!--npuscope-data-->", packed_text(data()));
}

}  // namespace npuscope::report
