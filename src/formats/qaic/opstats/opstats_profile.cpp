#include "formats/qaic/opstats/opstats_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "base/numbers.hpp"
#include "formats/qaic/limits.hpp"
#include "formats/qaic/opstats/kept_arguments.hpp"
#include "formats/qaic/opstats/opstats_arguments.hpp"
#include "formats/qaic/opstats/opstats_names.hpp"
#include "formats/qaic/opstats/opstats_ops.hpp"
#include "formats/qaic/opstats/opstats_reader.hpp"
#include "profile/compact_strings.hpp"
#include "profile/shape_texts.hpp"

namespace npuscope::qaic {
namespace {

using Role = ArgumentRole;

constexpr double ticks_per_microsecond = 19.2;

// What a slice's name says, found once for each name.
struct KnownName {
  SpanKind kind = SpanKind::op;
  StringId kernel{};
  std::optional<std::uint32_t> inference;
};

// A row's numbers, parsed once.
struct RowNumbers {
  std::optional<std::int64_t> op;  // its number
  std::optional<std::int64_t> pcycles;
  std::optional<std::int64_t> ucycles;
  std::optional<std::int64_t> output_bytes;
};

// How often an identity held.
struct Tally {
  std::uint64_t tried = 0;
  std::uint64_t failed = 0;
  void add(bool holds) {
    tried += 1;
    failed += holds ? 0 : 1;
  }
};

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
  void read_slice(std::size_t row, const OpstatsTrack& track);
  StringId text_of(std::uint32_t place);
  const KnownName& name_of(std::size_t row, const ArgumentPlan& plan);
  OpId op_of(std::size_t row, const OpstatsTrack& track, const ArgumentPlan& plan,
             const KnownName& name, SpanKind kind);
  void place_in_time(std::size_t row, const ArgumentPlan& plan, SpanKind kind);
  void set_instance(std::size_t row, std::uint32_t inference);
  void keep_arguments(std::size_t row, const ArgumentPlan& plan, const KnownName& name, OpId op);
  bool is_told(std::size_t row, std::uint32_t place, const ArgumentPlan& plan,
               const KnownName& name, OpId op);
  bool is_ratio_of_row(std::uint32_t place, const ArgumentPlan& plan);
  void rename_ops();
  void add_checks();
  void add_provenance();
  void note_fields();
  void name_file();

  // Whether the ticks of a slice are its length, although it is drawn shorter.
  bool restores(std::size_t row) const {
    return is_npuscope_ && tracks_.of_thread[events_.slices.thread[row]].threads == 1;
  }
  // From where the slice begins to where it ends, each to the tick. Before place_in_time().
  std::int64_t drawn_ticks(std::size_t row) const {
    const std::int64_t start = profile_.spans.start[row];
    return ticks_of(start + profile_.spans.duration[row]) - ticks_of(start);
  }
  const Arguments& arguments() const { return events_.slices.arguments; }
  std::optional<std::int64_t> integer(const ArgumentPlan& plan, Role role) const {
    return values_->integer(plan.place[std::size_t(role)]);
  }
  std::string_view text(StringId id) const { return profile_.strings[id]; }

  chrome::Events events_;
  const std::size_t rows_;
  Profile profile_;
  OpstatsTracks tracks_;
  std::vector<ArgumentPlan> plans_;
  std::optional<OpstatsOps> ops_;
  std::optional<KeptArguments> kept_;
  std::vector<std::uint32_t> keep_places_;
  std::unordered_map<std::uint32_t, KnownName> names_;
  std::optional<ArgumentValues> values_;  // of the row at hand
  RowNumbers numbers_;                    // as well
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
  Tally durations_, ratios_;
};

Profile OpstatsReader::run() {
  read_origin();
  const MergedThreads merged(events_.field("otherData"), is_npuscope_);
  tracks_ = add_opstats_units(events_.threads, events_.slices, merged, profile_);
  plans_ = plan_arguments(arguments(), profile_.strings);
  ops_.emplace(profile_, plans_, arguments());
  kept_.emplace(arguments(), rows_);
  has_device_ =
      std::any_of(tracks_.of_thread.begin(), tracks_.of_thread.end(),
                  [](const OpstatsTrack& track) { return track.kind != OpstatsTrack::Kind::host; });
  read_slices();
  profile_.spans.arguments = kept_->finish();
  add_checks();
  kept_.reset();
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

void OpstatsReader::read_slices() {
  Spans& spans = profile_.spans;
  spans.start = std::move(events_.slices.start);
  spans.duration = std::move(events_.slices.duration);
  spans.unit.resize(rows_);
  spans.op.resize(rows_);
  spans.kind.resize(rows_);
  spans.processor_cycles.resize(rows_);
  for (std::size_t row = 0; row < rows_; ++row) {
    const OpstatsTrack& track = tracks_.of_thread[events_.slices.thread[row]];
    spans.unit[row] = track.unit;
    spans.processor_cycles[row] = -1;
    values_.emplace(arguments(), row, profile_.strings);
    const bool is_of_device =
        track.kind != OpstatsTrack::Kind::host ||
        (plans_[values_->shape()].has(Role::op_kind) && !track.is_host_process);
    if (!is_of_device) {
      read_host_slice(row, track);
    } else {
      read_slice(row, track);
    }
  }
  if (!spans.instance.empty()) {
    for (const std::uint32_t row : host_rows_) spans.instance[row] = every_instance;
  }
  events_.slices.name = {};
  events_.slices.category = {};
}

void OpstatsReader::read_host_slice(std::size_t row, const OpstatsTrack& track) {
  Spans& spans = profile_.spans;
  const StringId category =
      events_.slices.category.empty() ? StringId::empty : events_.slices.category[row];
  // What the host saw of inferences overlaps them, and is no work of the device.
  spans.kind[row] = has_device_ ? SpanKind::async : SpanKind::host;
  spans.op[row] = ops_->find_or_add({track.group, events_.slices.name[row], category});
  const std::int64_t start = ticks_of(spans.start[row]);
  spans.duration[row] = ticks_of(spans.start[row] + spans.duration[row]) - start;
  spans.start[row] = origin_ + start;
  host_rows_.push_back(std::uint32_t(row));
  const std::size_t count = arguments().count(row);
  if (count == 0) return;
  keep_places_.clear();
  for (std::uint32_t place = 0; place < count; ++place) keep_places_.push_back(place);
  kept_->keep(row, keep_places_);
}

void OpstatsReader::read_slice(std::size_t row, const OpstatsTrack& track) {
  Spans& spans = profile_.spans;
  const ArgumentPlan& plan = plans_[values_->shape()];
  const KnownName& name = name_of(row, plan);
  SpanKind kind = name.kind;
  if (kind == SpanKind::op && track.kind == OpstatsTrack::Kind::dma) kind = SpanKind::transfer;
  spans.kind[row] = kind;
  numbers_ = {integer(plan, Role::number), integer(plan, Role::pcycles),
              integer(plan, Role::ucycles), integer(plan, Role::output_size)};
  const OpId op = op_of(row, track, plan, name, kind);
  spans.op[row] = op;
  const auto cycles = numbers_.pcycles;
  if (cycles && *cycles >= 0 && *cycles < std::int64_t(max_ticks))
    spans.processor_cycles[row] = *cycles;
  keep_arguments(row, plan, name, op);
  place_in_time(row, plan, kind);
  const auto inference = integer(plan, Role::inference);
  if (inference && *inference >= 0 && *inference <= UINT32_MAX) {
    set_instance(row, std::uint32_t(*inference));
  } else if (name.inference) {
    set_instance(row, *name.inference);
  } else if (!spans.instance.empty()) {
    spans.instance[row] = 0;
  }
  if (plan.has(Role::transaction)) {
    const auto port = [&](Role role) { return text_of(plan.place[std::size_t(role)]); };
    ports_.push_back({std::uint32_t(row), port(Role::port_description), port(Role::transaction)});
  }
}

// A text that may look like a number: "7".
StringId OpstatsReader::text_of(std::uint32_t place) {
  if (const auto id = values_->text_id(place)) return *id;
  const auto number = values_->integer(place);
  return number ? profile_.strings.intern(fmt::format("{}", *number)) : StringId::empty;
}

const KnownName& OpstatsReader::name_of(std::size_t row, const ArgumentPlan& plan) {
  const StringId id = events_.slices.name[row];
  if (last_known_ != nullptr && id == last_name_) return *last_known_;
  const auto [found, is_new] = names_.try_emplace(std::uint32_t(id));
  if (is_new) {
    const auto kind = values_->text_id(plan.place[std::size_t(Role::op_kind)]);
    std::string_view op_kind = kind ? text(*kind) : std::string_view();
    op_kind = op_kind.substr(0, op_kind.find_last_not_of(' ') + 1);
    const SliceName name = parse_slice_name(text(id), op_kind);
    found->second = {name.kind, profile_.strings.intern(name.kernel), name.inference};
  }
  last_name_ = id;
  last_known_ = &found->second;
  return found->second;
}

OpId OpstatsReader::op_of(std::size_t row, const OpstatsTrack& track, const ArgumentPlan& plan,
                          const KnownName& name, SpanKind kind) {
  if (kind == SpanKind::inference) return OpId::none;
  OpKey key;
  key.group = track.group;
  key.name = text_of(plan.place[std::size_t(Role::op_name)]);
  if (numbers_.op && *numbers_.op >= 0) key.number = *numbers_.op;
  const bool is_named = key.name != StringId::empty || key.number != OpKey::no_number;
  if (kind == SpanKind::sync || kind == SpanKind::barrier) {
    return is_named ? ops_->find_or_add(key) : OpId::none;
  }
  if (!is_named) {
    key.name = name.kernel;
    key.kernel = name.kernel;
  }
  const OpId op = ops_->find_or_add(key, name.kernel);
  if (plan.has_op_details && !ops_->is_described(op)) ops_->describe(op, row);
  return op;
}

// Durations are the ticks that were recorded. Where a slice is not as long: on the track of one
// thread npuscope draws the end of what it had to shorten; on that of several it draws how long the
// group was at it, and the ticks are its slowest thread's; others draw what the thread did, while
// the ticks may include a transfer that ends later.
void OpstatsReader::place_in_time(std::size_t row, const ArgumentPlan& plan, SpanKind kind) {
  Spans& spans = profile_.spans;
  const std::int64_t start = spans.start[row];
  const std::int64_t drawn = ticks_of(spans.duration[row]);
  std::int64_t ticks = drawn;
  std::int64_t begin = ticks_of(start);
  auto recorded = numbers_.ucycles;
  if (recorded && (*recorded < 0 || *recorded > std::int64_t(max_ticks))) recorded.reset();
  if (kind == SpanKind::sync && spans.duration[row] == 0) {
    const auto wait = values_->number(plan.place[std::size_t(Role::wait_microseconds)]);
    const bool usable = wait && *wait >= 0 && *wait * ticks_per_microsecond < double(max_ticks);
    if (recorded || usable)
      ticks = recorded ? *recorded : std::llrint(*wait * ticks_per_microsecond);
  } else if (is_npuscope_ && !restores(row)) {
    ticks = drawn_ticks(row);
  } else if (recorded && std::abs(*recorded - drawn) <= 1) {
    ticks = *recorded;
  } else if (recorded && restores(row)) {
    ticks = *recorded;
    begin = ticks_of(start + spans.duration[row]) - ticks;
  }
  spans.start[row] = origin_ + begin;
  spans.duration[row] = ticks;
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

void OpstatsReader::keep_arguments(std::size_t row, const ArgumentPlan& plan, const KnownName& name,
                                   OpId op) {
  keep_places_.clear();
  for (std::uint32_t place = 0; place < plan.roles.size(); ++place) {
    if (!is_told(row, place, plan, name, op)) keep_places_.push_back(place);
  }
  if (!keep_places_.empty()) kept_->keep(row, keep_places_);
}

// Whether the tables hold what the argument says.
bool OpstatsReader::is_told(std::size_t row, std::uint32_t place, const ArgumentPlan& plan,
                            const KnownName& name, OpId op) {
  const Role role = plan.roles[place];
  switch (role) {
    case Role::other:
    case Role::port_description:
    case Role::transaction: return false;
    case Role::number: return op != OpId::none && numbers_.op.value_or(-1) >= 0;
    case Role::op_name: return op != OpId::none && text_of(place) != StringId::empty;
    case Role::op_kind: {
      const auto kind = values_->text_id(place);
      if (!kind || op == OpId::none) return false;
      if (*kind == name.kernel) return true;
      const std::string_view told = text(*kind);
      return told.substr(0, told.find_last_not_of(' ') + 1) == text(name.kernel);
    }
    case Role::pcycles: return profile_.spans.processor_cycles[row] >= 0;
    case Role::ucycles: {
      const auto recorded = numbers_.ucycles;
      if (!recorded || *recorded < 0 || *recorded > std::int64_t(max_ticks)) return false;
      const bool is_wait = name.kind == SpanKind::sync && profile_.spans.duration[row] == 0;
      const bool drawn = std::abs(*recorded - ticks_of(profile_.spans.duration[row])) <= 1;
      if (restores(row) || is_wait) return true;
      if (is_npuscope_) return *recorded == drawn_ticks(row);
      durations_.add(drawn);
      return drawn;
    }
    case Role::wait_microseconds: return values_->number(place).has_value();
    case Role::inference:
    case Role::core: return values_->integer(place).has_value();
    default: break;
  }
  if (is_of_op(role)) return op != OpId::none && ops_->agrees(op, row, values_->row(), place);
  return is_ratio_of_row(place, plan);
}

// Printed with six digits behind the point.
bool OpstatsReader::is_ratio_of_row(std::uint32_t place, const ArgumentPlan& plan) {
  const Role role = plan.roles[place];
  const auto told = values_->number(place);
  const auto& [op, pcycles, ucycles, size] = numbers_;
  double expected = -1;
  if (role == Role::frequency && pcycles && ucycles && *ucycles > 0) {
    expected = double(*pcycles) / double(*ucycles) * ticks_per_microsecond;
  } else if (role == Role::pcycles_per_kilobyte && pcycles && size && *size > 0) {
    expected = double(*pcycles) / (double(*size) / double(bytes_per_kilobyte));
  } else if (role == Role::ucycles_per_kilobyte && ucycles && size && *size > 0) {
    expected = double(*ucycles) / (double(*size) / double(bytes_per_kilobyte));
  }
  if (!told || expected < 0) return false;
  const bool holds = std::abs(*told - expected) <= 1e-6 + expected * 1e-6;
  ratios_.add(holds);
  return holds;
}

void OpstatsReader::rename_ops() {
  const std::vector<OpId> renamed = ops_->sort(tracks_.groups);
  for (OpId& op : profile_.spans.op) {
    if (op != OpId::none) op = renamed[index_of(op)];
  }
  ops_.reset();
}

void OpstatsReader::add_checks() {
  const auto add = [&](const Tally& tally, std::string name) {
    if (tally.tried == 0) return;
    const bool held = tally.failed == 0;
    profile_.checks.push_back(
        {std::move(name), held ? Check::Outcome::passed : Check::Outcome::failed,
         fmt::format("{} of {} slices{}", tally.tried - tally.failed, tally.tried,
                     held ? "" : "; the others keep what they say as arguments")});
  };
  add(durations_, "duration = opUCycle / 19.2 MHz");
  add(ratios_, "effectiveFreq, PCyclesPerKB, UCyclesPerKB = what they are made of");
}

void OpstatsReader::add_provenance() {
  Provenance& from = profile_.provenance;
  from.format = "Cloud AI 100 operator trace";
  const bool has_names = std::any_of(
      events_.threads.begin(), events_.threads.end(), [&](const chrome::Thread& thread) {
        return parse_track_name(text(thread.thread_name)).has_value();
      });
  from.version = is_npuscope_ ? "npuscope opstats" : has_names ? "qaic-opstats" : "SDK runtime";
  from.device = "Cloud AI 100";
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
