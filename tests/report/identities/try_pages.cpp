#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>

#include "analysis/ops/model_parts.hpp"
#include "report/document/document.hpp"
#include "report/identities/identities.hpp"
#include "report/ops/ops_document.hpp"
#include "report/path/path_document.hpp"
#include "report/show/show.hpp"
#include "report/units/units_document.hpp"

namespace npuscope::report::identities {
namespace {

using nlohmann::json;

json json_of(const Result<Document>& document) {
  if (!document) return json::object();
  return json::parse(documents_json({&*document, 1}, {}), nullptr, false)["profiles"][0];
}

const Section* section_of(const Document& document, std::string_view key) {
  const auto found = std::ranges::find(document.sections, key, &Section::key);
  return found == document.sections.end() ? nullptr : &*found;
}

double sum_of(const json& rows, const char* key) {
  double sum = 0;
  for (const json& row : rows) sum += row[key].is_number() ? row[key].get<double>() : 0;
  return sum;
}

// Whole per cent of a line: "compute ███ 65 %  idle 2 %".
std::vector<int> whole_percents(const std::string& line) {
  static const std::regex percent("(?:^|[^0-9.])([0-9]+) %");
  std::vector<int> found;
  for (std::sregex_iterator at(line.begin(), line.end(), percent), end; at != end; ++at) {
    found.push_back(std::stoi((*at)[1]));
  }
  return found;
}

void try_percents(const std::vector<int>& shown, std::vector<double> shares, const char* identity,
                  Tried& tried) {
  constexpr double notable = 0.005;
  std::erase_if(shares, [](double share) { return share < notable; });
  tried.equal(std::string(identity) + ": as many as in the JSON", std::int64_t(shown.size()),
              std::int64_t(shares.size()));
  for (std::size_t i = 0; i < std::min(shown.size(), shares.size()); ++i) {
    tried.holds(std::string(identity) + ": those of the JSON",
                std::abs(shown[i] - 100 * shares[i]) <= 0.5 + 1e-9,
                fmt::format("{} and {}", shown[i], 100 * shares[i]));
  }
}

std::vector<double> shares_of(const json& rows, const char* key) {
  std::vector<double> shares;
  for (const json& row : rows) shares.push_back(row[key].get<double>());
  return shares;
}

void try_first_page(const Sample& sample, const json& show, const json& ops, Tried& tried) {
  const Document page = first_page(sample.analysis, {.width = 160});
  if (const Section* where = section_of(page, "where");
      where != nullptr && !where->drawing.empty() && show.contains("wall")) {
    std::string line;  // the parts may take several; the strips below have fractions
    for (const std::string& each : where->drawing) line += each + "\n";
    try_percents(whole_percents(line), shares_of(show["wall"]["rows"], "share_of_wall"),
                 "per cent of the wall", tried);
  }
  const Section* section = section_of(page, "ops");
  if (section == nullptr) return;
  const auto& fields = section->table.fields;
  for (std::size_t i = 0; i < section->table.rows.size(); ++i) {
    const auto& row = section->table.rows[i];
    const json& twin = ops["ops"]["rows"][i];
    const std::string name = std::get<std::string>(row[0].held());
    tried.holds("ops of the first page are those of ops", twin["op"] == name,
                name + " and " + twin["op"].dump());
    for (std::size_t column = 0; column < fields.size(); ++column) {
      const double* number = std::get_if<double>(&row[column].held());
      if (number == nullptr || fields[column].format == Format::bar) continue;
      bool found = false;
      for (const auto& [key, value] : twin.items()) {
        found = found || (value.is_number() &&
                          std::abs(value.get<double>() - *number) <= 1e-9 * std::abs(*number));
      }
      tried.holds("numbers of ops of the first page are those of ops", found,
                  fmt::format("{} {}: {}", name, fields[column].label, *number));
    }
  }
  if (section->facts.empty()) return;
  const std::string parts = std::get<std::string>(section->facts[0].value.held());
  int sum = 0;
  const std::vector<int> shown = whole_percents(parts);
  for (const int each : shown) sum += each;
  tried.holds("parts of the model shown are 100 %",
              std::abs(sum - 100) <= 0.5 * double(shown.size() + 1), parts);
  std::vector<double> shares = shares_of(show["model_parts"]["rows"], "share");
  for (std::size_t i = 0; i + 1 < shown.size() && i < shares.size(); ++i) {
    tried.holds("parts of the model are those of the JSON",
                std::abs(shown[i] - 100 * shares[i]) <= 0.5 + 1e-9, parts);
  }
}

// A section that two commands print.
void try_same(const json& a, const json& b, const std::string& key, Tried& tried) {
  if (!a.contains(key) || !b.contains(key)) return;
  for (const auto& [name, value] : a[key].items()) {
    if (name == "remarks" || !b[key].contains(name)) continue;
    tried.holds("a section is the same on all pages", value == b[key][name],
                fmt::format("{} {}: {} and {}", key, name, value.dump().substr(0, 300),
                            b[key][name].dump().substr(0, 300)));
  }
}

// What the pages of a profile say as JSON.
struct Pages {
  json show, units, ops, kinds, path;
};

Pages pages_of(const analysis::Analysis& analysis) {
  constexpr std::size_t all = 1'000'000;
  Pages pages{json_of(show_document(analysis, {.top = 0})),
              json_of(units_document(analysis, {.top = 0})),
              {},
              {},
              {}};
  OpsRequest request;
  request.top = 0;
  pages.ops = json_of(ops_document(analysis, request));
  request.grouping = analysis::Grouping::kind;
  pages.kinds = json_of(ops_document(analysis, request));
  if (pages.kinds.contains("ops")) pages.kinds["kinds"] = pages.kinds["ops"];
  PathDocumentOptions path;
  path.top = path.steps = all;
  pages.path = json_of(path_document(analysis, path));
  return pages;
}

void try_wall(const Pages& pages, Tried& tried) {
  if (!pages.show.contains("wall") || pages.show["wall"]["rows"].empty()) return;
  const json& wall = pages.show["wall"];
  tried.near("shares of the wall are 1", sum_of(wall["rows"], "share_of_wall"), 1);
  tried.near("parts shown are the wall", sum_of(wall["rows"], "ticks"), wall["ticks"]);
  if (pages.units.contains("wall")) {
    const json& of_units = pages.units["wall"];
    tried.near("wall of show is that of units", wall["ticks"], of_units["wall"]);
    tried.near("active of show is that of units", wall["active"], of_units["active"]);
    tried.near("work of show is that of units", wall["work"], of_units["work"]);
  }
  if (pages.path.contains("path") && pages.path["path"]["inferences"] == 0) {
    tried.near("wall of path is that of show", pages.path["path"]["wall"], wall["ticks"]);
  }
}

void try_units(const json& page, Tried& tried) {
  if (page.contains("units")) {
    for (const json& row : page["units"]["rows"]) {
      double sum = 0;
      for (const char* part : {"busy", "waiting_for_dma", "at_syncs", "at_barriers", "idle"}) {
        sum += row[part].get<double>();
      }
      tried.near("busy, waits and idle shown are the wall", sum, page["wall"]["wall"],
                 row["unit"].get<std::string>());
    }
  }
  if (page.contains("concurrency")) {
    tried.near("concurrency covers the wall", sum_of(page["concurrency"]["rows"], "time"),
               page["wall"]["wall"]);
  }
}

void try_path_page(const json& page, Tried& tried) {
  if (!page.contains("parts") || page["path"]["wall"].get<double>() <= 0) return;
  const json &wall = page["path"]["wall"], &work = page["path"]["work_on_path"];
  tried.near("parts of the path are the wall", sum_of(page["parts"]["rows"], "time"), wall);
  tried.near("shares of the path are 1", sum_of(page["parts"]["rows"], "share_of_wall"), 1);
  tried.near("ops on the path are its work", sum_of(page["ops"]["rows"], "on_path"), work);
  tried.near("units on the path are its work", sum_of(page["units"]["rows"], "on_path"), work);
  tried.near("steps are its work", sum_of(page["steps"]["rows"], "duration"), work);
  for (const json& row : page["ops"]["rows"]) {
    for (const char* key : {"work", "on_path", "waiting_before", "slack", "gain_if_free"}) {
      if (!row[key].is_number()) continue;
      constexpr double rounding = 1e-6;
      tried.not_negative("op of the path", row[key].get<double>() + rounding,
                         row["op"].get<std::string>() + " " + key);
    }
    if (row["gain_if_free"].is_number()) {
      tried.at_most("gain if free <= wall", row["gain_if_free"], wall);
    }
  }
  for (const json& row : page["reasons"]["rows"]) {
    tried.not_negative("wait of steps", row["waiting_before"].get<double>());
    tried.at_most("delay of steps <= wait", row["delay"], row["waiting_before"]);
  }
}

void try_shares(const json& page, Tried& tried) {
  if (!page.contains("ops") || page["ops"]["rows"].empty()) return;
  const json& rows = page["ops"]["rows"];
  for (const json& row : rows) {
    for (const auto& [key, value] : row.items()) {
      if (!value.is_number() || key.find("_share_of_") == key.npos) continue;
      const std::string detail = row["op"].dump() + " " + key;
      tried.not_negative("share of an op", value.get<double>(), detail);
      tried.at_most("share of an op <= 1", value.get<double>(), 1, detail);
    }
  }
  constexpr std::string_view total = "_total";
  for (const auto& [key, value] : page["ops"].items()) {
    if (!key.ends_with(total) || !value.is_number() || value.get<double>() <= 0) continue;
    const std::string share = key.substr(0, key.size() - total.size()) + "_share_of_all";
    if (!rows[0].contains(share)) continue;
    tried.near("shares of all ops are 1", sum_of(rows, share.c_str()), 1, share);
  }
}

}  // namespace

void try_pages(const Sample& sample, Tried& tried) {
  const Pages pages = pages_of(sample.analysis);
  for (const auto& [key, section] : pages.show.items()) {
    if (key != "wall") try_same(pages.show, pages.units, key, tried);  // of units it has others
  }
  try_same(pages.show, pages.ops, "ops", tried);
  try_same(pages.show, pages.kinds, "kinds", tried);
  try_wall(pages, tried);
  try_units(pages.units, tried);
  try_path_page(pages.path, tried);
  try_shares(pages.ops, tried);
  try_first_page(sample, pages.show, pages.ops, tried);
}

}  // namespace npuscope::report::identities
