// OP_TRACE: one event a line. Events lie lane by lane in order of time, each in "Core 0 Overview"
// (pid 0) and again in its QNN op's own process; then come tensors that do not execute with their
// made-up times, flows, names of processes, and counters.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

#include "base/sort_rows.hpp"
#include "formats/qnn/write/write_dominant_path.hpp"
#include "formats/qnn/write/write_text.hpp"

namespace npuscope::qnn::optrace {

namespace {

using chrome::TracePhase;

constexpr std::uint32_t overview_pid = 0;
constexpr std::uint32_t first_graph_op_pid = 2;
constexpr std::int64_t not_executed_duration = 5;
constexpr std::string_view wait_description =
    "Waits for a previously started DMA to complete before proceeding";

constexpr chrome::TraceStyle op_style = viewer_style({.first = " ", .between = ",", .colon = ": "});

struct Place {  // of an op in the timeline: of its representative, or made up
  std::uint32_t tid = 0;
  std::int64_t begin = 0;  // cycles from the first op's start
  std::int64_t end = 0;
  bool known = false;
};

class TracePrinter {
 public:
  TracePrinter(const OptraceSet& set, TextOutput& out)
      : set_(set),
        events_(out),
        json_(events_.json()),
        order_(ops_by_id(set)),
        first_(representatives(set)),
        path_(dominant_path_of(set)),
        places_(set.ops.size()),
        first_consumer_(set.ops.size(), ~0u),
        pids_(set.graph_ops.size(), 0) {
    place_executed();
    find_first_consumers();
    place_others();
  }

  void print() {
    print_lanes();
    print_tensors_and_data_flows();
    print_sequencer_flows();
    print_processes();
    print_vtcm_counter();
    print_traffic_counters();
    print_process(overview_pid, "Core 0 Overview", nullptr, 1);
    events_.end();
  }

 private:
  std::int64_t from_first_start(std::uint64_t cycle) const {
    return std::int64_t(cycle - path_.start_cycle);
  }
  std::int64_t time(std::int64_t begin) const { return begin - base_; }
  std::int64_t time_of(std::uint64_t cycle) const { return time(from_first_start(cycle)); }

  void place_executed() {
    for (std::size_t op = 0; op < places_.size(); ++op) {
      if (first_[op] == ~0u) continue;
      const Instance& run = set_.instances[first_[op]];
      const std::int64_t begin = from_first_start(run.start_cycle);
      places_[op] = {run.tid, begin, begin + std::int64_t(run.cycles), true};
    }
  }

  // Executed ones before those that are not, then by time, then by id.
  void find_first_consumers() {
    const auto rank = [&](std::uint32_t op) {
      const Place& place = places_[op];
      return std::tuple(!place.known, place.begin, set_.ops[op].id);
    };
    for (std::uint32_t op = 0; op < set_.ops.size(); ++op) {
      if (set_.ops[op].flag == OpFlag::constant) continue;
      for (const std::uint32_t input : set_.ops[op].inputs) {
        std::uint32_t& first = first_consumer_[input];
        if (input != op && (first == ~0u || rank(op) < rank(first))) first = op;
      }
    }
  }

  // A tensor that does not execute is shown 10 cycles before its first consumer, the next one of
  // the same consumer 12 before that, and so on.
  void place_others() {
    std::vector<std::uint32_t> pending;
    for (const std::uint32_t op : order_) {
      if (executes(set_.ops[op].flag)) continue;
      pending.push_back(op);
    }
    std::vector<std::int64_t> taken(set_.ops.size(), 0);  // by consumer
    for (bool progress = true; progress;) {
      progress = false;
      std::vector<std::uint32_t> left;
      for (const std::uint32_t op : pending) {
        const std::uint32_t consumer = first_consumer_[op];
        if (consumer == ~0u || !places_[consumer].known) {
          left.push_back(op);
          continue;
        }
        const std::int64_t begin = places_[consumer].begin - 10 - 12 * taken[consumer]++;
        places_[op] = {not_executed_tid, begin, begin + not_executed_duration, true};
        base_ = std::min(base_, begin);
        progress = true;
      }
      pending = std::move(left);
    }
  }

  // %g
  void add_rounded(std::string_view key, double value) {
    json_.key(key);
    json_.raw(fmt::format("{:g}", value));
  }

  // What executed and other ops have in common, up to the flags.
  void print_op(const HtpOp& op) {
    const OpType& type = set_.op_types[op.type];
    json_.member("ID", padded_id(op.id));
    json_.member("HTP Op Type", type.name);
    const std::string_view description =
        op.flag == OpFlag::dma_wait ? wait_description : std::string_view(type.description);
    if (!description.empty()) json_.member("Description", description);
    if (!op.dims.empty()) {
      json_.key("Dims");
      json_.array(op.dims, [&](auto dim) { json_.value(dim); });
    }
    json_.member("Data Type", name_of(op.data_type));
    json_.member("Rank", op.dims.size());
    add_rounded("Step Size", op.step_size);
    json_.member("Zero Offset", op.zero_offset);
    if (!op.inputs.empty()) {
      json_.key("Inputs Ops");
      json_.array(op.inputs, [&](auto input) { json_.value(padded_id(set_.ops[input].id)); });
    }
    if (op.flag == OpFlag::constant) return;
    json_.key("Flags");
    json_.array(std::array{name_of(op.flag)}, [&](auto flag) { json_.value(flag); });
  }

  chrome::TraceEvent event_of(const HtpOp& op, std::uint32_t tid, std::uint32_t pid,
                              std::int64_t begin, std::uint64_t duration) const {
    return {.name = set_.op_types[op.type].name,
            .process = pid,
            .thread = tid,
            .time = time(begin),
            .duration = std::int64_t(duration)};
  }

  // The cycles among the arguments are the representative's, whichever slice this is.
  void print_instance(const Instance& run, std::uint32_t pid) {
    const HtpOp& op = set_.ops[run.op];
    const Instance& stated = set_.instances[first_[run.op]];
    const GraphOp& owner = set_.graph_ops[op.owner];
    events_.add(event_of(op, run.tid, pid, from_first_start(run.start_cycle), run.cycles), [&] {
      print_op(op);
      add_rounded("Cycles per Packet", cycles_per_packet(stated));
      json_.member("QNN Op Type", owner.type);
      json_.member("QNN Op Name", owner.name);
      json_.member("Start Cycle", stated.start_cycle);
      json_.member("Duration (cycles)", stated.cycles);
      json_.member("Dominant Path Cycles", path_.owned[first_[run.op]]);
    });
  }

  template <class Write>
  void print_metadata(std::string_view what, std::uint32_t pid, chrome::TraceId tid, Write write) {
    events_.add({.phase = TracePhase::metadata,
                 .name = what,
                 .category = metadata_category,
                 .process = pid,
                 .thread = tid},
                write);
  }

  void print_thread_name(std::uint32_t pid, std::uint32_t tid, std::string_view name) {
    print_metadata("thread_name", pid, tid, [&] { json_.member("name", name); });
  }

  void print_lanes() {
    std::vector<std::uint32_t> runs(set_.instances.size());
    std::iota(runs.begin(), runs.end(), 0u);
    std::sort(runs.begin(), runs.end(), [&](std::uint32_t a, std::uint32_t b) {
      const Instance& left = set_.instances[a];
      const Instance& right = set_.instances[b];
      return std::tuple(left.tid, left.start_cycle) < std::tuple(right.tid, right.start_cycle);
    });
    std::vector<std::uint32_t> named_on(set_.graph_ops.size(), ~0u);  // lane last named
    std::uint32_t lane = ~0u;
    std::string type;
    for (const std::uint32_t index : runs) {
      const Instance& run = set_.instances[index];
      const std::uint32_t owner = set_.ops[run.op].owner;
      print_instance(run, overview_pid);
      if (run.tid != lane) {
        lane = run.tid;
        type = std::find_if(set_.lanes.begin(), set_.lanes.end(), [&](const Lane& it) {
                 return it.tid == lane;
               })->type;
        print_thread_name(overview_pid, lane, fmt::format("Type: {}", type));
      }
      if (pids_[owner] == 0) pids_[owner] = first_graph_op_pid + processes_++;
      print_instance(run, pids_[owner]);
      if (named_on[owner] == lane) continue;
      named_on[owner] = lane;
      print_thread_name(pids_[owner], lane, fmt::format("Core:0 Type: {} Tid: {}", type, lane));
    }
  }

  void print_flow(std::string_view category, std::string_view name, const Place& from,
                  const Place& to) {
    const auto print_end = [&](TracePhase phase, std::uint32_t tid, std::int64_t at) {
      events_.add({.phase = phase,
                   .name = name,
                   .category = category,
                   .process = overview_pid,
                   .thread = tid,
                   .id = flows_,
                   .time = time(at)});
    };
    print_end(TracePhase::flow_begin, from.tid, from.end);
    print_end(TracePhase::flow_end, to.tid, to.begin);
    ++flows_;
  }

  void print_tensors_and_data_flows() {
    bool any = false;
    for (const std::uint32_t index : order_) {
      const HtpOp& op = set_.ops[index];
      const Place& place = places_[index];
      if (!executes(op.flag) && place.known) {
        events_.add(
            event_of(op, not_executed_tid, overview_pid, place.begin, not_executed_duration),
            [&] { print_op(op); });
        any = true;
      }
      const std::uint32_t consumer = first_consumer_[index];
      if (!place.known || consumer == ~0u || first_[consumer] == ~0u) continue;
      print_flow("input_output", "InputOutputFlowEvents", place, places_[consumer]);
    }
    not_executed_shown_ = any;
  }

  // What the sequencer keeps in order between lanes. What was over long before is an arrow too.
  void print_sequencer_flows() {
    std::vector<std::uint32_t> ops;
    for (std::uint32_t op = 0; op < set_.ops.size(); ++op) {
      if (first_[op] != ~0u && !set_.ops[op].after.empty()) ops.push_back(op);
    }
    std::sort(ops.begin(), ops.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(places_[a].begin, places_[a].tid) <
             std::tuple(places_[b].begin, places_[b].tid);
    });
    for (const std::uint32_t op : ops) {
      const Place& after = places_[op];
      for (const std::uint32_t earlier : set_.ops[op].after) {
        const Place& before = places_[earlier];
        if (first_[earlier] == ~0u || before.tid == after.tid || before.end > after.begin) continue;
        print_flow("sequencer", "SequencerFlowEvents", before, after);
      }
    }
    if (not_executed_shown_) {
      print_thread_name(overview_pid, not_executed_tid, "Non Executed Tensors");
    }
  }

  // `op`: that it is of; null: of none.
  void print_process(std::uint32_t pid, const std::string& name, const GraphOp* op,
                     std::uint32_t sort_index) {
    print_metadata("process_name", pid, {}, [&] {
      json_.member("name", name);
      if (op != nullptr) json_.member("opid", padded_id(op->id));
    });
    print_metadata("process_sort_index", pid, {}, [&] { json_.member("sort_index", sort_index); });
  }

  void print_processes() {
    std::vector<std::uint32_t> shown;
    for (std::uint32_t i = 0; i < pids_.size(); ++i) {
      if (pids_[i] != 0) shown.push_back(i);
    }
    sort_rows(shown.begin(), shown.end(), [&](std::uint32_t a, std::uint32_t b) {
      return set_.graph_ops[a].id < set_.graph_ops[b].id;
    });
    for (const std::uint32_t index : shown) {
      const GraphOp& op = set_.graph_ops[index];
      const std::string name = op.id == 0 ? "SystemService_0" : op.name;
      print_process(pids_[index], "QNN::" + name, &op, op.id);
    }
  }

  void print_counter(std::string_view name, std::uint64_t cycle, std::uint64_t bytes) {
    events_.add({.phase = TracePhase::counter,
                 .name = name,
                 .process = overview_pid,
                 .thread = 0,
                 .time = time_of(cycle)},
                [&] { json_.member("", bytes); });
  }

  void print_vtcm_counter() {
    for (const VtcmSample& sample : set_.vtcm_samples) {
      print_counter("VTCM alloc", sample.cycle, sample.bytes);
    }
  }

  // Bytes of the ops in flight: not a rate.
  void print_traffic_counters() {
    struct Change {
      std::uint64_t cycle;
      bool starts;
      const Traffic* traffic;
    };
    std::vector<Change> changes;
    for (const Instance& run : set_.instances) {
      const Traffic& bytes = run.traffic;
      if (bytes.dram_read + bytes.dram_write + bytes.vtcm_read + bytes.vtcm_write == 0) continue;
      changes.push_back({run.start_cycle, true, &bytes});
      changes.push_back({run.start_cycle + run.cycles, false, &bytes});
    }
    sort_rows(changes.begin(), changes.end(),
              [](const Change& a, const Change& b) { return a.cycle < b.cycle; });
    Traffic now;
    for (std::size_t i = 0; i < changes.size(); ++i) {
      const Change& change = changes[i];
      const auto add = [&](std::uint64_t& sum, std::uint64_t bytes) {
        sum += change.starts ? bytes : 0 - bytes;
      };
      add(now.vtcm_read, change.traffic->vtcm_read);
      add(now.vtcm_write, change.traffic->vtcm_write);
      add(now.dram_read, change.traffic->dram_read);
      add(now.dram_write, change.traffic->dram_write);
      if (i + 1 < changes.size() && changes[i + 1].cycle == change.cycle) continue;
      print_counter("VTCM read", change.cycle, now.vtcm_read);
      print_counter("VTCM write", change.cycle, now.vtcm_write);
      print_counter("DRAM read", change.cycle, now.dram_read);
      print_counter("DRAM write", change.cycle, now.dram_write);
    }
  }

  const OptraceSet& set_;
  chrome::TraceEvents<op_style> events_;
  JsonWriter<TextOutput>& json_;  // where the arguments of an event go
  const std::vector<std::uint32_t> order_;
  const std::vector<std::uint32_t> first_;
  const DominantPath path_;
  std::vector<Place> places_;                  // by op
  std::vector<std::uint32_t> first_consumer_;  // by op
  std::vector<std::uint32_t> pids_;            // by graph op; 0: none yet
  std::uint32_t processes_ = 0;
  std::uint32_t flows_ = 0;
  std::int64_t base_ = 0;  // the earliest time shown, from the first op's start
  bool not_executed_shown_ = false;
};

}  // namespace

void write_op_trace(const OptraceSet& set, const TextSink& sink) {
  TextOutput out(sink);
  out.add(trace_header("OP_TRACE"));
  TracePrinter(set, out).print();
}

}  // namespace npuscope::qnn::optrace
