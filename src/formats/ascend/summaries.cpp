#include "formats/ascend/summaries.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/has_text.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "formats/ascend/database.hpp"
#include "formats/ascend/kernels.hpp"
#include "ingest/delimited.hpp"
#include "npuscope/profile/intervals.hpp"
#include "npuscope/profile/spans_by_unit.hpp"

namespace npuscope::ascend {
namespace {

using Fields = std::vector<std::string>;
constexpr std::int64_t most_ns = std::int64_t{1} << 60;

std::int64_t ns_of(double value, double ns_each) {
  const double ns = value * ns_each;
  return ns > 0 && ns < double(most_ns) ? std::llround(ns) : 0;
}

class Table {
 public:
  explicit Table(ByteSource& source)
      : losses_(source.name()), lines_(source, losses_), records_(lines_, losses_, ',') {
    if (!records_.next()) return;
    heads_ = records_.fields();
    for (std::string& head : heads_) head = std::string(trimmed(head));
  }
  bool next() { return records_.next(); }
  std::string_view field(std::string_view head) const {
    const auto found = std::ranges::find(heads_, head);
    const auto place = std::size_t(found - heads_.begin());
    return place < std::min(heads_.size(), records_.cells().size())
               ? trimmed(records_.cells()[place])
               : std::string_view();
  }
  std::int64_t ns(std::string_view head) const {
    return ns_of(parse_number<double>(field(head)).value_or(0), 1e3);
  }

 private:
  CountedNotes losses_;
  LineReader lines_;
  DelimitedReader records_;
  Fields heads_;
};

// analysis.db, in microseconds too; what else it has, communication.json says.
void read_database_of_steps(Database& database, Summary& summary) {
  const auto ns = [](const Row& row, int column) {
    return ns_of(row.number(column).value_or(0), 1e3);
  };
  const Status read = database.each(
      "StepTraceTime",
      {"step", "computing", "communication", "communication_not_overlapped", "overlapped"},
      [&](const Row& row) {
        summary.steps.push_back({row.integer(0), ns(row, 1), ns(row, 2), ns(row, 3), ns(row, 4)});
      });
  if (!read) summary.steps.clear();
}

void read_ops(ByteSource& source, Summary& summary) {
  Table table(source);
  while (table.next()) {
    const std::string_view type = table.field("OP Type");
    if (type.empty()) continue;
    summary.ops.push_back({std::string(type), std::string(table.field("Core Type")),
                           parse_number<std::int64_t>(table.field("Count")).value_or(0),
                           table.ns("Total Time(us)")});
  }
}

void read_steps(ByteSource& source, Summary& summary) {
  Table table(source);
  while (table.next()) {
    if (table.field("Computing").empty()) continue;
    Summary::StepRow row;
    row.step = parse_number<std::int64_t>(table.field("Step"));
    row.computing_ns = table.ns("Computing");
    row.communication_ns = table.ns("Communication");
    row.exposed_ns = table.ns("Communication(Not Overlapped)");
    row.overlapped_ns = table.ns("Overlapped");
    summary.steps.push_back(row);
  }
}

Status read_collectives(ByteSource& source, Summary& summary) {
  constexpr std::uint64_t max_bytes = std::uint64_t{1} << 30;
  TRY_AS(text, read_all(source, max_bytes));
  simdjson::dom::parser parser;
  simdjson::dom::object steps;
  if (parser.parse(*text).get(steps)) {
    return input_error("{}: not a table of Ascend's collectives; copy the file again",
                       source.name());
  }
  for (const auto& step : steps) {
    simdjson::dom::object kinds;
    if (step.value.get(kinds)) continue;
    for (const auto& kind : kinds) {
      simdjson::dom::object collectives;
      if (kind.value.get(collectives)) continue;
      for (const auto& [name, facts] : collectives) {
        if (name.starts_with("Total Op Info")) continue;  // the sum of the others
        double elapse = 0, transit = 0;
        const auto time = facts["Communication Time Info"];
        if (time["Elapse Time(ms)"].get(elapse)) continue;
        if (time["Transit Time(ms)"].get(transit)) transit = 0;
        Summary::Collective made;
        made.name = name.substr(0, name.find('@'));
        made.elapse_ns = ns_of(elapse, 1e6);
        made.transit_ns = ns_of(transit, 1e6);
        simdjson::dom::object links;
        if (!facts["Communication Bandwidth Info"].get(links)) {
          for (const auto& [link, numbers] : links) {
            double megabytes = 0;
            if (link == "SDMA" || numbers["Transit Size(MB)"].get(megabytes)) continue;  // a sum
            if (megabytes > 0 && megabytes < 1e12) made.transit_bytes += megabytes * 1e6;
          }
        }
        summary.collectives.push_back(std::move(made));
      }
    }
  }
  return {};
}

// A table and a database may say the same: tried once.
void add_check(Profile& profile, std::string name, bool holds, std::string detail) {
  const auto is_same = [&](const Check& check) {
    return check.name == name && check.detail == detail;
  };
  if (std::ranges::any_of(profile.checks, is_same)) return;
  profile.checks.push_back({std::move(name),
                            holds ? Check::Outcome::passed : Check::Outcome::failed,
                            std::move(detail)});
}

bool is_near(std::int64_t a, std::int64_t b, std::int64_t allowed) {
  return saturating_subtract(std::max(a, b), std::min(a, b)) <= allowed;
}

// Kernels by type and kind of core: the profiler rounds each sum to 0.001 us.
void try_ops(const Summary& summary, Profile& profile) {
  const Spans& spans = profile.spans;
  std::map<std::string_view, std::pair<std::int64_t, std::int64_t>> kernels;  // count, ns
  for (std::size_t row = 0; row < spans.size(); ++row) {
    if (spans.kind[row] != SpanKind::kernel) continue;
    const Op& op = profile.ops[index_of(spans.op[row])];
    auto& [count, ns] = kernels[profile.text(op.node_kind)];
    count += 1;
    ns = saturating_add(ns, spans.duration[row]);
  }
  std::map<std::string_view, std::pair<std::int64_t, std::int64_t>> stated;
  for (const Summary::OpRow& row : summary.ops) {
    auto& [count, ns] = stated[row.type];
    count = saturating_add(count, row.count);
    ns = saturating_add(ns, row.total_ns);
  }
  std::size_t differ = 0;
  std::string first;
  for (const auto& [type, sums] : stated) {
    const auto found = kernels.find(type);
    const auto [count, ns] =
        found == kernels.end() ? std::pair<std::int64_t, std::int64_t>() : found->second;
    const std::int64_t allowed = 10 + 2 * std::min<std::int64_t>(count, 1'000'000);
    if (count == sums.first && is_near(ns, sums.second, allowed)) continue;
    ++differ;
    if (first.empty()) {
      first = fmt::format("{}: {} kernels of {:.3f} us, stated {} of {:.3f} us", type, count,
                          double(ns) * 1e-3, sums.first, double(sums.second) * 1e-3);
    }
  }
  add_check(profile, "kernels by type = the profiler's", differ == 0,
            differ == 0 ? fmt::format("{} types", stated.size())
                        : fmt::format("{} of {} types differ; {}", differ, stated.size(), first));
}

// Of a step, or of all where the table has no number of it.
IntervalSet work_of(const Profile& profile, SpanKind kind, const Summary::StepRow& row) {
  const Spans& spans = profile.spans;
  const bool is_all = !row.step || spans.instance.size() != spans.size();
  std::vector<Interval> times;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const bool counts =
        spans.kind[i] == kind && (is_all || std::int64_t(spans.instance[i]) == *row.step);
    if (counts) times.push_back(interval_of(spans, i));
  }
  return union_of(std::move(times));
}

void try_steps(const Summary& summary, Profile& profile) {
  const bool are_many = summary.steps.size() > 1;
  for (const Summary::StepRow& row : summary.steps) {
    const IntervalSet computing = work_of(profile, SpanKind::kernel, row);
    const IntervalSet exchange = work_of(profile, SpanKind::communication, row);
    const std::int64_t both = length_of(intersection_of(computing, exchange));
    const std::string of = are_many && row.step ? fmt::format("step {}: ", *row.step) : "";
    // Each kernel is rounded.
    const auto allowed = std::int64_t(1000 + 2 * computing.size());
    const auto check = [&](std::string_view what, std::int64_t found, std::int64_t stated) {
      add_check(profile, fmt::format("{}{} = the profiler's", of, what),
                is_near(found, stated, allowed),
                fmt::format("{:.3f} and {:.3f} us", double(found) * 1e-3, double(stated) * 1e-3));
    };
    check("computing", length_of(computing), row.computing_ns);
    check("communication", length_of(exchange), row.communication_ns);
    check("communication not overlapped", length_of(exchange) - both, row.exposed_ns);
  }
}

constexpr NamedNumber bytes_exchanged{"bytes exchanged", NumberQuantity::bytes};
constexpr NamedNumber waiting_for_ranks{"waiting for ranks", MeasureKind::work,
                                        NumberRole::communication_wait};

// What of a collective is no transit is waiting, whatever the table calls it: its "Wait Time" is of
// one plane only. A transit of no time is not known (of bytes between others than SDMA's planes).
// Where the trace has the tasks of all planes, these say it.
void add_collectives(const Summary& summary, Profile& profile) {
  Spans& spans = profile.spans;
  std::map<std::string_view, const Summary::Collective*> by_name;
  for (const Summary::Collective& each : summary.collectives) {
    const auto [found, is_new] = by_name.try_emplace(each.name, &each);
    if (!is_new) found->second = nullptr;  // of several steps: which is which is not known
  }
  std::erase_if(by_name, [](const auto& each) { return each.second == nullptr; });
  if (by_name.empty()) return;
  const bool has_waits = spans.measure(NumberRole::communication_wait) != nullptr;
  MeasureColumn bytes = profile.column_of(bytes_exchanged, Origin::measured);
  MeasureColumn waits = profile.column_of(waiting_for_ranks, Origin::derived, profile.base_clock);
  bytes.values.assign(spans.size(), MeasureColumn::missing);
  waits.values.assign(spans.size(), MeasureColumn::missing);
  std::size_t found_count = 0, differ = 0;
  std::int64_t lasting = 0, known = 0;  // of collectives, and of those whose transit is known
  for (std::size_t row = 0; row < spans.size(); ++row) {
    if (spans.kind[row] != SpanKind::communication) continue;
    lasting = saturating_add(lasting, spans.duration[row]);
    const auto found = by_name.find(profile.text(profile.ops[index_of(spans.op[row])].name));
    if (found == by_name.end()) continue;
    const Summary::Collective& stated = *found->second;
    ++found_count;
    constexpr std::int64_t allowed_ns = 2000;
    differ += !is_near(stated.elapse_ns, spans.duration[row], allowed_ns);
    bytes.values[row] = std::llround(stated.transit_bytes);
    if (stated.transit_ns == 0) continue;
    waits.values[row] =
        std::clamp<std::int64_t>(spans.duration[row] - stated.transit_ns, 0, spans.duration[row]);
    known = saturating_add(known, spans.duration[row]);
  }
  add_check(
      profile, "collectives = communication.json", differ == 0 && found_count == by_name.size(),
      fmt::format("{} of {} found, {} of another length", found_count, by_name.size(), differ));
  if (found_count == 0) return;
  spans.measures.push_back(std::move(bytes));
  if (known > lasting / 2 && !has_waits) spans.measures.push_back(std::move(waits));
}

std::string_view first_line(std::string_view head) {
  return without_byte_order_mark(head.substr(0, head.find('\n')));
}

bool has_all(std::string_view head, std::initializer_list<std::string_view> words) {
  return std::ranges::all_of(words, [&](const auto& word) { return has_text(head, word); });
}

}  // namespace

std::optional<Summary::Of> recognise_summary(std::string_view head) {
  const std::string_view line = first_line(head);
  if (has_all(line, {"OP Type,", "Core Type", "Count", "Total Time(us)"})) return Summary::Of::ops;
  if (has_all(line, {"Step,", "Computing,", "Communication(Not Overlapped)", "Free"})) {
    return Summary::Of::steps;
  }
  if (has_text(head, "\"Communication Time Info\"")) return Summary::Of::collectives;
  return std::nullopt;
}

bool looks_like_companion(std::string_view head) {
  const std::string_view line = first_line(head);
  constexpr std::array<std::string_view, 13> begins{
      "Device_id,kernel_name,kernel_type",
      "kernel_name,kernel_type",
      "Device_id,Iteration ID",
      "Device_id,OP Type,Count",
      "OP Type,Count",
      "Level,API Name",
      "Device_id,Level,API Name",
      "Name,Input Shapes,Call Stack",
      "Component,Timestamp(us)",
      "Device_id,Component",
      "Stream Id,Task Id,Hit Rate",
      "Name,Size(KB),Allocation Time(us)",
      "Device_id,Stream Id,Task Id",
  };
  if (std::ranges::any_of(begins, [&](auto begin) { return line.starts_with(begin); })) return true;
  return has_all(head, {"\"Transport Type\"", "\"Transit Size(MB)\""}) ||
         has_all(head, {"\"ENV_VARIABLES\"", "\"ASCEND_GLOBAL_LOG_LEVEL\""});
}

bool looks_like_recording(std::string_view head) {
  return has_all(head, {"\"experimental_config\"", "\"_profiler_level\""});
}

std::string recording_in(std::string_view text) {
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  if (parser.parse(text.data(), text.size()).get(document)) return {};
  const auto config = document["config"]["experimental_config"];
  std::string_view level, metrics;
  if (config["_profiler_level"].get(level)) return {};
  std::string recording(level);
  if (!config["_aic_metrics"].get(metrics)) recording += fmt::format(", {}", metrics);
  return valid_utf8(recording);
}

bool is_summary_database(const std::filesystem::path& path) {
  auto database = Database::open(path);
  return database && database->has_table("StepTraceTime");
}

Result<Summary> read_summary_database(const std::filesystem::path& path) {
  TRY_AS(database, Database::open(path));
  Summary summary;
  summary.of = Summary::Of::steps;
  summary.file = path.string();
  read_database_of_steps(*database, summary);
  return summary;
}

Result<Summary> read_summary(ByteSource& source, Summary::Of of) {
  Summary summary;
  summary.of = of;
  summary.file = source.name();
  switch (of) {
    case Summary::Of::ops: read_ops(source, summary); break;
    case Summary::Of::steps: read_steps(source, summary); break;
    case Summary::Of::collectives: TRY(read_collectives(source, summary)); break;
  }
  return summary;
}

void add_summary(const Summary& summary, Profile& profile) {
  profile.provenance.files.push_back(summary.file);
  switch (summary.of) {
    case Summary::Of::ops: try_ops(summary, profile); break;
    case Summary::Of::steps: try_steps(summary, profile); break;
    case Summary::Of::collectives: add_collectives(summary, profile); break;
  }
}

}  // namespace npuscope::ascend
