#include <simdjson.h>

#include <algorithm>

#include "base/text.hpp"
#include "formats/snapshot/snapshot.hpp"
#include "profile/names.hpp"

namespace npuscope::snapshot {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

constexpr std::string_view first_key = "\"npuscope_snapshot\"";

std::string_view trimmed_front(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin == text.npos ? std::string_view() : text.substr(begin);
}

// What is wrong, and with which key; the first one stays, and all that follows reads as empty.
class Reading {
 public:
  void fail(std::string_view key, std::string_view wanted) {
    if (problem_.empty()) problem_ = fmt::format("'{}' is not {}", key, wanted);
  }
  const std::string& problem() const { return problem_; }

  // Of an object; none where it is absent.
  std::optional<element> find(const object& of, std::string_view key) {
    element found;
    if (!problem_.empty() || of.at_key(key).get(found)) return std::nullopt;
    return found;
  }
  template <class Value>
  Value get(const object& of, std::string_view key, std::string_view wanted) {
    Value value{};
    const auto found = find(of, key);
    if (!found || found->get(value)) fail(key, wanted);
    return value;
  }
  object dictionary(const element& of, std::string_view key) {
    object value;
    if (of.get(value)) fail(key, "an object");
    return value;
  }
  std::string_view text(const object& of, std::string_view key) {  // absent: empty
    return find(of, key) ? get<std::string_view>(of, key, "a text") : std::string_view();
  }
  bool truth(const object& of, std::string_view key) {  // absent: false
    return find(of, key) && get<bool>(of, key, "true or false");
  }
  std::uint64_t count(const object& of, std::string_view key) {  // absent: 0
    return find(of, key) ? get<std::uint64_t>(of, key, "a whole number") : 0;
  }
  double number(const object& of, std::string_view key) {  // absent: 0
    return find(of, key) ? get<double>(of, key, "a number") : 0;
  }
  template <class Enum>
  Enum named(const object& of, std::string_view key) {  // absent: the first
    const std::string_view name = text(of, key);
    const auto value = name.empty() ? std::optional(Enum{}) : value_named<Enum>(name);
    if (!value) fail(key, "a word that this version of npuscope knows");
    return value.value_or(Enum{});
  }
  // body(element) of each; absent: none.
  template <class Body>
  void each(const object& of, std::string_view key, Body body) {
    if (!find(of, key)) return;
    each(get<array>(of, key, "a list"), body);
  }
  template <class Body>
  void each(const array& list, Body body) {
    if (!problem_.empty()) return;
    for (const element& one : list) {
      if (!problem_.empty()) return;
      body(one);
    }
  }
  template <class Body>
  void each_object(const object& of, std::string_view key, Body body) {
    each(of, key, [&](const element& one) { body(dictionary(one, key)); });
  }

 private:
  std::string problem_;
};

class RunReader {
 public:
  RunReader(Reading& reading, std::size_t& samples, const std::vector<Profile>& earlier)
      : in_(reading), samples_(samples), earlier_(earlier) {}

  Profile read(const object& run, const std::string& file) {
    Profile profile;
    profile.provenance.files = {file};
    read_provenance(run, profile);
    const auto made = std::make_shared<RunNumbers>();
    numbers_ = made.get();
    read_numbers(run);
    profile.numbers = made;
    return profile;
  }

 private:
  std::string_view kept(std::string_view text) {
    return numbers_->strings[numbers_->strings.intern(text)];
  }

  void read_provenance(const object& run, Profile& profile) {
    Provenance& from = profile.provenance;
    from.format = in_.get<std::string_view>(run, "format", "a text");
    from.version = in_.text(run, "version");
    from.device = in_.text(run, "device");
    from.graph = in_.text(run, "graph");
    from.instrumentation = in_.text(run, "instrumentation");
    from.inferences = std::uint32_t(in_.count(run, "inference_count"));
    from.temperature = in_.named<Provenance::Temperature>(run, "temperature");
    if (in_.truth(run, "estimated")) from.times = Origin::estimated;
    if (in_.truth(run, "simulated")) from.times = Origin::simulated;
    from.simulator_slowdown = in_.count(run, "simulator_slowdown");
    from.split_ops = in_.count(run, "split_ops");
    if (in_.find(run, "platform")) {
      from.platform = in_.named<Provenance::Platform>(run, "platform");
      from.target = in_.text(run, "target");
    } else {
      tell_platform_by_device(from);
    }
    if (const auto clock = in_.find(run, "base_clock")) {
      const TimeBase base = time_base(in_.dictionary(*clock, "base_clock"));
      profile.clocks.push_back({profile.strings.intern(base.name), base.kind, Hertz{base.hertz}});
    }
    in_.each_object(run, "notes", [&](const object& note) {
      profile.notes.push_back({in_.named<Severity>(note, "severity"),
                               std::string(in_.text(note, "file")), in_.count(note, "offset"),
                               std::string(in_.text(note, "message")), in_.count(note, "count")});
    });
  }

  TimeBase time_base(const object& clock) {
    const double hertz = in_.number(clock, "hertz");
    return {in_.named<ClockKind>(clock, "kind"), in_.text(clock, "name"), std::max(0.0, hertz)};
  }

  void read_numbers(const object& run) {
    in_.each(run, "files", [&](const element& file) {
      std::string_view name;
      if (file.get(name)) return in_.fail("files", "a list of texts");
      numbers_->files.emplace_back(name);
    });
    numbers_->selection = in_.text(run, "selection");
    numbers_->is_estimated = in_.truth(run, "estimated");
    numbers_->metrics_left = in_.count(run, "numbers_left_out");
    numbers_->inferences = inferences(run);
    if (numbers_->inferences.empty()) in_.fail("inferences", "a list of at least one inference");
    if (const auto held = in_.find(run, "held")) {
      const object content = in_.dictionary(*held, "held");
      numbers_->content = {in_.count(content, "ops"), in_.count(content, "edges"),
                           in_.truth(content, "spans"), in_.truth(content, "one_inference"),
                           in_.truth(content, "calls")};
    }
    in_.each_object(run, "clocks", [&](const object& clock) {
      clocks_.push_back(time_base(clock));
      clocks_.back().name = kept(clocks_.back().name);
    });
    in_.each_object(run, "numbers",
                    [&](const object& one) { numbers_->metrics.push_back(metric(one)); });
    in_.each_object(run, "call", [&](const object& one) { numbers_->call.push_back(metric(one)); });
    in_.each_object(run, "op_columns", [&](const object& one) { read_column(one); });
    read_ops(run);
    read_findings(run);
  }

  // In rising order, as samples are.
  std::vector<std::uint32_t> inferences(const object& of) {
    std::vector<std::uint32_t> ids = inferences_in_any_order(of);
    const auto wrong = std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>());
    if (wrong != ids.end()) in_.fail("inferences", "a list in rising order");
    return ids;
  }
  std::vector<std::uint32_t> inferences_in_any_order(const object& of) {
    std::vector<std::uint32_t> ids;
    in_.each(of, "inferences", [&](const element& one) {
      std::string_view word;
      std::uint64_t id = 0;
      const bool is_run = !one.get(word) && word == "run";
      if (!is_run && (one.get(id) || id >= every_instance)) {
        return in_.fail("inferences", "a list of inferences");
      }
      ids.push_back(is_run ? every_instance : std::uint32_t(id));
    });
    return ids;
  }

  void read_unit(const object& of, SampleQuantity& quantity, TimeBase& time) {
    const std::string_view word = in_.text(of, "in");
    constexpr std::pair<std::string_view, SampleQuantity> all[] = {
        {"time", SampleQuantity::time},
        {"bytes", SampleQuantity::bytes},
        {"count", SampleQuantity::count},
        {"share", SampleQuantity::share}};
    const auto* found = std::find_if(std::begin(all), std::end(all),
                                     [&](const auto& each) { return each.first == word; });
    if (found == std::end(all)) return in_.fail("in", "time, bytes, count or share");
    quantity = found->second;
    if (quantity != SampleQuantity::time) return;
    const std::uint64_t clock = in_.get<std::uint64_t>(of, "clock", "a clock");
    if (clock >= clocks_.size()) return in_.fail("clock", "one of the clocks");
    time = clocks_[clock];
  }

  double value_of(const element& one) {
    double value = 0;
    if (one.get(value)) in_.fail("values", "a list of numbers");
    return value;
  }

  Metric metric(const object& of) {
    Metric metric;
    metric.name = in_.get<std::string_view>(of, "name", "a text");
    metric.source = in_.text(of, "source");
    metric.kind = in_.named<MeasureKind>(of, "kind");
    read_unit(of, metric.quantity, metric.time);
    metric.of_run = in_.truth(of, "of_run");
    metric.derived = in_.truth(of, "derived");
    metric.repeats = in_.truth(of, "repeats");
    if (in_.find(of, "quantity")) {
      metric.meaning.quantity = in_.named<NumberQuantity>(of, "quantity");
    }
    metric.meaning.role = in_.named<NumberRole>(of, "role");
    metric.meaning.statistic = in_.named<Statistic>(of, "statistic");
    metric.meaning.additive = in_.truth(of, "additive");
    const bool has_own = in_.find(of, "inferences").has_value();
    const std::vector<std::uint32_t> own =
        has_own ? inferences_in_any_order(of) : std::vector<std::uint32_t>();
    const std::vector<std::uint32_t>& ids = has_own ? own : numbers_->inferences;
    in_.each(of, "values", [&](const element& one) {
      if (metric.samples.size() == ids.size()) return in_.fail("values", too_many);
      metric.samples.push_back({ids[metric.samples.size()], value_of(one)});
    });
    if (metric.samples.size() != ids.size()) in_.fail("values", too_many);
    return metric;
  }

  void read_column(const object& of) {
    OpSamples column;
    column.name = in_.get<std::string_view>(of, "name", "a text");
    column.kind = in_.named<MeasureKind>(of, "kind");
    read_unit(of, column.quantity, column.time);
    column.inferences = inferences(of);
    column.first.push_back(0);
    numbers_->columns.push_back(std::move(column));
  }

  void read_ops(const object& run) {
    if (in_.find(run, "ops_of_run")) return read_known_ops(run);
    std::vector<std::vector<std::int64_t>> feeds;
    in_.each_object(run, "ops", [&](const object& op) {
      numbers_->groups.push_back(
          {kept(in_.text(op, "op")), kept(in_.text(op, "kernel")), kept(in_.text(op, "shape")),
           std::uint32_t(in_.count(op, "count")), kept(in_.text(op, "identity"))});
      auto& distances = feeds.emplace_back();
      in_.each(op, "feeds", [&](const element& one) {
        std::int64_t distance = 0;
        if (one.get(distance)) return in_.fail("feeds", "a list of whole numbers");
        distances.push_back(distance);
      });
      read_row(in_.get<array>(op, "values", "a list"));
    });
    if (numbers_->groups.empty()) in_.fail("ops", "a list of at least one line");
    const auto count = std::int64_t(numbers_->groups.size());
    numbers_->after.resize(feeds.size());
    for (std::size_t at = 0; at < feeds.size(); ++at) {
      for (const std::int64_t distance : feeds[at]) {
        const bool is_there = distance >= -std::int64_t(at) && distance < count - std::int64_t(at);
        if (!is_there) return in_.fail("feeds", "a list of lines that are there");
        numbers_->after[at].push_back(std::uint32_t(std::int64_t(at) + distance));
      }
      if (!std::is_sorted(numbers_->after[at].begin(), numbers_->after[at].end())) {
        in_.fail("feeds", "a list in rising order");
      }
    }
  }

  // The ops of an earlier run, with values of its own.
  void read_known_ops(const object& run) {
    const std::uint64_t number = in_.count(run, "ops_of_run");
    if (number < 1 || number > earlier_.size()) {
      return in_.fail("ops_of_run", "the number of an earlier run");
    }
    const RunNumbers& other = *earlier_[number - 1].numbers;
    // A line of a few bytes stands for a run's ops, so that its rows must be there.
    std::size_t rows = 0;
    in_.each(run, "op_values", [&](const element& one) {
      array row;
      if (rows++ == other.groups.size() || one.get(row)) return in_.fail("op_values", too_many);
      read_row(row);
    });
    if (rows != other.groups.size()) in_.fail("op_values", too_many);
    if (!in_.problem().empty()) return;
    for (const OpGroup& group : other.groups) {
      numbers_->groups.push_back(
          {kept(group.label), kept(group.kind), kept(group.shape), group.ops});
    }
    numbers_->after = other.after;
  }

  // A value for each column.
  void read_row(const array& row) {
    std::size_t column = 0;
    in_.each(row, [&](const element& one) {
      if (column == numbers_->columns.size()) return in_.fail("values", too_many);
      read_values(one, numbers_->columns[column++]);
    });
    if (column != numbers_->columns.size()) in_.fail("values", too_many);
  }

  void read_values(const element& one, OpSamples& column) {
    const std::size_t count = column.inferences.size();
    array list;
    if (one.get(list) == simdjson::SUCCESS) {
      std::size_t place = 0;
      in_.each(list, [&](const element& value) {
        if (place == count) return in_.fail("values", too_many);
        if (!value.is_null()) add(column, place, value_of(value));
        ++place;
      });
      if (place != count) in_.fail("values", too_many);
    } else if (!one.is_null()) {
      const double value = value_of(one);
      for (std::size_t place = 0; place < count && in_.problem().empty(); ++place) {
        add(column, place, value);
      }
    }
    column.first.push_back(std::uint32_t(column.entries.size()));
  }

  // A few bytes may stand for many numbers.
  void add(OpSamples& column, std::size_t place, double value) {
    if (samples_++ == max_op_samples) {
      return in_.fail("values", fmt::format("a list of at most {} numbers in all", max_op_samples));
    }
    column.entries.push_back({column.inferences[place], value});
  }

  void read_findings(const object& run) {
    RunFindings& findings = numbers_->findings;
    const object all = in_.get<object>(run, "findings", "an object");
    in_.each_object(all, "found", [&](const object& one) {
      findings.found.push_back(
          {std::string(in_.text(one, "rule")), std::string(in_.text(one, "weight"))});
    });
    in_.each(all, "quiet", [&](const element& one) {
      std::string_view rule;
      if (one.get(rule)) return in_.fail("quiet", "a list of texts");
      findings.quiet.emplace_back(rule);
    });
    in_.each_object(all, "untried", [&](const object& one) {
      findings.untried.push_back(
          {std::string(in_.text(one, "rule")), std::string(in_.text(one, "missing"))});
    });
  }

  static constexpr std::string_view too_many = "as long as the list that it belongs to";

  Reading& in_;
  std::size_t& samples_;
  const std::vector<Profile>& earlier_;
  RunNumbers* numbers_ = nullptr;
  std::vector<TimeBase> clocks_;
};

}  // namespace

bool looks_like(std::string_view head) {
  head = trimmed_front(without_byte_order_mark(head));
  return head.starts_with('{') && trimmed_front(head.substr(1)).starts_with(first_key);
}

Result<std::vector<Profile>> read_snapshot(std::string_view text, const std::string& file) {
  simdjson::dom::parser parser;
  element document;
  const simdjson::padded_string padded(without_byte_order_mark(text));
  if (const auto error = parser.parse(padded).get(document)) {
    return input_error("{}: the snapshot is damaged ({}); take it from git again, or make it anew",
                       file, simdjson::error_message(error));
  }
  Reading reading;
  const object whole = reading.dictionary(document, "the snapshot");
  const auto stated = reading.get<std::uint64_t>(whole, "npuscope_snapshot", "a version");
  if (stated > version) {
    return input_error(
        "{}: a snapshot of version {}, and this npuscope reads versions up to {}; use a newer "
        "npuscope, or make the snapshot again with this one",
        file, stated, version);
  }
  std::vector<Profile> profiles;
  std::size_t samples = 0;
  reading.each_object(whole, "runs", [&](const object& run) {
    profiles.push_back(RunReader(reading, samples, profiles).read(run, file));
  });
  if (profiles.empty()) reading.fail("runs", "a list of at least one run");
  if (!reading.problem().empty()) {
    return input_error("{}: the snapshot is damaged: {}{}; take it from git again, or make it anew",
                       file, profiles.empty() ? "" : fmt::format("run {}: ", profiles.size()),
                       reading.problem());
  }
  return profiles;
}

}  // namespace npuscope::snapshot
