#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/json_writer.hpp"
#include "formats/snapshot/snapshot.hpp"
#include "profile/names.hpp"

namespace npuscope::snapshot {
namespace {

constexpr const char* quantities[] = {"time", "bytes", "count", "share"};

// Without folders: where a file lay on one machine is noise in a repository.
std::string name_of_file(const std::string& file) {
  const std::filesystem::path path(file);
  return path.has_filename() ? path.filename().string() : path.parent_path().filename().string();
}

class SnapshotWriter {
 public:
  std::string write(std::span<const SnapshotRun> runs) {
    json_.begin_object(page_);
    json_.member("npuscope_snapshot", version);
    json_.key("runs");
    json_.begin_array(page_);
    for (std::size_t i = 0; i < runs.size(); ++i) write(runs[i], runs.first(i));
    json_.end_array();
    json_.end_object();
    return std::move(text_) + "\n";
  }

 private:
  void write(const SnapshotRun& run, std::span<const SnapshotRun> earlier) {
    const RunNumbers& numbers = run.numbers;
    clocks_.clear();
    json_.begin_object(page_);
    write_provenance(*run.profile, numbers);
    json_.key("inferences");
    write_inferences(numbers.inferences);
    find_clocks(numbers);
    lines("clocks", clocks_, [&](const TimeBase& clock) {
      json_.member("kind", stable_name(clock.kind));
      text("name", clock.name);
      if (clock.hertz > 0) json_.member("hertz", clock.hertz);
    });
    lines("numbers", numbers.metrics, [&](const Metric& metric) { write(metric, numbers); });
    lines("call", numbers.call, [&](const Metric& metric) { write(metric, numbers); });
    lines("op_columns", numbers.columns, [&](const OpSamples& column) {
      json_.member("name", column.name);
      json_.member("kind", stable_name(column.kind));
      write_unit(column.quantity, column.time);
      json_.key("inferences");
      write_inferences(column.inferences);
    });
    write_ops(numbers, earlier);
    write_findings(numbers.findings);
    lines("notes", run.profile->notes, [&](const Note& note) {
      json_.member("severity", stable_name(note.severity));
      text("file", name_of_file(note.file));
      json_.member("message", note.message);
      json_.member("count", note.count);
      if (note.offset > 0) json_.member("offset", note.offset);
    });
    json_.end_object();
  }

  void write_provenance(const Profile& profile, const RunNumbers& numbers) {
    const Provenance& from = profile.provenance;
    json_.key("files");
    json_.array(
        numbers.files, [&](const std::string& file) { json_.value(name_of_file(file)); }, line_);
    json_.member("format", from.format);
    text("version", from.version);
    text("device", from.device);
    text("graph", from.graph);
    text("instrumentation", from.instrumentation);
    text("selection", numbers.selection);
    json_.member("inference_count", from.inferences);
    json_.member("temperature", stable_name(from.temperature));
    if (index_of(profile.base_clock) < profile.clocks.size()) {
      const Clock& clock = profile.clocks[index_of(profile.base_clock)];
      json_.key("base_clock");
      json_.begin_object(line_);
      json_.member("kind", stable_name(clock.kind));
      text("name", profile.text(clock.name));
      if (clock.rate.value > 0) json_.member("hertz", clock.rate.value);
      json_.end_object();
    }
    const ProfileContent& held = numbers.content;
    json_.key("held");
    json_.begin_object(line_);
    json_.member("ops", held.ops);
    json_.member("edges", held.edges);
    json_.member("spans", held.has_spans);
    json_.member("one_inference", held.is_one_inference);
    json_.member("calls", held.is_of_calls);
    json_.end_object();
    if (numbers.is_estimated) json_.member("estimated", true);
    if (from.times == Origin::simulated) json_.member("simulated", true);
    if (from.simulator_slowdown > 0) json_.member("simulator_slowdown", from.simulator_slowdown);
    if (from.split_ops > 0) json_.member("split_ops", from.split_ops);
    json_.member("platform", stable_name(from.platform));
    if (!from.target.empty()) json_.member("target", from.target);
    if (numbers.metrics_left > 0) json_.member("numbers_left_out", numbers.metrics_left);
  }

  void find_clocks(const RunNumbers& numbers) {
    const auto find = [&](SampleQuantity quantity, const TimeBase& time) {
      if (quantity == SampleQuantity::time) clock_of(time);
    };
    for (const auto* metrics : {&numbers.metrics, &numbers.call}) {
      for (const Metric& metric : *metrics) find(metric.quantity, metric.time);
    }
    for (const OpSamples& column : numbers.columns) find(column.quantity, column.time);
  }

  std::size_t clock_of(const TimeBase& time) {
    const auto found = std::find(clocks_.begin(), clocks_.end(), time);
    const auto place = std::size_t(found - clocks_.begin());
    if (found == clocks_.end()) clocks_.push_back(time);
    return place;
  }

  void write_unit(SampleQuantity quantity, const TimeBase& time) {
    json_.member("in", quantities[std::size_t(quantity)]);
    if (quantity == SampleQuantity::time) json_.member("clock", clock_of(time));
  }

  // A number of the whole run is of "run".
  void write_inference(std::uint32_t inference) {
    if (inference == every_instance) return json_.value("run");
    json_.value(inference);
  }
  void write_inferences(const std::vector<std::uint32_t>& inferences) {
    json_.array(
        inferences, [&](std::uint32_t each) { write_inference(each); }, line_);
  }

  void write(const Metric& metric, const RunNumbers& numbers) {
    json_.member("name", metric.name);
    text("source", metric.source);
    json_.member("kind", stable_name(metric.kind));
    write_unit(metric.quantity, metric.time);
    if (metric.of_run) json_.member("of_run", true);
    if (metric.derived) json_.member("derived", true);
    if (metric.repeats) json_.member("repeats", true);
    const Meaning& meaning = metric.meaning;
    if (meaning.quantity != Meaning{}.quantity) {
      json_.member("quantity", stable_name(meaning.quantity));
    }
    if (meaning.role != NumberRole::none) json_.member("role", stable_name(meaning.role));
    if (meaning.statistic != Statistic::none) {
      json_.member("statistic", stable_name(meaning.statistic));
    }
    if (meaning.additive) json_.member("additive", true);
    std::vector<Sample> samples = metric.samples;
    std::erase_if(samples, [](const Sample& each) { return !std::isfinite(each.value); });
    const bool is_of_all = std::equal(
        samples.begin(), samples.end(), numbers.inferences.begin(), numbers.inferences.end(),
        [](const Sample& sample, std::uint32_t id) { return sample.inference == id; });
    if (!is_of_all) {
      json_.key("inferences");
      json_.array(
          samples, [&](const Sample& each) { write_inference(each.inference); }, line_);
    }
    json_.key("values");
    json_.array(
        samples, [&](const Sample& each) { json_.value(each.value); }, line_);
  }

  // Runs of one program have the same ops, which are written once.
  void write_ops(const RunNumbers& numbers, std::span<const SnapshotRun> earlier) {
    const auto same = std::find_if(earlier.begin(), earlier.end(), [&](const SnapshotRun& other) {
      return has_same_ops(other.numbers, numbers);
    });
    std::uint32_t group = 0;
    if (same == earlier.end()) {
      lines("ops", numbers.groups, [&](const OpGroup& each) { write(each, group++, numbers); });
      return;
    }
    json_.member("ops_of_run", same - earlier.begin() + 1);
    json_.key("op_values");
    json_.begin_array(rows_);
    for (; group < numbers.groups.size(); ++group) write_values(group, numbers);
    json_.end_array();
  }

  static bool has_same_ops(const RunNumbers& a, const RunNumbers& b) {
    return a.after == b.after && std::equal(a.groups.begin(), a.groups.end(), b.groups.begin(),
                                            b.groups.end(), [](const OpGroup& x, const OpGroup& y) {
                                              return x.label == y.label && x.kind == y.kind &&
                                                     x.shape == y.shape && x.ops == y.ops &&
                                                     x.identity == y.identity;
                                            });
  }

  // `feeds`: how many lines further down (or up) each group stands that this one feeds, so that an
  // op which is put in between changes few lines.
  void write(const OpGroup& group, std::uint32_t at, const RunNumbers& numbers) {
    text("op", group.label);
    text("kernel", group.kind);
    text("shape", group.shape);
    text("identity", group.identity);
    json_.member("count", group.ops);
    if (!numbers.after[at].empty()) {
      json_.key("feeds");
      json_.array(
          numbers.after[at],
          [&](std::uint32_t other) { json_.value(std::int64_t(other) - std::int64_t(at)); }, line_);
    }
    json_.key("values");
    write_values(at, numbers);
  }

  void write_values(std::uint32_t group, const RunNumbers& numbers) {
    json_.array(
        numbers.columns, [&](const OpSamples& column) { write_values(column, group); }, line_);
  }

  // In the order of the column's inferences; one number where all are the same, null for none.
  void write_values(const OpSamples& column, std::uint32_t group) {
    const auto begin = column.entries.begin() + column.first[group];
    const auto end = column.entries.begin() + column.first[group + 1];
    if (begin == end) return json_.null();
    const bool are_all = std::size_t(end - begin) == column.inferences.size();
    const bool are_same =
        std::all_of(begin, end, [&](const Sample& sample) { return sample.value == begin->value; });
    if (are_all && are_same) return json_.value(begin->value);
    json_.begin_array(line_);
    auto next = begin;
    for (const std::uint32_t inference : column.inferences) {
      if (next != end && next->inference == inference) {
        json_.value((next++)->value);
      } else {
        json_.null();
      }
    }
    json_.end_array();
  }

  void write_findings(const RunFindings& findings) {
    json_.key("findings");
    json_.begin_object(page_);
    lines("found", findings.found, [&](const auto& each) {
      json_.member("rule", each.rule);
      json_.member("weight", each.weight);
    });
    json_.key("quiet");
    json_.array(
        findings.quiet, [&](const std::string& rule) { json_.value(rule); }, line_);
    lines("untried", findings.untried, [&](const auto& each) {
      json_.member("rule", each.rule);
      json_.member("missing", each.missing);
    });
    json_.end_object();
  }

  // An object a line.
  template <class Rows, class Write>
  void lines(std::string_view name, const Rows& rows, Write write) {
    json_.key(name);
    json_.begin_array(rows_);
    for (const auto& row : rows) {
      json_.begin_object(line_);
      write(row);
      json_.end_object();
    }
    json_.end_array();
  }
  void text(std::string_view name, std::string_view value) {
    if (!value.empty()) json_.member(name, value);
  }

  const JsonLayout page_{.first = "\n", .between = ",\n", .last = "\n", .colon = ": "};
  const JsonLayout rows_{.first = "\n ", .between = ",\n ", .last = "\n"};
  const JsonLayout line_ = JsonLayout::wide();
  std::string text_;
  JsonWriter<std::string> json_{text_, line_};
  std::vector<TimeBase> clocks_;
};

}  // namespace

Result<std::string> write_snapshot(std::span<const SnapshotRun> runs) {
  std::size_t samples = 0;
  for (const SnapshotRun& run : runs) {
    for (const OpSamples& column : run.numbers.columns) samples += column.entries.size();
  }
  if (samples > max_op_samples) {
    return usage_error(
        "{} numbers of ops are too many for a snapshot (at most {}); take fewer inferences or runs",
        samples, max_op_samples);
  }
  std::string text = SnapshotWriter().write(runs);
  if (text.size() <= max_bytes) return text;
  return usage_error("a snapshot of {} bytes is too large (at most {}); take fewer runs",
                     text.size(), max_bytes);
}

}  // namespace npuscope::snapshot
