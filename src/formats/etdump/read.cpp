#include "formats/etdump/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/flatbuffer.hpp"
#include "ingest/units.hpp"
#include "profile/counted_notes.hpp"

namespace npuscope::etdump {
namespace {

constexpr std::string_view mark = "ED00";
constexpr std::size_t mark_at = 4, size_bytes = 4;

namespace slot {  // of etdump_schema_flatcc.fbs
enum Dump : std::uint16_t { version, runs };
enum Run : std::uint16_t { run_name, bundled_input, allocators, events };
enum Event : std::uint16_t { profile_event, allocation_event, debug_event };
enum Timed : std::uint16_t {
  name,
  chain,
  instruction,
  delegate_number,
  delegate_text,
  delegate_metadata,
  start_time,
  end_time
};
enum Allocation : std::uint16_t { allocator, allocated_bytes };
enum Allocator : std::uint16_t { allocator_name };
}  // namespace slot

enum class What : std::uint8_t {
  other,
  execute,
  setting_up,
  operator_call,
  kernel,
  delegate_call,
  delegate
};

struct Event {
  What what = What::other;
  StringId name{};  // of the reader's own texts
  std::int32_t chain = 0, instruction = -1;
  std::uint64_t begin = 0, end = 0;
  std::uint32_t run = 0;
  std::uint32_t instance = every_instance;
  bool is_placed = true;  // on the host's time axis
};

// What the spans of one op have in common.
struct OpKey {
  StringId name{};
  std::int32_t chain = 0, instruction = -1;
  bool operator==(const OpKey&) const = default;

  struct Hash {
    std::size_t operator()(const OpKey& key) const {
      const std::uint64_t place =
          std::uint64_t(std::uint32_t(key.chain)) << 32 | std::uint32_t(key.instruction);
      return std::size_t(
          (place ^ std::uint64_t(key.name) * 0x9E37'79B9'7F4A'7C15) * 0x9E37'79B9'7F4A'7C15 >> 16);
    }
  };
};

constexpr std::string_view native_call = "native_call_";

What what_is(std::string_view name, bool is_of_delegate) {
  if (is_of_delegate) return What::delegate;
  if (name == "Method::execute") return What::execute;
  if (name == "OPERATOR_CALL") return What::operator_call;
  if (name == "DELEGATE_CALL") return What::delegate_call;
  if (name.starts_with(native_call)) return What::kernel;
  const bool sets_up = name.starts_with("Program::") || name == "Method::init";
  return sets_up ? What::setting_up : What::other;
}

// The operator in the name of a kernel, "convolution" of "convolution.out", and of a delegate's
// event, "Fully Connected" of "Fully Connected (NC, F32) GEMM #3".
std::string_view operator_of(std::string_view name) {
  return name.substr(0, std::min(name.find('.'), name.find(" (")));
}

bool is_inside(const Event& inner, const Event& outer) {
  return outer.begin <= inner.begin && inner.end <= outer.end;
}

class Reader {
 public:
  explicit Reader(const File& file) : losses_(file.name) {
    profile_.provenance.files = {file.name};
  }

  Result<Profile> read(std::string_view bytes) {
    Flatbuffer buffer(as_byte_span(bytes));
    const FlatTable dump = buffer.root();
    std::uint32_t run = 0;
    for (const FlatTable& each : dump.tables(slot::runs)) read_run(each, run++);
    if (buffer.problem()) {
      losses_.add(Severity::error, *buffer.problem(),
                  "the dump is cut off or broken here; what it leads to is left out");
    }
    if (events_.empty() && buffer.problem()) {
      return input_error(
          "{}: an ETDump without an event that can be read: it is cut off or broken at byte {}; "
          "copy it again",
          losses_.file(), *buffer.problem());
    }
    if (events_.empty()) {
      const std::string why = losses_.notes().empty() ? "" : "; " + losses_.notes().front().message;
      return input_error(
          "{}: an ETDump without profiling events{}; build the runtime with "
          "EXECUTORCH_ENABLE_EVENT_TRACER and run a method",
          losses_.file(), why);
    }
    place_delegates();
    find_inferences();
    note_methods();
    name_delegates();
    add_profile();
    losses_.append_to(profile_.notes);
    return std::move(profile_);
  }

 private:
  void read_run(const FlatTable& run, std::uint32_t number) {
    std::vector<std::string> names;
    for (const FlatTable& each : run.tables(slot::allocators)) {
      names.emplace_back(each.text(slot::allocator_name));
    }
    for (const FlatTable& event : run.tables(slot::events)) {
      const FlatTable timed = event.table(slot::profile_event);
      const FlatTable allocation = event.table(slot::allocation_event);
      if (timed.is_there()) {
        read_event(timed, number);
      } else if (allocation.is_there()) {
        const auto id = std::size_t(allocation.scalar<std::int32_t>(slot::allocator).value_or(-1));
        const std::string name = id < names.size() ? names[id] : "an allocator without a name";
        allocated_[name] +=
            double(allocation.scalar<std::uint64_t>(slot::allocated_bytes).value_or(0));
      } else {
        losses_.add(Severity::info, 0, "values of tensors for debugging, left out");
      }
    }
  }

  void read_event(const FlatTable& timed, std::uint32_t run) {
    Event event;
    event.run = run;
    event.chain = timed.scalar<std::int32_t>(slot::chain).value_or(0);
    event.instruction = timed.scalar<std::int32_t>(slot::instruction).value_or(-1);
    event.begin = timed.scalar<std::uint64_t>(slot::start_time).value_or(0);
    event.end = timed.scalar<std::uint64_t>(slot::end_time).value_or(0);
    const auto number = timed.scalar<std::int32_t>(slot::delegate_number).value_or(-1);
    const std::string_view text = timed.text(slot::delegate_text);
    const bool is_of_delegate = number >= 0 || !text.empty();
    std::string_view name = is_of_delegate && !text.empty() ? text : timed.text(slot::name);
    std::string numbered;
    if (is_of_delegate && text.empty()) {
      numbered =
          name.empty() ? fmt::format("delegate op {}", number) : fmt::format("{} {}", name, number);
      name = numbered;
    }
    event.what = what_is(name, is_of_delegate);
    event.name = names_.intern(name.empty() ? "event without a name" : name);
    if (event.end < event.begin) {
      losses_.add(Severity::error, 0, "events that end before they begin, left out");
      return;
    }
    if (!timed.scalars<std::uint8_t>(slot::delegate_metadata).empty()) {
      losses_.add(Severity::info, 0,
                  "metadata of a delegate's events, bytes that only its own parser reads");
    }
    events_.push_back(event);
  }

  // Events of a delegate whose own clock is not the host's lie in no call of it.
  void place_delegates() {
    std::vector<const Event*> calls;
    for (const Event& event : events_) {
      if (event.what == What::delegate_call) calls.push_back(&event);
    }
    std::ranges::sort(calls, {}, &Event::begin);
    std::map<const Event*, std::vector<const Event*>> of_call;
    for (Event& event : events_) {
      if (event.what != What::delegate) continue;
      const auto after = std::ranges::upper_bound(calls, event.begin, {}, &Event::begin);
      event.is_placed = after != calls.begin() && is_inside(event, **(after - 1));
      if (event.is_placed) of_call[*(after - 1)].push_back(&event);
    }
    for (auto& [call, inner] : of_call) note_if_laid_out(inner);
  }

  // As XNNPACK does: whole microseconds, each from where the one before it ended.
  void note_if_laid_out(std::vector<const Event*>& inner) {
    constexpr std::uint64_t microsecond = 1'000;
    std::ranges::sort(inner, {}, &Event::begin);
    bool is_laid_out = inner.size() > 1;
    for (std::size_t i = 0; i < inner.size() && is_laid_out; ++i) {
      is_laid_out = (inner[i]->end - inner[i]->begin) % microsecond == 0 &&
                    (i == 0 || inner[i]->begin == inner[i - 1]->end);
    }
    if (!is_laid_out) return;
    losses_.add(Severity::info, 0,
                "calls of a delegate whose events are whole microseconds, laid end to end: their "
                "durations are measured, their places and the gaps between them are not");
  }

  // Each Method::execute; a run without one is an inference from its first event to its last.
  void find_inferences() {
    std::vector<std::size_t> executes;
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (events_[i].what == What::execute) executes.push_back(i);
    }
    if (executes.empty()) {
      losses_.add(Severity::warning, 0,
                  "no Method::execute among the events: inferences and their latency are unknown");
      return;
    }
    std::ranges::sort(executes, {}, [&](std::size_t i) { return events_[i].begin; });
    for (std::size_t i = 0; i < executes.size(); ++i) {
      events_[executes[i]].instance = std::uint32_t(i);
      run_of_inference_.push_back(events_[executes[i]].run);
    }
    for (Event& event : events_) {
      if (event.what == What::execute || event.what == What::setting_up) continue;
      if (!event.is_placed) {  // its run tells, where that is of one inference
        const auto first = std::ranges::find(run_of_inference_, event.run);
        const bool is_only = std::ranges::count(run_of_inference_, event.run) == 1;
        if (is_only) event.instance = std::uint32_t(first - run_of_inference_.begin());
        continue;
      }
      const auto after = std::upper_bound(
          executes.begin(), executes.end(), event.begin,
          [&](std::uint64_t begin, std::size_t i) { return begin < events_[i].begin; });
      if (after == executes.begin()) continue;
      const Event& execute = events_[*(after - 1)];
      if (is_inside(event, execute)) event.instance = execute.instance;
    }
    profile_.provenance.inferences = std::uint32_t(executes.size());
    if (executes.size() > 1) {
      profile_.provenance.temperature = Provenance::Temperature::cold_then_warm;
    }
  }

  // Nothing in a dump names the method of an execute.
  void note_methods() {
    std::map<std::uint32_t, std::set<std::tuple<std::int32_t, std::int32_t, StringId>>> called;
    for (const Event& event : events_) {
      const bool is_call = event.what == What::kernel || event.what == What::delegate_call;
      if (!is_call || event.instance == every_instance) continue;
      called[event.instance].insert({event.chain, event.instruction, event.name});
    }
    std::set<std::set<std::tuple<std::int32_t, std::int32_t, StringId>>> kinds;
    for (auto& [instance, calls] : called) kinds.insert(std::move(calls));
    if (kinds.size() < 2) return;
    losses_.add(
        Severity::warning, 0,
        fmt::format(
            "executes of {} kinds, by the instructions that they call: other methods of the "
            "program, other branches or calls that failed; medians mix them, and the first of each "
            "kind is "
            "cold; record one method at a time, or --inference N",
            kinds.size()));
  }

  // A delegate's names begin anew with each part of the model that was delegated.
  void name_delegates() {
    std::map<StringId, std::set<std::pair<std::int32_t, std::int32_t>>> instructions;
    for (const Event& event : events_) {
      if (event.what == What::delegate) {
        instructions[event.name].insert({event.chain, event.instruction});
      }
    }
    for (Event& event : events_) {
      if (event.what == What::delegate && instructions[event.name].size() > 1) {
        event.name =
            names_.intern(fmt::format("{} (call {})", names_[event.name], event.instruction));
      }
    }
  }

  void add_profile() {
    profile_.provenance.format = format_name;
    profile_.provenance.instrumentation = "event tracer";
    profile_.add_clock("host", ClockKind::wall, Hertz(1e9), true);
    add_unit(profile_, {.engine = Engine::host, .name = profile_.strings.intern("ExecuTorch")});
    const bool any_delegate = std::ranges::any_of(events_, [](const Event& event) {
      return event.what == What::delegate_call || event.what == What::delegate;
    });
    if (any_delegate) {
      add_unit(profile_, {.engine = Engine::other, .name = profile_.strings.intern("delegate")});
      losses_.add(
          Severity::info, 0,
          "the dump does not say which backend a delegate is, nor which hardware it runs on");
    }
    losses_.add(Severity::info, 0,
                "the dump does not say what its times count; read as nanoseconds, as the runtime "
                "counts them on operating systems (a port to bare metal may count cycles)");
    sort_events();
    std::uint64_t base = std::numeric_limits<std::uint64_t>::max();
    for (const Event& event : events_) {
      if (event.is_placed) base = std::min(base, event.begin);
    }
    for (const Event& event : events_) {
      event.is_placed ? add_span(event, base) : add_number(event);
    }
    add_order();
    for (const auto& [name, bytes] : allocated_) {
      const std::string text = fmt::format("allocated from {}", name);
      profile_.add_measure(Measure::Subject::profile, 0, NamedNumber{text, NumberQuantity::bytes},
                           Origin::measured, {}, bytes);
    }
  }

  // Outer ones first, so that ops are in the order of execution.
  void sort_events() {
    std::ranges::stable_sort(events_, [](const Event& a, const Event& b) {
      return std::tuple(a.begin, ~a.end) < std::tuple(b.begin, ~b.end);
    });
  }

  OpId op_of(const Event& event) {
    const bool is_call = event.what == What::operator_call || event.what == What::kernel ||
                         event.what == What::delegate_call || event.what == What::delegate;
    const std::int32_t instruction =
        is_call && event.what != What::operator_call ? event.instruction : -1;
    const auto [place, is_new] =
        ops_.try_emplace(OpKey{event.name, event.chain, instruction}, OpId(profile_.ops.size()));
    if (!is_new) return place->second;
    StringPool& strings = profile_.strings;
    Op op;
    std::string name(names_[event.name]);
    switch (event.what) {
      case What::kernel: {
        const std::string kernel = name.substr(native_call.size());
        op.kind = strings.intern(kernel);
        op.node_kind = strings.intern(operator_of(kernel));
        name = fmt::format("{}#{}", kernel, event.instruction);
        op.engine = Engine::host;
        break;
      }
      case What::delegate_call:
        op.kind = strings.intern(name);
        name = fmt::format("{}#{}", name, event.instruction);
        op.is_unnamed = true;
        break;
      case What::delegate:
        if (operator_of(name).size() < name.size()) {
          op.kind = op.node_kind = strings.intern(operator_of(name));
        }
        break;
      case What::operator_call: op.is_unnamed = true; break;
      default: break;
    }
    op.name = strings.intern(name);
    op.position = std::uint32_t(profile_.ops.size());
    profile_.ops.push_back(op);
    return place->second;
  }

  void add_span(const Event& event, std::uint64_t base) {
    constexpr std::uint64_t max = std::uint64_t(std::numeric_limits<std::int64_t>::max()) / 2;
    if (event.end - base > max) {
      losses_.add(Severity::error, 0, "events whose times are beyond 146 years, left out");
      return;
    }
    const bool is_delegates = event.what == What::delegate_call || event.what == What::delegate;
    SpanKind kind = is_delegates ? SpanKind::kernel : SpanKind::host;
    if (event.what == What::execute) kind = SpanKind::inference;
    if (event.what == What::setting_up) kind = SpanKind::activation;
    const bool is_instruction =
        event.what == What::operator_call || event.what == What::delegate_call;
    if (is_instruction) instructions_.push_back(std::uint32_t(profile_.spans.size()));
    profile_.spans.add(UnitId(is_delegates ? 1 : 0), op_of(event), kind,
                       std::int64_t(event.begin - base), std::int64_t(event.end - event.begin));
    profile_.spans.instance.push_back(event.instance);
  }

  // The runtime executes instructions one after another, wherever each runs.
  void add_order() {
    const StringId name = profile_.strings.intern("next instruction");
    std::optional<std::uint32_t> before;
    for (const std::uint32_t row : instructions_) {
      const bool follows =
          before && profile_.spans.instance[*before] == profile_.spans.instance[row];
      if (follows)
        profile_.flows.push_back({SpanId(*before), SpanId(row), EdgeKind::order, name, {}});
      before = row;
    }
  }

  void add_number(const Event& event) {
    constexpr NamedNumber ticks{"delegate's ticks", MeasureKind::work, NumberRole::node_cycles};
    if (!delegate_clock_) {
      delegate_clock_ = profile_.add_clock("delegate", ClockKind::unit_cycles, Hertz(0));
    }
    profile_.add_measure(Measure::Subject::op, index_of(op_of(event)), ticks, Origin::measured,
                         *delegate_clock_, double(event.end - event.begin), event.instance);
    losses_.add(Severity::info, 0,
                "events of a delegate that lie in no call of it: its own clock, of unknown rate; "
                "they are numbers of their ops, not part of the timeline");
  }

  Profile profile_;
  CountedNotes losses_;
  StringPool names_;  // of events
  std::vector<Event> events_;
  std::vector<std::uint32_t> run_of_inference_;
  std::map<std::string, double> allocated_;
  std::unordered_map<OpKey, OpId, OpKey::Hash> ops_;
  std::optional<ClockId> delegate_clock_;
  std::vector<std::uint32_t> instructions_;  // rows, as they ran
};

}  // namespace

bool looks_like(std::string_view head) {
  return head.substr(std::min(mark_at, head.size())).starts_with(mark) ||
         head.substr(std::min(mark_at + size_bytes, head.size())).starts_with(mark);
}

Result<Profile> read_profile(const File& file) {
  const bool has_size = !file.bytes.substr(std::min(mark_at, file.bytes.size())).starts_with(mark);
  const std::string_view bytes =
      file.bytes.substr(has_size ? std::min(size_bytes, file.bytes.size()) : 0);
  return Reader(file).read(bytes);
}

}  // namespace npuscope::etdump
