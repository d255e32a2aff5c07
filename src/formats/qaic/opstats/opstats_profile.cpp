#include "formats/qaic/opstats/opstats_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "base/memory_use.hpp"
#include "base/numbers.hpp"
#include "formats/qaic/device.hpp"
#include "formats/qaic/limits.hpp"
#include "formats/qaic/opstats/opstats_arguments.hpp"
#include "formats/qaic/opstats/opstats_names.hpp"
#include "formats/qaic/opstats/opstats_ops.hpp"
#include "formats/qaic/opstats/opstats_reader.hpp"
#include "formats/qaic/opstats/opstats_slices.hpp"
#include "profile/shape_texts.hpp"
#include "profile/texts.hpp"

namespace npuscope::qaic {
namespace {

using Role = ArgumentRole;

class OpstatsReader {
 public:
  explicit OpstatsReader(chrome::Events&& events)
      : events_(std::move(events)), rows_(events_.slices.size()) {
    profile_.strings = std::move(events_.strings);
    profile_.notes = std::move(events_.notes);
  }

  Profile run();

 private:
  void read_origin();
  void read_slices();
  void read_host_slice(std::size_t row, const OpstatsTrack& track);
  void read_slice(std::size_t row, const OpstatsTrack& track, const ArgumentValues& values);
  StringId text_of(const ArgumentValues& values, Role role);
  const KnownName& name_of(std::size_t row, const ArgumentValues& values);
  OpId op_of(std::size_t row, const OpstatsTrack& track, const ArgumentValues& values,
             const KnownName& name, SpanKind kind);
  void set_instance(std::size_t row, std::uint32_t inference);
  void rename_ops();
  void add_checks(const SliceRest& rest);
  void add_provenance();
  void note_fields();
  void name_file();

  const Arguments& arguments() const { return events_.slices.arguments; }
  const ArgumentPlan& plan_of(const ArgumentValues& values) const { return plans_[values.shape()]; }
  std::optional<std::int64_t> integer(const ArgumentValues& values, Role role) const {
    return values.integer(plan_of(values).place[std::size_t(role)]);
  }
  std::string_view text(StringId id) const { return profile_.strings[id]; }

  chrome::Events events_;
  const std::size_t rows_;
  Profile profile_;
  OpstatsTracks tracks_;
  std::vector<ArgumentPlan> plans_;
  std::optional<OpstatsOps> ops_;
  KnownNames names_;
  StringId last_name_{};
  const KnownName* last_known_ = nullptr;
  std::vector<PortSpan> ports_;
  static constexpr std::size_t max_inferences = 4096;
  std::set<std::uint32_t> inferences_;
  std::vector<bool> known_inferences_ = std::vector<bool>(max_inferences);  // of small numbers
  std::int64_t origin_ = 0;  // tick of the file's time 0
  bool is_npuscope_ = false;
  bool has_device_ = false;
  std::vector<std::uint32_t> host_rows_;
  std::optional<OpstatsTrace> trace_;
};

Profile OpstatsReader::run() {
  read_origin();
  const MergedThreads merged(events_.field("otherData"), is_npuscope_);
  tracks_ = add_opstats_units(events_.threads, events_.slices, merged, profile_);
  plans_ = plan_arguments(arguments(), profile_.strings);
  ops_.emplace(profile_, plans_, arguments());
  trace_.emplace(OpstatsTrace{events_, tracks_, plans_, profile_.strings, is_npuscope_, origin_});
  has_device_ =
      std::any_of(tracks_.of_thread.begin(), tracks_.of_thread.end(),
                  [](const OpstatsTrack& track) { return track.kind != OpstatsTrack::Kind::host; });
  read_slices();
  SliceRest rest = read_opstats_slices(*trace_, names_, *ops_, profile_.spans);
  profile_.spans.arguments = std::move(rest.arguments);
  add_checks(rest);
  free_memory_of(events_.slices.name);
  events_.slices.arguments = {};
  rename_ops();
  add_opstats_flows(events_.marks, events_.slices.thread, tracks_, origin_, profile_);
  add_port_edges(ports_, profile_);
  read_op_texts(profile_);
  add_opstats_marks(events_.marks, events_.threads, tracks_, origin_, profile_);
  add_provenance();
  note_fields();
  name_file();
  events_ = {};
  compact_strings(profile_);
  return std::move(profile_);
}

// npuscope's own traces say which tick of the timer is their time 0.
void OpstatsReader::read_origin() {
  const std::string_view other = events_.field("otherData");
  is_npuscope_ = other.find("\"npuscope\"") != other.npos;
  constexpr std::string_view key = "\"utimer_ticks_at_zero\"";
  const auto at = other.find(key);
  if (at == other.npos) return;
  const auto digits = other.find_first_of("-0123456789", at + key.size());
  if (digits == other.npos) return;
  std::string_view rest = std::string_view(other).substr(digits);
  const auto ticks = take_number<std::int64_t>(rest);
  if (ticks && std::abs(*ticks) < std::int64_t(max_ticks)) origin_ = *ticks;
}

// What depends on the slices before: ops, instances, names.
void OpstatsReader::read_slices() {
  Spans& spans = profile_.spans;
  spans.start = std::move(events_.slices.start);
  spans.duration = std::move(events_.slices.duration);
  spans.unit.resize(rows_);
  spans.op.resize(rows_);
  spans.kind.resize(rows_);
  spans.processor_cycles.resize(rows_);
  for (std::size_t row = 0; row < rows_; ++row) {
    const OpstatsTrack& track = trace_->track_of(row);
    spans.unit[row] = track.unit;
    const ArgumentValues values(arguments(), row, profile_.strings);
    if (trace_->is_of_device(track, values.shape())) {
      read_slice(row, track, values);
    } else {
      read_host_slice(row, track);
    }
  }
  if (!spans.instance.empty()) {
    for (const std::uint32_t row : host_rows_) spans.instance[row] = every_instance;
  }
  free_memory_of(events_.slices.category);
}

void OpstatsReader::read_host_slice(std::size_t row, const OpstatsTrack& track) {
  Spans& spans = profile_.spans;
  const StringId category =
      events_.slices.category.empty() ? StringId::empty : events_.slices.category[row];
  // What the host saw of inferences overlaps them, and is no work of the device.
  spans.kind[row] = has_device_ ? SpanKind::async : SpanKind::host;
  spans.op[row] = ops_->find_or_add({track.group, events_.slices.name[row], category});
  host_rows_.push_back(std::uint32_t(row));
}

void OpstatsReader::read_slice(std::size_t row, const OpstatsTrack& track,
                               const ArgumentValues& values) {
  Spans& spans = profile_.spans;
  const KnownName& name = name_of(row, values);
  SpanKind kind = name.kind;
  if (kind == SpanKind::op && track.kind == OpstatsTrack::Kind::dma) kind = SpanKind::transfer;
  spans.kind[row] = kind;
  spans.op[row] = op_of(row, track, values, name, kind);
  const auto inference = integer(values, Role::inference);
  if (inference && *inference >= 0 && *inference <= UINT32_MAX) {
    set_instance(row, std::uint32_t(*inference));
  } else if (name.inference) {
    set_instance(row, *name.inference);
  } else if (!spans.instance.empty()) {
    spans.instance[row] = 0;
  }
  if (plan_of(values).has(Role::transaction)) {
    ports_.push_back({std::uint32_t(row), text_of(values, Role::port_description),
                      text_of(values, Role::transaction)});
  }
}

// A text that may look like a number: "7".
StringId OpstatsReader::text_of(const ArgumentValues& values, Role role) {
  const std::uint32_t place = plan_of(values).place[std::size_t(role)];
  if (const auto id = values.text_id(place)) return *id;
  const auto number = values.integer(place);
  return number ? profile_.strings.intern(fmt::format("{}", *number)) : StringId::empty;
}

const KnownName& OpstatsReader::name_of(std::size_t row, const ArgumentValues& values) {
  const StringId id = events_.slices.name[row];
  if (last_known_ != nullptr && id == last_name_) return *last_known_;
  const auto [found, is_new] = names_.try_emplace(std::uint32_t(id));
  if (is_new) {
    const auto kind = values.text_id(plan_of(values).place[std::size_t(Role::op_kind)]);
    std::string_view op_kind = kind ? text(*kind) : std::string_view();
    op_kind = op_kind.substr(0, op_kind.find_last_not_of(' ') + 1);
    const SliceName name = parse_slice_name(text(id), op_kind);
    found->second = {name.kind, profile_.strings.intern(name.kernel), name.inference};
  }
  last_name_ = id;
  last_known_ = &found->second;
  return found->second;
}

OpId OpstatsReader::op_of(std::size_t row, const OpstatsTrack& track, const ArgumentValues& values,
                          const KnownName& name, SpanKind kind) {
  if (kind == SpanKind::inference) return OpId::none;
  OpKey key;
  key.group = track.group;
  key.name = text_of(values, Role::op_name);
  if (const auto number = integer(values, Role::number); number && *number >= 0) {
    key.number = *number;
  }
  const bool is_named = key.name != StringId::empty || key.number != OpKey::no_number;
  if (kind == SpanKind::sync || kind == SpanKind::barrier) {
    return is_named ? ops_->find_or_add(key) : OpId::none;
  }
  if (!is_named) {
    key.name = name.kernel;
    key.kernel = name.kernel;
  }
  const OpId op = ops_->find_or_add(key, name.kernel);
  if (plan_of(values).has_op_details && !ops_->is_described(op)) ops_->describe(op, row);
  return op;
}

void OpstatsReader::set_instance(std::size_t row, std::uint32_t inference) {
  Column<std::uint32_t>& instance = profile_.spans.instance;
  if (instance.empty()) instance.assign(rows_, 0);
  instance[row] = inference;
  if (inference < max_inferences) {
    if (known_inferences_[inference]) return;
    known_inferences_[inference] = true;
  }
  if (inferences_.size() < max_inferences) inferences_.insert(inference);
}

void OpstatsReader::rename_ops() {
  const std::vector<OpId> renamed = ops_->sort(tracks_.groups);
  for (OpId& op : profile_.spans.op) {
    if (op != OpId::none) op = renamed[index_of(op)];
  }
  ops_.reset();
}

void OpstatsReader::add_checks(const SliceRest& rest) {
  const auto add = [&](const Tally& tally, std::string name) {
    if (tally.tried == 0) return;
    const bool held = tally.failed == 0;
    profile_.checks.push_back(
        {std::move(name), held ? Check::Outcome::passed : Check::Outcome::failed,
         fmt::format("{} of {} slices{}", tally.tried - tally.failed, tally.tried,
                     held ? "" : "; the others keep what they say as arguments")});
  };
  add(rest.durations, "duration = opUCycle / 19.2 MHz");
  add(rest.ratios, "effectiveFreq, PCyclesPerKB, UCyclesPerKB = what they are made of");
}

void OpstatsReader::add_provenance() {
  Provenance& from = profile_.provenance;
  from.format = "Cloud AI 100 operator trace";
  const bool has_names = std::any_of(
      events_.threads.begin(), events_.threads.end(), [&](const chrome::Thread& thread) {
        return parse_track_name(text(thread.thread_name)).has_value();
      });
  from.version = is_npuscope_ ? "npuscope opstats" : has_names ? "qaic-opstats" : "SDK runtime";
  name_device(from);
  from.graph = fmt::format("{}", fmt::join(tracks_.labels, ", "));
  from.instrumentation = "operator statistics (stats level 70 or more)";
  from.inferences = std::uint32_t(inferences_.size());
  if (from.inferences > 0) return;
  std::map<std::uint32_t, std::uint32_t> executions;  // by unit
  for (std::size_t row = 0; row < rows_; ++row) {
    if (profile_.spans.kind[row] != SpanKind::inference) continue;
    const std::uint32_t count = ++executions[index_of(profile_.spans.unit[row])];
    from.inferences = std::max(from.inferences, count);
  }
}

// Members of the file beside its events; of npuscope's own, otherData has been understood.
void OpstatsReader::note_fields() {
  std::string names;
  std::uint64_t count = 0;
  for (const auto& [name, json] : events_.fields) {
    if (name == "displayTimeUnit" || (is_npuscope_ && name == "otherData")) continue;
    count += 1;
    if (count <= 8) names += (names.empty() ? "" : ", ") + name;
  }
  if (count == 0) return;
  profile_.notes.push_back({Severity::info, "", 0,
                            "top-level members beside the events, not in the profile: " + names +
                                (count > 8 ? ", ..." : ""),
                            count});
}

void OpstatsReader::name_file() {
  if (!events_.file.empty()) profile_.provenance.files = {events_.file};
  for (Note& note : profile_.notes) {
    if (note.file.empty()) note.file = events_.file;
  }
}

}  // namespace

std::int64_t ticks_of(std::int64_t nanoseconds) {
  constexpr std::int64_t ticks = 192, step = 10'000;
  std::int64_t whole = nanoseconds / step;
  std::int64_t rest = nanoseconds % step;
  if (rest < 0) {
    whole -= 1;
    rest += step;
  }
  return whole * ticks + (rest * ticks + step / 2) / step;
}

bool is_opstats_trace(const chrome::Events& events) {
  for (const chrome::Thread& thread : events.threads) {
    if (const auto track = parse_track_name(events.strings[thread.thread_name])) {
      if (track->group.empty() || engine_of_group(track->group) != Engine::other) return true;
    }
  }
  for (const ArgumentShape& shape : events.slices.arguments.shapes) {
    bool has_kind = false, has_cycles = false;
    for (const ArgumentKey& key : shape) {
      const Role role = argument_role(events.strings[key.name]);
      has_kind = has_kind || role == Role::op_kind || role == Role::op_name;
      has_cycles = has_cycles || role == Role::ucycles || role == Role::pcycles;
    }
    if (has_kind && has_cycles) return true;
  }
  return false;
}

Profile make_opstats_profile(chrome::Events&& events) {
  return OpstatsReader(std::move(events)).run();
}

}  // namespace npuscope::qaic
