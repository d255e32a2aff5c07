#include "formats/qnn/read/op_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/counting_sort.hpp"
#include "base/numbers.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "formats/qnn/read/artifact_parts.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::qnn {
namespace {

std::optional<std::uint32_t> number_between(std::string_view text, std::string_view before,
                                            std::string_view after) {
  const std::size_t at = text.find(before);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + before.size());
  const auto number = take_number<std::uint32_t>(text);
  return number && *number < max_cores && text.starts_with(after) ? number : std::nullopt;
}

// "HMX" of "Type: HMX" and of "Core:0 Type: HMX Tid: 256"; empty when it has none.
std::string_view type_in(std::string_view thread_name) {
  constexpr std::string_view mark = "Type: ";
  const std::size_t at = thread_name.find(mark);
  if (at == std::string_view::npos) return {};
  thread_name.remove_prefix(at + mark.size());
  return thread_name.substr(0, thread_name.find(' '));
}

Engine engine_of(std::string_view type) {
  if (type == "HMX") return Engine::hmx;
  if (type == "HVX") return Engine::hvx;
  if (type == "DMA") return Engine::dma;
  return Engine::other;
}

// What a thread of the file is to us.
struct Role {
  bool overview = false;      // of "Core N Overview", where every event stands once
  bool not_executed = false;  // the lane with made-up times
  std::uint32_t core = 0;
};

class TraceReader {
 public:
  TraceReader(OpTrace& trace, CountedNotes& losses)
      : trace_(trace),
        events_(trace.events),
        losses_(losses),
        id_(column("ID")),
        htp_op_(column("HTP Op Type")),
        flags_(column("Flags")),
        start_(column("Start Cycle")) {}

  void read() {
    assign_roles();
    make_lanes();
    keep_rows();
    make_ops();
    find_base();
    note_losses();
  }

 private:
  ArgumentColumn column(std::string_view key) const {
    return ArgumentColumn(events_.slices.arguments, events_.strings, key);
  }
  std::string_view text(StringId id) const { return events_.strings[id]; }

  // The process's name comes last in the file: a copy that ended early has none, and then the names
  // of the threads tell.
  void assign_roles() {
    for (const chrome::Thread& thread : events_.threads) {
      Role role;
      const std::string_view process = text(thread.process_name);
      const std::string_view name = text(thread.thread_name);
      if (const auto core = number_between(process, "Core ", " Overview")) {
        role.overview = true;
        role.core = *core;
      } else if (const auto of_thread = number_between(name, "Core:", " ")) {
        role.core = *of_thread;
      } else if (process.empty() && text(thread.process_id) == "0") {
        role.overview = true;
        unnamed_overview_ = true;
      }
      role.not_executed = name.find("Non Executed") != std::string_view::npos;
      roles_.push_back(role);
    }
  }

  // A lane for each thread of an overview; the threads of the other processes share them.
  void make_lanes() {
    trace_.lane_of_thread.assign(roles_.size(), OpTrace::no_lane);
    trace_.core_of_process.resize(roles_.size());
    std::vector<bool> used(roles_.size(), false);  // counters and names have threads of their own
    for (const std::uint32_t thread : events_.slices.thread) used[thread] = true;
    for (const bool overview : {true, false}) {
      for (std::size_t thread = 0; thread < roles_.size(); ++thread) {
        if (roles_[thread].overview != overview) continue;
        trace_.core_of_process[thread] = roles_[thread].core;
        if (used[thread] && !roles_[thread].not_executed) {
          trace_.lane_of_thread[thread] = lane_of(thread);
        }
      }
    }
  }

  std::uint32_t lane_of(std::size_t thread) {
    const chrome::Thread& from = events_.threads[thread];
    const auto [place, is_new] =
        lanes_.try_emplace({roles_[thread].core, from.thread_id}, trace_.lanes.size());
    if (is_new) trace_.lanes.emplace_back();
    TraceLane& lane = trace_.lanes[place->second];
    if (is_new) {
      lane.core = roles_[thread].core;
      lane.process_id = from.process_id;
      lane.thread_id = from.thread_id;
      std::string_view tid = text(from.thread_id);
      lane.tid = take_number<decltype(lane.tid)>(tid).value_or(lane.tid);
    }
    if (lane.type == StringId::empty) {
      const std::string_view type = type_in(text(from.thread_name));
      lane.type = events_.strings.intern(type);
      lane.engine = engine_of(type);
    }
    return std::uint32_t(place->second);
  }

  bool is_executed(std::size_t row) const {
    if (roles_[events_.slices.thread[row]].not_executed) return false;
    if (start_.has(row)) return true;
    // $Const and $Shape, should their lane have lost its name.
    return !text(events_.slices.name[row]).starts_with('$');
  }

  // The same of an event and of its twin.
  std::uint64_t fingerprint(std::size_t row) const {
    const chrome::Slices& slices = events_.slices;
    std::uint64_t hash = std::uint64_t(id_.text(row)) << 32 | std::uint64_t(slices.name[row]);
    const auto mix = [&](std::uint64_t value) {
      hash = (hash ^ value) * 0x9E3779B97F4A7C15;
      hash ^= hash >> 32;
    };
    mix(trace_.lane_of_thread[slices.thread[row]]);
    mix(std::uint64_t(slices.start[row]));
    mix(std::uint64_t(slices.duration[row]));
    return hash;
  }

  // What becomes of an event.
  enum class Fate : std::uint8_t { kept, twin, not_executed };
  static constexpr std::size_t fates = 3;

  std::uint32_t fate_of(std::size_t row) const {
    const bool in_overview = roles_[events_.slices.thread[row]].overview;
    if (is_executed(row)) return std::uint32_t(in_overview ? Fate::kept : Fate::twin);
    return in_overview ? std::uint32_t(Fate::not_executed) : counting_sort_leaves_out;
  }

  void keep_rows() {
    CountingSort by_fate(events_.slices.size(), fates,
                         [this](std::size_t row) { return fate_of(row); });
    Column<std::uint32_t> sorted;
    by_fate.place_items(sorted);
    const auto rows_of = [&](Fate fate) {
      const auto first = by_fate.first().begin() + std::ptrdiff_t(fate);
      return std::span(sorted).subspan(first[0], first[1] - first[0]);
    };
    const auto kept = rows_of(Fate::kept), twins = rows_of(Fate::twin),
               not_executed = rows_of(Fate::not_executed);
    has_overview_ = !kept.empty();
    trace_.rows.assign(kept.begin(), kept.end());
    not_executed_.assign(not_executed.begin(), not_executed.end());
    trace_.not_executed = not_executed.size();
    trace_.duplicates = twins.size();
    const bool paired = twins.size() == kept.size() && sum_of(twins) == sum_of(kept);
    if (!twins.empty() && !paired) adopt_orphans(twins);
    drop_negative();
  }

  // The same of events and of their twins, in any order.
  std::uint64_t sum_of(std::span<const std::uint32_t> rows) const {
    return sum_over(rows, [this](std::uint32_t row) { return fingerprint(row); });
  }

  template <class ValueOf>
  static std::uint64_t sum_over(std::span<const std::uint32_t> rows, const ValueOf& value_of) {
    const std::vector<RowRange> parts = ranges_of(rows.size());
    std::vector<std::uint64_t> sums(parts.size(), 0);
    parallel_for(parts.size(), [&](std::size_t part) {
      std::uint64_t sum = 0;
      for (std::size_t i = parts[part].first; i < parts[part].last; ++i) sum += value_of(rows[i]);
      sums[part] = sum;
    });
    return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
  }

  // Events of which the overview has no copy.
  void adopt_orphans(std::span<const std::uint32_t> twins) {
    std::unordered_set<std::uint64_t> known;
    for (const std::uint32_t row : trace_.rows) known.insert(fingerprint(row));
    std::uint64_t orphans = 0;
    for (const std::uint32_t row : twins) {
      if (!known.insert(fingerprint(row)).second) continue;
      trace_.rows.push_back(row);
      ++orphans;
    }
    if (orphans == 0) return;
    trace_.duplicates -= orphans;
    std::sort(trace_.rows.begin(), trace_.rows.end());
    if (!has_overview_) return;
    losses_.add(Severity::warning, 0,
                "events of QNN:: processes that the core's overview does not repeat; kept",
                orphans);
  }

  void drop_negative() {
    const auto negative = [&](std::uint32_t row) { return events_.slices.duration[row] < 0; };
    const auto end = std::remove_if(trace_.rows.begin(), trace_.rows.end(), negative);
    if (end == trace_.rows.end()) return;
    losses_.add(Severity::warning, 0, "events with a negative dur; left out",
                std::uint64_t(trace_.rows.end() - end));
    trace_.rows.erase(end, trace_.rows.end());
  }

  // Of an op: its id, or else its name.
  StringId key_of(std::size_t row) const {
    const StringId id = id_.text(row);
    return id != StringId::empty ? id : events_.slices.name[row];
  }

  void make_ops() {
    const std::size_t texts = events_.strings.size();
    std::vector<std::vector<std::uint32_t>> op_of_text;  // by core and key
    const auto op_of = [&](std::size_t row, StringId key, std::uint32_t core, bool executed) {
      if (op_of_text.size() <= core) op_of_text.resize(core + 1);
      auto& of_core = op_of_text[core];
      if (of_core.empty()) of_core.assign(texts, none);
      std::uint32_t& op = of_core[std::uint32_t(key)];
      if (op == none) {
        op = std::uint32_t(trace_.ops.size());
        trace_.ops.push_back(make_op(row, core));
      }
      trace_.ops[op].executed |= executed;
      return op;
    };
    const std::size_t rows = trace_.rows.size();
    trace_.lane.resize(rows);
    trace_.op.resize(rows);
    Column<StringId> keys;
    keys.resize(rows);
    const std::vector<RowRange> parts = ranges_of(rows);
    parallel_for(parts.size(), [&](std::size_t part) {
      for (std::size_t i = parts[part].first; i < parts[part].last; ++i) {
        trace_.lane[i] = trace_.lane_of_thread[events_.slices.thread[trace_.rows[i]]];
        keys[i] = key_of(trace_.rows[i]);
      }
    });
    for (std::size_t i = 0; i < rows; ++i) {
      trace_.op[i] = op_of(trace_.rows[i], keys[i], trace_.lanes[trace_.lane[i]].core, true);
    }
    for (const std::uint32_t row : not_executed_) {
      op_of(row, key_of(row), roles_[events_.slices.thread[row]].core, false);
    }
  }

  TraceOp make_op(std::size_t row, std::uint32_t core) {
    TraceOp op;
    op.core = core;
    const StringId id_text = id_.text(row);
    constexpr std::size_t padded = 18;  // 0x and 16 digits
    if (const auto id = parse_id(text(id_text))) {
      op.id = *id;
      if (text(id_text).size() == padded) op.padded_id = id_text;
    } else {
      losses_.add(Severity::warning, 0,
                  "ops without an ID of 0x and hexadecimal; identified by name");
    }
    op.htp_op = htp_op_.text(row);
    if (op.htp_op == StringId::empty) op.htp_op = events_.slices.name[row];
    op.qnn_op = qnn_op_.text(row);
    op.qnn_op_type = qnn_op_type_.text(row);
    op.type = type_.text(row);
    op.dims = dims_.json(row);
    op.flag_words = flags_.json(row);
    op.inputs = inputs_.json(row);
    for (const std::string_view word : texts_in(text(op.flag_words))) add_flag(op.flags, word);
    if (op.flag_words == StringId::empty) op.flags = flags_of_lane(row);
    return op;
  }

  // Of an op without flags, as tools other than QNN's write them: its lane is all that is known.
  OpFlags flags_of_lane(std::size_t row) const {
    const std::uint32_t lane = trace_.lane_of_thread[events_.slices.thread[row]];
    OpFlags flags;
    if (lane == OpTrace::no_lane) return flags;
    flags.hmx = trace_.lanes[lane].engine == Engine::hmx;
    flags.hvx = trace_.lanes[lane].engine == Engine::hvx;
    flags.dma = trace_.lanes[lane].engine == Engine::dma;
    return flags;
  }

  // The base that a slice of an op asks for.
  struct Vote {
    std::int64_t base;
    std::uint32_t op;
    auto operator<=>(const Vote&) const = default;
  };

  // Start Cycle - ts is the base, except in the arguments of a sliced op, which are one slice's in
  // all: the base is what the most ops agree on.
  void find_base() {
    std::vector<Vote> votes = all_votes();
    std::sort(votes.begin(), votes.end());
    votes.erase(std::unique(votes.begin(), votes.end()), votes.end());
    std::size_t max = 0;
    for (std::size_t begin = 0, end = 0; begin < votes.size(); begin = end) {
      while (end < votes.size() && votes[end].base == votes[begin].base) ++end;
      if (end - begin > max) {
        max = end - begin;
        trace_.base = votes[begin].base;
        trace_.has_base = true;
      }
    }
    count_sliced();
  }

  // Some of them twice.
  std::vector<Vote> all_votes() const {
    const std::vector<RowRange> parts = ranges_of(trace_.rows.size());
    std::vector<std::vector<Vote>> votes(parts.size());
    parallel_for(parts.size(), [&](std::size_t part) {
      std::vector<std::optional<std::int64_t>> last_of_op(trace_.ops.size());
      for (std::size_t i = parts[part].first; i < parts[part].last; ++i) {
        const auto start = start_.integer(trace_.rows[i]);
        if (!start || *start < 0) continue;
        const std::int64_t ts = events_.slices.start[trace_.rows[i]] / 1000;
        const Vote vote{saturating_subtract(*start, ts), trace_.op[i]};
        if (std::exchange(last_of_op[vote.op], vote.base) != vote.base) votes[part].push_back(vote);
      }
    });
    std::vector<Vote> all;
    for (const std::vector<Vote>& of_part : votes) {
      all.insert(all.end(), of_part.begin(), of_part.end());
    }
    return all;
  }

  void count_sliced() {
    trace_.sliced = sum_over(trace_.rows, [this](std::uint32_t row) {
      const auto start = start_.integer(row);
      return std::uint64_t(start && *start != absolute_cycle(trace_, events_.slices.start[row]));
    });
  }

  void note_losses() {
    if (trace_.duplicates > 0) {
      losses_.add(Severity::info, 0,
                  "events of QNN:: processes repeat those of the core's overview; counted once",
                  trace_.duplicates);
    }
    if (trace_.not_executed > 0) {
      losses_.add(Severity::info, 0,
                  "events of the lane Non Executed Tensors have made-up times; kept as tensors and "
                  "ops, not as spans",
                  trace_.not_executed);
    }
    if (trace_.sliced > 0) {
      losses_.add(Severity::info, 0,
                  "slices whose arguments repeat another slice's cycles; ts, dur and tid are used",
                  trace_.sliced);
    }
    if (!has_overview_) {
      losses_.add(Severity::info, 0,
                  "the file has no core's overview; its events are counted once");
    }
    if (unnamed_overview_) {
      losses_.add(Severity::warning, 0, "process 0 has no name; taken as the overview of core 0");
    }
    if (!trace_.has_base && !trace_.rows.empty()) {
      losses_.add(Severity::warning, 0,
                  "no event has a Start Cycle; cycles count from the start of the trace");
    }
    for (const TraceLane& lane : trace_.lanes) {
      if (lane.engine != Engine::other) continue;
      losses_.add(
          Severity::warning, 0,
          fmt::format("lane {} is of unknown type '{}'; its ops are assigned by their flags",
                      lane.tid, printable(text(lane.type).substr(0, 40))));
    }
  }

  static constexpr std::uint32_t none = ~std::uint32_t{0};

  OpTrace& trace_;
  chrome::Events& events_;
  CountedNotes& losses_;
  std::vector<Role> roles_;  // by thread
  std::map<std::pair<std::uint32_t, StringId>, std::size_t> lanes_;
  std::vector<std::uint32_t> not_executed_;
  bool unnamed_overview_ = false, has_overview_ = false;
  ArgumentColumn id_, htp_op_, flags_, start_;
  ArgumentColumn qnn_op_ = column("QNN Op Name"), qnn_op_type_ = column("QNN Op Type"),
                 type_ = column("Data Type"), dims_ = column("Dims"),
                 inputs_ = column("Inputs Ops");
};

}  // namespace

std::int64_t absolute_cycle(const OpTrace& trace, std::int64_t thousandths) {
  return saturating_add(trace.base, thousandths / 1000);
}

Result<OpTrace> read_op_trace(chrome::Events&& events, CountedNotes& losses) {
  OpTrace trace;
  trace.events = std::move(events);
  trace.version = header_version_of(trace.events.field("header"));
  TraceReader(trace, losses).read();
  if (trace.rows.empty()) {
    return input_error("{}: is an OP_TRACE without an executed op; decode the log again",
                       losses.file());
  }
  return trace;
}

}  // namespace npuscope::qnn
