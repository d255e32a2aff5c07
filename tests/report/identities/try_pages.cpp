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
      where != nullptr && !where->drawing.empty()) {
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

}  // namespace

void try_pages(const Sample& sample, Tried& tried) {
  constexpr std::size_t all = 1'000'000;
  const json show = json_of(show_document(sample.analysis, {.top = 0}));
  const json units = json_of(units_document(sample.analysis, {.top = 0}));
  OpsRequest request;
  request.top = 0;
  const json ops = json_of(ops_document(sample.analysis, request));
  request.grouping = analysis::Grouping::kind;
  json kinds = json_of(ops_document(sample.analysis, request));
  if (kinds.contains("ops")) kinds["kinds"] = kinds["ops"];
  PathDocumentOptions path_options;
  path_options.top = path_options.steps = all;
  const json path = json_of(path_document(sample.analysis, path_options));

  for (const auto& [key, section] : show.items()) {
    if (key == "wall") continue;  // of units it has other facts
    try_same(show, units, key, tried);
  }
  try_same(show, ops, "ops", tried);
  try_same(show, kinds, "kinds", tried);
  if (show.contains("wall") && show["wall"].contains("rows") && !show["wall"]["rows"].empty()) {
    const json& wall = show["wall"];
    tried.near("shares of the wall are 1", sum_of(wall["rows"], "share_of_wall"), 1);
    tried.near("parts shown are the wall", sum_of(wall["rows"], "ticks"), wall["ticks"]);
    if (units.contains("wall")) {
      tried.near("wall of show is that of units", wall["ticks"], units["wall"]["wall"]);
      tried.near("active of show is that of units", wall["active"], units["wall"]["active"]);
      tried.near("work of show is that of units", wall["work"], units["wall"]["work"]);
    }
    if (path.contains("path") && path["path"]["inferences"] == 0) {
      tried.near("wall of path is that of show", path["path"]["wall"], wall["ticks"]);
    }
  }
  if (units.contains("units")) {
    for (const json& row : units["units"]["rows"]) {
      const double sum = row["busy"].get<double>() + row["waiting_for_dma"].get<double>() +
                         row["at_syncs"].get<double>() + row["at_barriers"].get<double>() +
                         row["idle"].get<double>();
      tried.near("busy, waits and idle shown are the wall", sum, units["wall"]["wall"],
                 row["unit"].get<std::string>());
    }
  }
  if (units.contains("concurrency")) {
    tried.near("concurrency covers the wall", sum_of(units["concurrency"]["rows"], "time"),
               units["wall"]["wall"]);
  }
  if (path.contains("parts") && path["path"]["wall"].get<double>() > 0) {
    tried.near("parts of the path are the wall", sum_of(path["parts"]["rows"], "time"),
               path["path"]["wall"]);
    tried.near("shares of the path are 1", sum_of(path["parts"]["rows"], "share_of_wall"), 1);
    tried.near("ops on the path are its work", sum_of(path["ops"]["rows"], "on_path"),
               path["path"]["work_on_path"]);
    tried.near("units on the path are its work", sum_of(path["units"]["rows"], "on_path"),
               path["path"]["work_on_path"]);
    tried.near("steps are its work", sum_of(path["steps"]["rows"], "duration"),
               path["path"]["work_on_path"]);
    for (const json& row : path["ops"]["rows"]) {
      for (const char* key : {"work", "on_path", "waiting_before", "slack", "gain_if_free"}) {
        if (!row[key].is_number()) continue;
        tried.not_negative("op of the path", row[key].get<double>() + 1e-6,
                           row["op"].get<std::string>() + " " + key);
      }
      if (row["gain_if_free"].is_number()) {
        tried.at_most("gain if free <= wall", row["gain_if_free"], path["path"]["wall"]);
      }
    }
    for (const json& row : path["reasons"]["rows"]) {
      tried.not_negative("wait of steps", row["waiting_before"].get<double>());
      tried.at_most("delay of steps <= wait", row["delay"], row["waiting_before"]);
    }
  }
  if (ops.contains("ops")) {
    for (const json& row : ops["ops"]["rows"]) {
      for (const auto& [key, value] : row.items()) {
        if (!value.is_number() || key.find("_share_of_") == key.npos) continue;
        tried.not_negative("share of an op", value.get<double>(), row["op"].dump() + " " + key);
        tried.at_most("share of an op <= 1", value.get<double>(), 1, row["op"].dump() + " " + key);
      }
    }
    for (const auto& [key, value] : ops["ops"].items()) {
      if (!key.ends_with("_total") || !value.is_number() || value.get<double>() <= 0) continue;
      const std::string share = key.substr(0, key.size() - 6) + "_share_of_all";
      if (ops["ops"]["rows"].empty() || !ops["ops"]["rows"][0].contains(share)) continue;
      tried.near("shares of all ops are 1", sum_of(ops["ops"]["rows"], share.c_str()), 1, share);
    }
  }
  try_first_page(sample, show, ops, tried);
}

}  // namespace npuscope::report::identities
