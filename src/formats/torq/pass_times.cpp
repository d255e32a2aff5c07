#include "formats/torq/pass_times.hpp"

#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "base/has_text.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "formats/chrome/events.hpp"
#include "npuscope/base/byte_source.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::torq {
namespace {

constexpr std::string_view report_title = "Execution time report";
constexpr std::string_view pass_event = "pass-execution";
constexpr std::uint64_t max_text_bytes = std::uint64_t{256} << 20;

bool looks_like_actions(std::string_view head) {
  return has_text(head, "\"pass-execution\"") && has_text(head, "\"PERF\"");
}

// Of a report's rows as they come, each with its depth.
class Tree {
 public:
  void add(std::string_view name, double seconds, std::size_t depth) {
    depth = std::min(depth, open_.size());
    open_.resize(depth);
    if (!open_.empty()) rows_[open_.back()].of_children += seconds;
    const bool is_within_itself = std::any_of(
        open_.begin(), open_.end(), [&](std::size_t row) { return rows_[row].name == name; });
    open_.push_back(rows_.size());
    rows_.push_back({std::string(name), seconds, 0, is_within_itself});
  }
  bool empty() const { return rows_.empty(); }

  // A list has no depth: each of its rows has all that it runs in it.
  std::vector<PassTime> passes(bool is_list) const {
    std::map<std::string_view, std::size_t> places;
    std::vector<PassTime> passes;
    for (const Row& row : rows_) {
      const auto [place, is_new] = places.try_emplace(row.name, passes.size());
      if (is_new) passes.emplace_back().name = row.name;
      PassTime& pass = passes[place->second];
      pass.runs += 1;
      if (!row.is_within_itself) pass.whole_seconds += row.seconds;
      if (is_list) continue;
      // Children on several threads may take longer together than the pass that runs them.
      pass.own_seconds =
          pass.own_seconds.value_or(0) + std::max(0.0, row.seconds - row.of_children);
    }
    std::stable_sort(passes.begin(), passes.end(), [](const PassTime& a, const PassTime& b) {
      return a.own_seconds.value_or(a.whole_seconds) > b.own_seconds.value_or(b.whole_seconds);
    });
    return passes;
  }

 private:
  struct Row {
    std::string name;
    double seconds = 0, of_children = 0;
    bool is_within_itself = false;  // its time is counted with that of the outer one
  };
  std::vector<Row> rows_;
  std::vector<std::size_t> open_;
};

// "Rest" and "Total" of a tree, "root" of a list are of the report.
class Report {
 public:
  void add(std::string_view name, double seconds, std::size_t depth) {
    if (depth == 0 && name == "Rest") {
      report_.rest_seconds = seconds;
    } else if (depth == 0 && name == "Total") {
      report_.wall_seconds = seconds;
    } else if (depth == 0 && name == "root" && tree_.empty()) {
      report_.form = PassReport::Form::timing_list;
      report_.wall_seconds = seconds;
    } else {
      tree_.add(name, seconds, depth);
    }
  }
  void lose() { ++report_.left_out; }
  void finish(std::vector<PassReport>& reports) {
    if (tree_.empty()) return;
    report_.passes = tree_.passes(report_.form == PassReport::Form::timing_list);
    reports.push_back(std::move(report_));
  }

 private:
  PassReport report_;
  Tree tree_;
};

struct TimingRow {
  double seconds = 0;
  std::string_view name;  // with the spaces that nest it
};

// "    0.2304 ( 46.2%)    0.2304 ( 46.3%)    Canonicalizer": the last time is the wall.
std::optional<TimingRow> timing_row(std::string_view line) {
  std::optional<double> seconds;
  while (true) {
    std::string_view rest = trimmed(line);
    const auto value = take_number<double>(rest);
    const std::string_view share = trimmed(rest);
    const auto end = share.find("%)");
    if (!value || !share.starts_with('(') || end == share.npos) break;
    seconds = value;
    line = share.substr(end + 2);
  }
  constexpr std::string_view between = "  ";
  if (!seconds || !std::isfinite(*seconds) || !line.starts_with(between)) return std::nullopt;
  return TimingRow{*seconds, line.substr(between.size())};
}

std::vector<PassReport> timing_reports(std::string_view text) {
  std::vector<PassReport> reports;
  std::optional<Report> report;
  while (!text.empty()) {
    const auto end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find(report_title) != line.npos) {
      if (report) report->finish(reports);
      report.emplace();
      continue;
    }
    if (!report || trimmed(line).empty()) continue;
    if (const auto row = timing_row(line)) {
      const std::size_t spaces = row->name.find_first_not_of(' ');
      if (spaces == row->name.npos) continue;
      report->add(row->name.substr(spaces), row->seconds, spaces / 2);
    } else if (trimmed(line).front() >= '0' && trimmed(line).front() <= '9') {
      report->lose();
    }
  }
  if (report) report->finish(reports);
  return reports;
}

// Lists of {"wall": {"duration": 0.2304, …}, "name": …, "passes": [ … ]}, a list a report.
class JsonTiming {
 public:
  explicit JsonTiming(Report& report) : report_(report) {}

  void add(const simdjson::dom::array& rows, std::size_t depth) {
    constexpr std::size_t max_depth = 200;
    for (const simdjson::dom::element row : rows) {
      double seconds = 0;
      std::string_view name;
      simdjson::dom::object of;
      if (row.get(of) || of.size() == 0) continue;
      if (of["wall"]["duration"].get(seconds) || of["name"].get(name)) {
        report_.lose();
        continue;
      }
      report_.add(name, seconds, depth);
      simdjson::dom::array passes;
      if (depth < max_depth && !of["passes"].get(passes)) add(passes, depth + 1);
    }
  }

 private:
  Report& report_;
};

std::vector<PassReport> json_reports(std::string_view text) {
  std::vector<PassReport> reports;
  simdjson::dom::parser parser;
  // Other lines of standard error may stand between them.
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t line_end = std::min(text.find('\n', at), text.size());
    if (trimmed(text.substr(at, line_end - at)) != "[") {
      at = line_end + 1;
      continue;
    }
    const std::size_t close = text.find("\n]", line_end);
    const std::string_view list = text.substr(at, close == text.npos ? text.npos : close + 2 - at);
    at += list.size();
    simdjson::dom::array rows;
    if (parser.parse(simdjson::padded_string(list)).get(rows)) continue;
    Report report;
    JsonTiming(report).add(rows, 0);
    report.finish(reports);
  }
  return reports;
}

// The pass of "`pass-execution` running `TileAndFuse` on Operation `func.func`".
std::string_view pass_of(std::string_view description) {
  constexpr std::string_view before = "running `";
  const auto at = description.find(before);
  if (at == description.npos) return pass_event;
  const std::string_view rest = description.substr(at + before.size());
  return rest.substr(0, rest.find('`'));
}

// Events nest by thread; what is not a pass belongs to the one around it.
Result<std::vector<PassReport>> action_reports(ByteSource& source) {
  TRY_AS(events, chrome::read_events(source));
  const chrome::Slices& slices = events->slices;
  std::vector<std::uint32_t> order;
  const auto end_of = [&](std::uint32_t row) {
    return saturating_add(slices.start[row], slices.duration[row]);
  };
  for (std::uint32_t row = 0; row < slices.size(); ++row) {
    if (events->strings[slices.name[row]] == pass_event) order.push_back(row);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (slices.thread[a] != slices.thread[b]) return slices.thread[a] < slices.thread[b];
    if (slices.start[a] != slices.start[b]) return slices.start[a] < slices.start[b];
    return slices.duration[a] > slices.duration[b];
  });
  if (order.empty()) {
    return input_error("{}: a trace of actions without an event {}; was it cut off?", source.name(),
                       pass_event);
  }
  constexpr double per_second = 1e9;
  Interval wall{slices.start[order.front()], end_of(order.front())};
  std::set<std::uint32_t> threads;
  Tree tree;
  std::vector<std::uint32_t> open;
  const StringId key = events->strings.intern("desc");
  const auto pass = [&](std::uint32_t row) {
    const auto description = slices.arguments.find(row, key);
    const bool is_text = description && description->key.type == ArgumentType::text;
    return is_text ? pass_of(events->strings[description->text()]) : pass_event;
  };
  for (const std::uint32_t row : order) {
    const bool is_new_thread = threads.insert(slices.thread[row]).second;
    if (is_new_thread) open.clear();
    while (!open.empty() && end_of(open.back()) <= slices.start[row]) open.pop_back();
    wall = {std::min(wall.begin, slices.start[row]), std::max(wall.end, end_of(row))};
    tree.add(pass(row), double(slices.duration[row]) / per_second, open.size());
    open.push_back(row);
  }
  PassReport report;
  report.form = PassReport::Form::actions;
  report.wall_seconds = double(length_of(wall)) / per_second;
  report.threads = std::uint32_t(threads.size());
  report.passes = tree.passes(false);
  for (const Note& note : events->notes) report.left_out += note.count;
  return std::vector{std::move(report)};
}

}  // namespace

bool looks_like_pass_times(std::string_view head) {
  const bool is_json =
      has_text(head, "\"wall\": {\"duration\":") && has_text(head, "\"percentage\":");
  return has_text(head, report_title) || is_json || looks_like_actions(head);
}

Result<std::vector<PassReport>> read_pass_times(const std::filesystem::path& path) {
  constexpr std::size_t head_bytes = std::size_t{64} << 10;
  TRY_AS(head, read_head(path, head_bytes));
  TRY_AS(source, open_byte_source(path));
  if (looks_like_actions(*head)) return action_reports(**source);
  TRY_AS(text, read_all(**source, max_text_bytes));
  auto reports = timing_reports(*text);
  if (reports.empty()) reports = json_reports(*text);
  if (!reports.empty()) return reports;
  return input_error(
      "{}: not a report of compile times; torq-compile writes one to standard error with "
      "--mlir-timing, or to a file with --profile-actions-to=FILE",
      path.string());
}

}  // namespace npuscope::torq
