#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/parallel.hpp"
#include "formats/qnn/assemble/assembly.hpp"
#include "formats/qnn/assemble/own_arguments.hpp"
#include "formats/qnn/read/artifact_parts.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::qnn {
namespace {

// The trace's strings are the profile's by now.
class TraceAssembler {
 public:
  TraceAssembler(Assembly& assembly, OpTrace& trace)
      : assembly_(assembly), profile_(assembly.profile), trace_(trace) {}

  void assemble() {
    add_lanes();
    add_ops();
    add_spans();
    add_columns();
    add_counters();
    add_flows();
    trace_.events = {};
  }

 private:
  std::string_view text(StringId id) const { return profile_.strings[id]; }

  void add_lanes() {
    for (const TraceLane& lane : trace_.lanes) {
      const UnitId unit = assembly_.lane_unit(lane.core, lane.tid, text(lane.type), lane.engine);
      profile_.units[index_of(unit)].process_id = lane.process_id;
      profile_.units[index_of(unit)].thread_id = lane.thread_id;
      units_.push_back(unit);
    }
  }

  static bool is_tensor_only(std::string_view htp_op) {
    return htp_op == "$Const" || htp_op == "$Shape";
  }

  void add_ops() {
    std::vector<OpId> op_of(trace_.ops.size(), OpId::none);
    for (std::size_t i = 0; i < trace_.ops.size(); ++i) {
      const TraceOp& from = trace_.ops[i];
      if (from.executed || !is_tensor_only(text(from.htp_op))) op_of[i] = add_op(from);
      if (from.id != 0 && from.dims != StringId::empty) add_tensor(from, op_of[i]);
    }
    for (std::size_t i = 0; i < trace_.ops.size(); ++i) {
      if (op_of[i] != OpId::none) add_op_inputs(trace_.ops[i], op_of[i]);
    }
    ops_ = std::move(op_of);
  }

  OpId add_op(const TraceOp& from) {
    Op op;
    op.name = from.qnn_op != StringId::empty ? from.qnn_op : from.htp_op;
    op.kind = from.htp_op;
    op.node = from.qnn_op;
    op.node_kind = from.qnn_op_type;
    op.types = from.type;
    assembly_.set_shape(op, from.dims);
    std::string words;
    for (const std::string_view word : texts_in(text(from.flag_words))) {
      words += words.empty() ? "" : ", ";
      words += word;
    }
    op.attributes = assembly_.intern(words);
    op.output = assembly_.bytes_of(op.extents, op.types);
    op.core = from.core;
    op.position = std::uint32_t(profile_.ops.size());
    op.id = from.id;
    op.engine = from.executed ? from.flags.engine() : Engine::none;
    op.once_per_inference = from.id != 0;  // an op's slices have its id
    const OpId id{std::uint32_t(profile_.ops.size())};
    profile_.ops.push_back(op);
    if (assembly_.ops.size() <= from.core) assembly_.ops.resize(from.core + 1);
    if (from.id != 0) assembly_.ops[from.core].try_emplace(from.id, id);
    return id;
  }

  void add_tensor(const TraceOp& from, OpId producer) {
    Tensor& tensor = assembly_.tensor(from.id);
    assembly_.set_shape(tensor, from.dims);
    tensor.type = from.type;
    tensor.is_constant = text(from.htp_op) == "$Const";
    tensor.is_shape = text(from.htp_op) == "$Shape";
    if (!tensor.is_shape) tensor.size = assembly_.bytes_of(tensor.extents, tensor.type);
    tensor.producer = producer;
    // "$Const_12", as QNN names those of an op.
    const StringId name =
        producer == OpId::none
            ? assembly_.intern(fmt::format("{}_{:x}", text(from.htp_op), std::uint32_t(from.id)))
            : from.qnn_op;
    tensor.name = name;
  }

  void add_op_inputs(const TraceOp& from, OpId op) {
    std::vector<std::uint64_t> inputs;
    for (const std::string_view input : texts_in(text(from.inputs))) {
      if (const auto id = parse_id(input)) {
        inputs.push_back(*id);
      } else {
        assembly_.losses.add(Severity::warning, 0, "inputs that are not ids; left out");
      }
    }
    add_inputs(assembly_, op, from.core, std::move(inputs));
  }

  void add_spans() {
    const chrome::Slices& slices = trace_.events.slices;
    Spans& spans = profile_.spans;
    spans.resize(trace_.rows.size());
    for_rows([&](std::size_t i) {
      const std::uint32_t row = trace_.rows[i];
      spans.unit[i] = units_[trace_.lane[i]];
      spans.op[i] = ops_[trace_.op[i]];
      spans.kind[i] = trace_.ops[trace_.op[i]].flags.span_kind();
      spans.start[i] = absolute_cycle(trace_, slices.start[row]);
      spans.duration[i] = slices.duration[row] / 1000;
    });
    spans.processor_cycles = Column<std::int64_t>();  // clear() would keep the room
    spans.instance = Column<std::uint32_t>();
  }

  template <class Take>
  void for_rows(const Take& take) const {
    const std::vector<RowRange> parts = ranges_of(trace_.rows.size());
    parallel_for(parts.size(), [&](std::size_t part) {
      for (std::size_t i = parts[part].first; i < parts[part].last; ++i) take(i);
    });
  }

  // What needs all spans, one after the other in the order of time, is found while other threads do
  // the rest.
  void add_columns() {
    Spans& spans = profile_.spans;
    MeasureColumn path =
        profile_.column_of(number::dominant_path, Origin::derived, assembly_.cycles);
    MeasureColumn packets = profile_.column_of(number::packets, Origin::derived);
    Arguments arguments;
    parallel_for(2, [&](std::size_t which) {
      if (which == 0) {
        path.values = dominant_path_of_spans(profile_);
      } else {
        packets.values = packets_of_spans();
        arguments = take_own_arguments(trace_, spans, profile_.strings);
      }
    });
    spans.measures.push_back(std::move(path));
    spans.measures.push_back(std::move(packets));
    spans.arguments = std::move(arguments);
  }

  // Instruction packets of the lane's thread. The arguments of a sliced op are right for the one
  // slice that they are of.
  Column<std::int64_t> packets_of_spans() const {
    const ArgumentColumn per_packet(trace_.events.slices.arguments, profile_.strings,
                                    "Cycles per Packet");
    const ArgumentColumn start(trace_.events.slices.arguments, profile_.strings, "Start Cycle");
    const Spans& spans = profile_.spans;
    Column<std::int64_t> packets;
    packets.resize(spans.size());
    for_rows([&](std::size_t i) {
      const auto cycles = per_packet.number(trace_.rows[i]);
      const auto from = start.integer(trace_.rows[i]);
      const bool is_of_slice = cycles && (!from || *from == spans.start[i]);
      packets[i] = is_of_slice ? qnn::packets_of(spans.duration[i], *cycles) : missing;
    });
    return packets;
  }

  void add_counters() {
    const chrome::Marks& marks = trace_.events.marks;
    std::map<std::tuple<std::uint32_t, StringId, StringId>, std::uint32_t> series;
    Counters& counters = profile_.counters;
    for (std::size_t row = 0; row < marks.size(); ++row) {
      if (marks.phase[row] != 'C') continue;
      const std::uint32_t core = trace_.core_of_process[marks.thread[row]];
      for (std::size_t place = 0; place < marks.arguments.count(row); ++place) {
        const Argument argument = marks.arguments.at(row, place);
        const auto value = argument.as_number();
        if (!value || !std::isfinite(*value)) {
          assembly_.losses.add(Severity::warning, 0,
                               "values of counters that are not numbers, left out");
          continue;
        }
        const auto [found, is_new] =
            series.try_emplace({core, marks.name[row], argument.key.name}, counters.series.size());
        if (is_new) {
          CounterSeries added;
          added.unit = assembly_.core_unit(core);
          added.name = counter_name(marks.name[row]);
          added.part = argument.key.name;
          const std::string_view name = text(marks.name[row]);
          if (name.starts_with("VTCM ") || name.starts_with("DRAM ")) {
            added.quantity = assembly_.intern("bytes");
          }
          if (name.starts_with("VTCM alloc")) added.role = NumberRole::vtcm_allocated;
          if (is_in_flight(name)) added.role = NumberRole::bytes_in_flight;
          counters.series.push_back(added);
        }
        counters.of.push_back(found->second);
        counters.time.push_back(absolute_cycle(trace_, marks.time[row]));
        counters.value.push_back(*value);
      }
    }
  }

  // These count the bytes of the ops that are running, not bytes a second.
  static bool is_in_flight(std::string_view name) {
    return name.ends_with(" read") || name.ends_with(" write");
  }
  StringId counter_name(StringId name) {
    const std::string_view plain = text(name);
    if (!is_in_flight(plain)) return name;
    return assembly_.intern(fmt::format("{} bytes in flight", plain));
  }

  // --- flows

  struct LaneSpan {
    std::int64_t start = 0;
    std::int64_t end = 0;
    std::uint32_t span = 0;
  };

  void add_flows() {
    const chrome::Marks& marks = trace_.events.marks;
    if (std::ranges::none_of(marks.phase, [](char phase) { return phase == 's' || phase == 'f'; }))
      return;
    sort_lanes();
    std::unordered_map<std::uint32_t, std::size_t> begun;  // by id, in an overview
    std::uint64_t from_tensors = 0, loose = 0;
    for (std::size_t row = 0; row < marks.size(); ++row) {
      const char phase = marks.phase[row];
      if (phase == 's') loose += begun.insert_or_assign(key_of(marks, row), row).second ? 0 : 1;
      if (phase != 'f') continue;
      const auto start = begun.find(key_of(marks, row));
      if (start == begun.end()) {
        ++loose;
        continue;
      }
      add_flow(start->second, row, from_tensors, loose);
      begun.erase(start);
    }
    loose += begun.size();
    if (from_tensors > 0) {
      assembly_.losses.add(Severity::info, 0,
                           "arrows from tensors that do not execute; the uses of tensors say the "
                           "same",
                           from_tensors);
    }
    if (loose > 0) {
      assembly_.losses.add(Severity::warning, 0,
                           "arrows without a beginning, an end or an op there; left out", loose);
    }
  }

  static std::uint32_t key_of(const chrome::Marks& marks, std::size_t row) {
    return std::uint32_t(marks.id[row]);
  }

  void add_flow(std::size_t from, std::size_t to, std::uint64_t& from_tensors,
                std::uint64_t& loose) {
    const chrome::Marks& marks = trace_.events.marks;
    if (trace_.lane_of_thread[marks.thread[from]] == OpTrace::no_lane) {
      ++from_tensors;
      return;
    }
    const auto producer = span_ending(from), consumer = span_beginning(to);
    if (!producer || !consumer) {
      ++loose;
      return;
    }
    Flow flow;
    flow.from = SpanId(*producer);
    flow.to = SpanId(*consumer);
    flow.name = marks.name[to];
    flow.category = marks.category.empty() ? StringId::empty : marks.category[to];
    const std::string_view category = text(flow.category);
    flow.kind = category == "sequencer"      ? EdgeKind::order
                : category == "input_output" ? EdgeKind::data
                                             : EdgeKind::flow;
    profile_.flows.push_back(flow);
    if (flow.kind == EdgeKind::order) {
      profile_.edges.push_back(
          {profile_.spans.op[*producer], profile_.spans.op[*consumer], EdgeKind::order});
    }
  }

  void sort_lanes() {
    by_lane_.resize(trace_.lanes.size());
    const Spans& spans = profile_.spans;
    for (std::uint32_t i = 0; i < spans.size(); ++i) {
      by_lane_[trace_.lane[i]].push_back(
          {spans.start[i], saturating_add(spans.start[i], spans.duration[i]), i});
    }
    parallel_for(by_lane_.size(), [&](std::size_t lane) {
      const auto earlier = [](const LaneSpan& a, const LaneSpan& b) {
        return std::tie(a.start, a.span) < std::tie(b.start, b.span);
      };
      std::vector<LaneSpan>& spans_of_lane = by_lane_[lane];
      if (std::ranges::is_sorted(spans_of_lane, earlier)) return;
      std::ranges::sort(spans_of_lane, earlier);
    });
  }

  // An arrow begins where its producer ends: of two ops that touch there, the earlier.
  std::optional<std::uint32_t> span_ending(std::size_t mark) const {
    const std::int64_t time = absolute_cycle(trace_, trace_.events.marks.time[mark]);
    const auto& lane = lane_of(mark);
    auto after =
        std::upper_bound(lane.begin(), lane.end(), time,
                         [](std::int64_t at, const LaneSpan& span) { return at < span.start; });
    if (after == lane.begin()) return std::nullopt;
    auto last = after - 1;
    // One that only begins there yields to one that ends there.
    if (last->start == time && last->end > time && last != lane.begin() &&
        (last - 1)->end == time) {
      --last;
    }
    return last->end >= time ? std::optional(last->span) : std::nullopt;
  }

  // An arrow ends where its consumer begins, whatever the misspelt binding says; else in the op
  // that is running.
  std::optional<std::uint32_t> span_beginning(std::size_t mark) const {
    const std::int64_t time = absolute_cycle(trace_, trace_.events.marks.time[mark]);
    const auto& lane = lane_of(mark);
    auto at =
        std::lower_bound(lane.begin(), lane.end(), time,
                         [](const LaneSpan& span, std::int64_t when) { return span.start < when; });
    if (at != lane.end() && at->start == time) return at->span;
    if (at == lane.begin()) return std::nullopt;
    --at;
    return at->end > time ? std::optional(at->span) : std::nullopt;
  }

  const std::vector<LaneSpan>& lane_of(std::size_t mark) const {
    static const std::vector<LaneSpan> nothing;
    const std::uint32_t lane = trace_.lane_of_thread[trace_.events.marks.thread[mark]];
    return lane == OpTrace::no_lane ? nothing : by_lane_[lane];
  }

  Assembly& assembly_;
  Profile& profile_;
  OpTrace& trace_;
  std::vector<UnitId> units_;  // by lane
  std::vector<OpId> ops_;      // by op of the trace
  std::vector<std::vector<LaneSpan>> by_lane_;
};

}  // namespace

std::int64_t packets_of(std::int64_t cycles, double cycles_per_packet) {
  if (!(cycles_per_packet > 0)) return missing;
  const double packets = std::round(double(cycles) / cycles_per_packet);
  return packets < 9e15 ? std::int64_t(packets) : missing;
}

void add_op_trace(Assembly& assembly, OpTrace& trace) {
  TraceAssembler(assembly, trace).assemble();
}

}  // namespace npuscope::qnn
