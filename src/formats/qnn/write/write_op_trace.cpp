// OP_TRACE: one event a line. Events lie lane by lane in order of time, each in "Core 0 Overview"
// (pid 0) and again in its QNN op's own process; then come tensors that do not execute with their
// made-up times, flows, names of processes, and counters.
#include <algorithm>
#include <numeric>
#include <tuple>

#include "formats/qnn/write/write_dominant_path.hpp"
#include "formats/qnn/write/write_text.hpp"

namespace npuscope::qnn::optrace {

namespace {

constexpr std::uint32_t overview_pid = 0;
constexpr std::uint32_t first_graph_op_pid = 2;
constexpr std::int64_t not_executed_duration = 5;
constexpr std::string_view wait_description =
    "Waits for a previously started DMA to complete before proceeding";

constexpr std::string_view trace_header =
    "{\n  \"header\": {\n    \"header_version\": {\n      \"major\": 1,\n      \"minor\": 0,\n"
    "      \"patch\": 0\n    },\n    \"version\": {\n      \"major\": 1,\n      \"minor\": 1,\n"
    "      \"patch\": 0\n    },\n    \"artifact_type\": \"OP_TRACE\"\n  },\n"
    "\"traceEvents\": [\n";

struct Place {  // of an op in the timeline: of its representative, or made up
  std::uint32_t tid = 0;
  std::int64_t begin = 0;  // cycles from the first op's start
  std::int64_t end = 0;
  bool known = false;
};

class TracePrinter {
 public:
  TracePrinter(const OptraceSet& set, TextWriter& out)
      : set_(set),
        out_(out),
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
    out_.add(trace_header);
    print_lanes();
    print_tensors_and_data_flows();
    print_sequencer_flows();
    print_processes();
    print_vtcm_counter();
    print_traffic_counters();
    print_process(overview_pid, "Core 0 Overview", "", 1);
    out_.add("\n]}\n");
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

  void separate() {
    if (any_event_) out_.add(",\n");
    any_event_ = true;
  }

  void print_ids(std::string_view key, const std::vector<std::uint32_t>& ops) {
    out_.print(",\"{}\": [", key);
    for (std::size_t i = 0; i < ops.size(); ++i) {
      out_.print("{}\"{}\"", i > 0 ? "," : "", padded_id(set_.ops[ops[i]].id));
    }
    out_.add("]");
  }

  // What executed and other ops have in common, up to the flags.
  void print_op(const HtpOp& op) {
    const OpType& type = set_.op_types[op.type];
    out_.print("\"ID\": \"{}\",\"HTP Op Type\": \"{}\"", padded_id(op.id), escaped(type.name));
    const std::string_view description =
        op.flag == OpFlag::dma_wait ? wait_description : std::string_view(type.description);
    if (!description.empty()) out_.print(",\"Description\": \"{}\"", escaped(description));
    if (!op.dims.empty()) {
      out_.add(",\"Dims\": [");
      for (std::size_t i = 0; i < op.dims.size(); ++i) {
        out_.print("{}{}", i > 0 ? "," : "", op.dims[i]);
      }
      out_.add("]");
    }
    out_.print(",\"Data Type\": \"{}\",\"Rank\": {},\"Step Size\": {:g},\"Zero Offset\": {}",
               name_of(op.data_type), op.dims.size(), op.step_size, op.zero_offset);
    if (!op.inputs.empty()) print_ids("Inputs Ops", op.inputs);
    if (op.flag != OpFlag::constant) out_.print(",\"Flags\": [\"{}\"]", name_of(op.flag));
  }

  void begin_event(const HtpOp& op, std::uint32_t tid, std::uint32_t pid, std::int64_t begin,
                   std::uint64_t duration) {
    separate();
    out_.print(
        "{{ \"name\": \"{}\", \"ph\": \"X\", \"tid\": {}, \"pid\": {}, \"ts\": {}, \"dur\": {}, "
        "\"args\": {{ ",
        escaped(set_.op_types[op.type].name), tid, pid, time(begin), duration);
  }

  // The cycles among the arguments are the representative's, whichever slice this is.
  void print_instance(const Instance& run, std::uint32_t pid) {
    const HtpOp& op = set_.ops[run.op];
    const Instance& stated = set_.instances[first_[run.op]];
    const GraphOp& owner = set_.graph_ops[op.owner];
    begin_event(op, run.tid, pid, from_first_start(run.start_cycle), run.cycles);
    print_op(op);
    out_.print(
        ",\"Cycles per Packet\": {:g},\"QNN Op Type\": \"{}\",\"QNN Op Name\": \"{}\","
        "\"Start Cycle\": {},\"Duration (cycles)\": {},\"Dominant Path Cycles\": {}}} }}",
        cycles_per_packet(stated), escaped(owner.type), escaped(owner.name), stated.start_cycle,
        stated.cycles, path_.owned[first_[run.op]]);
  }

  void print_thread_name(std::uint32_t pid, std::uint32_t tid, std::string_view name) {
    separate();
    out_.print(
        "{{ \"cat\": \"__metadata\", \"pid\": {}, \"tid\": {}, \"ph\": \"M\", \"name\": "
        "\"thread_name\", \"args\": {{\"name\": \"{}\"}}}}",
        pid, tid, escaped(name));
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
    separate();
    out_.print(
        "{{ \"cat\": \"{}\", \"name\": \"{}\", \"tid\": {}, \"pid\": 0, \"ts\": {}, \"ph\": "
        "\"s\", \"id\": {}}},\n",
        category, name, from.tid, time(from.end), flows_);
    out_.print(
        "{{ \"cat\": \"{}\", \"name\": \"{}\", \"tid\": {}, \"pid\": 0, \"ts\": {}, \"ph\": "
        "\"f\", \"pb\": \"e\", \"id\": {}}}",
        category, name, to.tid, time(to.begin), flows_);
    ++flows_;
  }

  void print_tensors_and_data_flows() {
    bool any = false;
    for (const std::uint32_t index : order_) {
      const HtpOp& op = set_.ops[index];
      const Place& place = places_[index];
      if (!executes(op.flag) && place.known) {
        begin_event(op, not_executed_tid, overview_pid, place.begin, not_executed_duration);
        print_op(op);
        out_.add("} }");
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

  void print_process(std::uint32_t pid, std::string_view name, std::string_view more,
                     std::uint32_t sort_index) {
    separate();
    out_.print(
        "{{ \"cat\": \"__metadata\", \"pid\": {}, \"ph\": \"M\", \"name\": \"process_name\", "
        "\"args\": {{\"name\": \"{}\"{}}}}},\n",
        pid, name, more);
    out_.print(
        "{{ \"cat\": \"__metadata\", \"pid\": {}, \"ph\": \"M\", \"name\": "
        "\"process_sort_index\", \"args\": {{\"sort_index\": {}}}}}",
        pid, sort_index);
  }

  void print_processes() {
    std::vector<std::uint32_t> shown;
    for (std::uint32_t i = 0; i < pids_.size(); ++i) {
      if (pids_[i] != 0) shown.push_back(i);
    }
    std::stable_sort(shown.begin(), shown.end(), [&](std::uint32_t a, std::uint32_t b) {
      return set_.graph_ops[a].id < set_.graph_ops[b].id;
    });
    for (const std::uint32_t index : shown) {
      const GraphOp& op = set_.graph_ops[index];
      const std::string name = op.id == 0 ? "SystemService_0" : escaped(op.name);
      print_process(pids_[index], "QNN::" + name,
                    fmt::format(", \"opid\": \"{}\"", padded_id(op.id)), op.id);
    }
  }

  void print_counter(std::string_view name, std::uint64_t cycle, std::uint64_t bytes) {
    separate();
    out_.print(
        "{{ \"name\": \"{}\", \"ph\": \"C\", \"tid\":0, \"pid\":0, \"ts\":{}, \"args\": {{\"\": "
        "{}}}}}",
        name, time_of(cycle), bytes);
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
    std::stable_sort(changes.begin(), changes.end(),
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
  TextWriter& out_;
  const std::vector<std::uint32_t> order_;
  const std::vector<std::uint32_t> first_;
  const DominantPath path_;
  std::vector<Place> places_;                  // by op
  std::vector<std::uint32_t> first_consumer_;  // by op
  std::vector<std::uint32_t> pids_;            // by graph op; 0: none yet
  std::uint32_t processes_ = 0;
  std::uint32_t flows_ = 0;
  std::int64_t base_ = 0;  // the earliest time shown, from the first op's start
  bool any_event_ = false;
  bool not_executed_shown_ = false;
};

}  // namespace

void write_op_trace(const OptraceSet& set, const TextSink& sink) {
  TextWriter out(sink);
  TracePrinter(set, out).print();
}

}  // namespace npuscope::qnn::optrace
