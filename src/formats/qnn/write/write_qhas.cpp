// QHAS: totals per lane, per QNN op and its type, per HTP op type, one row per slice, and the
// dominant path in segments.
#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "base/json_writer.hpp"
#include "base/sort_rows.hpp"
#include "formats/qnn/write/write_dominant_path.hpp"
#include "formats/qnn/write/write_text.hpp"

namespace npuscope::qnn::optrace {

namespace {

struct Sum {
  std::uint64_t cycles = 0;
  std::uint64_t owned = 0;
  std::uint64_t instances = 0;
  Traffic traffic;

  void add(const Instance& run, std::uint64_t owned_cycles) {
    cycles += run.cycles;
    owned += owned_cycles;
    ++instances;
    traffic.dram_read += run.traffic.dram_read;
    traffic.dram_write += run.traffic.dram_write;
    traffic.vtcm_read += run.traffic.vtcm_read;
    traffic.vtcm_write += run.traffic.vtcm_write;
  }
};

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

// The table's rows that anything was added to, most cycles first, then by first appearance.
std::vector<std::uint32_t> by_cycles(const std::vector<Sum>& sums) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t i = 0; i < sums.size(); ++i) {
    if (sums[i].instances > 0) rows.push_back(i);
  }
  sort_rows(rows.begin(), rows.end(),
            [&](std::uint32_t a, std::uint32_t b) { return sums[a].cycles > sums[b].cycles; });
  return rows;
}

class QhasPrinter {
 public:
  QhasPrinter(const OptraceSet& set, JsonWriter<TextOutput>& json)
      : set_(set),
        json_(json),
        path_(dominant_path_of(set)),
        order_(set.instances.size()),
        of_graph_op_(set.graph_ops.size()),
        of_htp_type_(set.op_types.size()) {
    std::iota(order_.begin(), order_.end(), 0u);
    std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
      const Instance& left = set_.instances[a];
      const Instance& right = set_.instances[b];
      return std::tuple(left.start_cycle, left.tid) < std::tuple(right.start_cycle, right.tid);
    });
    add_up();
  }

  void print() {
    json_.begin_object();
    print_header();
    json_.member("model_id", set_.graph_name);
    json_.key("data");
    json_.begin_object();
    section("htp_overall_summary", [&] { print_summary(); });
    section("qnn_op_types", [&] { print_graph_op_types(); });
    section("qnn_op_instances_nodes", [&] { print_graph_ops(); });
    section("htp_op_types", [&] { print_htp_types(); });
    section("htp_op_instances", [&] { print_instances(); });
    section("dominant_path_htp_0", [&] { print_path(); });
    json_.end_object();
    json_.end_object();
  }

 private:
  void add_up() {
    std::map<std::string_view, std::uint32_t> types;
    for (const std::uint32_t index : order_) {
      const Instance& run = set_.instances[index];
      const HtpOp& op = set_.ops[run.op];
      const std::string_view type = set_.graph_ops[op.owner].type;
      const auto [found, added] = types.emplace(type, std::uint32_t(graph_types_.size()));
      if (added) {
        graph_types_.push_back(type);
        of_graph_type_.emplace_back();
      }
      const std::uint64_t owned = path_.owned[index];
      all_.add(run, owned);
      of_graph_op_[op.owner].add(run, owned);
      of_graph_type_[found->second].add(run, owned);
      of_htp_type_[op.type].add(run, owned);
    }
  }

  void print_version(std::string_view name) {
    json_.key(name);
    json_.begin_object();
    json_.member("major", 1);
    json_.member("minor", 0);
    json_.member("patch", 0);
    json_.end_object();
  }

  void print_header() {
    json_.key("header");
    json_.begin_object();
    print_version("header_version");
    print_version("version");
    json_.member("artifact_type", "QHAS");
    json_.end_object();
  }

  template <class Rows>
  void section(std::string_view name, const Rows& rows) {
    json_.key(name);
    json_.begin_object();
    json_.key("data");
    json_.begin_array();
    rows();
    json_.end_array();
    json_.end_object();
  }

  void print_traffic(const Traffic& traffic) {
    json_.member("dram_read", traffic.dram_read);
    json_.member("dram_write", traffic.dram_write);
    json_.member("vtcm_read", traffic.vtcm_read);
    json_.member("vtcm_write", traffic.vtcm_write);
  }

  void print_sum(const Sum& sum, std::string_view count) {
    json_.member("cycles", sum.cycles);
    json_.member("percent_active_cycles", percent(double(sum.cycles), double(all_.cycles)));
    json_.member("num_dominant_path_cycles_htp_0", sum.owned);
    json_.member("percent_dominant_path_cycles_htp_0",
                 percent(double(sum.owned), double(path_.total)));
    json_.member(count, sum.instances);
    print_traffic(sum.traffic);
  }

  void print_lane(const Lane& lane) {
    Sum sum;
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    for (const Instance& run : set_.instances) {
      if (run.tid != lane.tid) continue;
      start = sum.instances == 0 ? run.start_cycle : std::min(start, run.start_cycle);
      end = std::max(end, run.start_cycle + run.cycles);
      sum.add(run, 0);
    }
    if (sum.instances == 0) return;
    json_.begin_object();
    json_.member("type", lane.type);
    json_.member("tid", lane.tid);
    json_.member("start_cycle", start);
    json_.member("end_cycle", end);
    json_.member("timeline_cycles", end - start);
    json_.member("cycles_used", sum.cycles);
    json_.member("utilization",
                 percent(double(sum.cycles), double(path_.end_cycle - path_.start_cycle)));
    print_traffic(sum.traffic);
    json_.end_object();
  }

  // Of a phase of the first execute.
  std::uint64_t microseconds_of(std::string_view name) const {
    return whole_microseconds(set_, find_phase(set_.executes.front(), name));
  }

  void print_summary() {
    json_.begin_object();
    json_.key("htp_resources");
    json_.begin_object();
    json_.key("data");
    json_.begin_array();
    std::vector<Lane> lanes = set_.lanes;
    std::sort(lanes.begin(), lanes.end(),
              [](const Lane& a, const Lane& b) { return a.tid < b.tid; });
    for (const Lane& lane : lanes) print_lane(lane);
    json_.end_array();
    json_.end_object();
    const std::uint64_t timeline = path_.end_cycle - path_.start_cycle;
    const double idle = percent(double(path_.total_idle), double(timeline));
    const std::uint64_t microseconds = microseconds_of("QNN DSP Execute");
    std::uint64_t peak = 0;
    for (const VtcmSample& sample : set_.vtcm_samples) peak = std::max(peak, sample.bytes);
    json_.member("htp", 0);
    json_.member("percent_idle", idle);
    json_.member("percent_utilization", 100 - idle);
    json_.member("time_us", microseconds);
    json_.member("graph_execute_us", microseconds_of("Graph Execute"));
    json_.member("inf_per_s", microseconds > 0 ? 1e6 / double(microseconds) : 0.0);
    json_.member("timeline_cycles", timeline);
    const Traffic& traffic = all_.traffic;
    json_.member("total_dram_read", traffic.dram_read);
    json_.member("total_dram_write", traffic.dram_write);
    json_.member("total_dram", traffic.dram_read + traffic.dram_write);
    json_.member("peak_vtcm_alloc", peak);
    json_.member("total_vtcm_read", traffic.vtcm_read);
    json_.member("total_vtcm_write", traffic.vtcm_write);
    json_.member("total_vtcm", traffic.vtcm_read + traffic.vtcm_write);
    json_.member("unique_qnn_ops", std::uint64_t(graph_types_.size()));
    json_.member("qnn_nodes", std::uint64_t(by_cycles(of_graph_op_).size()));
    json_.member("unique_htp_ops", std::uint64_t(by_cycles(of_htp_type_).size()));
    json_.member("htp_nodes", std::uint64_t(set_.instances.size()));
    json_.end_object();
  }

  void print_graph_op_types() {
    for (const std::uint32_t i : by_cycles(of_graph_type_)) {
      json_.begin_object();
      json_.member("op", graph_types_[i]);
      print_sum(of_graph_type_[i], "num_htp_ops");
      json_.end_object();
    }
  }

  void print_graph_ops() {
    for (const std::uint32_t i : by_cycles(of_graph_op_)) {
      json_.begin_object();
      json_.member("qnn_op", set_.graph_ops[i].name);
      json_.member("qnn_op_type", set_.graph_ops[i].type);
      print_sum(of_graph_op_[i], "num_htp_ops");
      json_.end_object();
    }
  }

  void print_htp_types() {
    for (const std::uint32_t i : by_cycles(of_htp_type_)) {
      json_.begin_object();
      json_.member("op", set_.op_types[i].name);
      print_sum(of_htp_type_[i], "instances");
      json_.member("format_change", set_.op_types[i].format_change);
      json_.member("reference_op", false);
      json_.end_object();
    }
  }

  void print_instances() {
    for (const std::uint32_t index : order_) print_instance(index);
  }

  void print_instance(std::uint32_t index) {
    const Instance& run = set_.instances[index];
    const HtpOp& op = set_.ops[run.op];
    const GraphOp& owner = set_.graph_ops[op.owner];
    json_.begin_object();
    json_.member("htp", 0);
    json_.member("tid", run.tid);
    json_.member("op_id", fmt::format("{:#x}", op.id));
    json_.member("htp_op", set_.op_types[op.type].name);
    json_.member("qnn_op", owner.name);
    json_.member("qnn_op_type", owner.type);
    json_.member("dtype", name_of(op.data_type));
    json_.member("rank", std::uint64_t(op.dims.size()));
    json_.member("step_size", double(op.step_size));
    json_.member("zero_offset", op.zero_offset);
    json_.key("dims");
    json_.begin_array();
    for (const std::int64_t dim : op.dims) json_.value(dim);
    json_.end_array();
    json_.key("input_nodes");
    json_.begin_array();
    for (const std::uint32_t input : op.inputs) {
      json_.value(fmt::format("{:#x}", set_.ops[input].id));
    }
    json_.end_array();
    json_.member("start_cycle", run.start_cycle);
    json_.member("cycles", run.cycles);
    json_.member("num_dominant_path_cycles", path_.owned[index]);
    json_.member("percent_dominant_path_cycles",
                 percent(double(path_.owned[index]), double(path_.total)));
    json_.member("cycles_per_packet", cycles_per_packet(run));
    json_.member("fmt_change", set_.op_types[op.type].format_change);
    json_.member("ref_op", false);
    json_.member("hmx", op.flag == OpFlag::uses_hmx);
    json_.member("hvx", op.flag == OpFlag::uses_hvx);
    json_.member("dma_wait", op.flag == OpFlag::dma_wait);
    json_.member("dma_set", op.flag == OpFlag::dma_set);
    json_.member("dma", op.flag == OpFlag::dma);
    json_.member("sync", op.flag == OpFlag::sync);
    print_traffic(run.traffic);
    json_.end_object();
  }

  void print_segment(std::uint64_t id, std::string_view htp_op, std::string_view graph_op,
                     std::uint64_t start, std::uint64_t end, std::uint64_t cycles) {
    json_.begin_object();
    json_.member("op_id", fmt::format("{:#x}", id));
    json_.member("htp_op", htp_op);
    json_.member("qnn_op", graph_op);
    json_.member("start_cycle", start);
    json_.member("end_cycle", end);
    json_.member("partial", end - start < cycles);
    json_.member("dp_cycles", end - start);
    json_.member("cycles", cycles);
    json_.end_object();
  }

  void print_path() {
    for (const OwnedSegment& segment : path_.segments) {
      const Instance& run = set_.instances[segment.instance];
      const HtpOp& op = set_.ops[run.op];
      print_segment(op.id, set_.op_types[op.type].name, set_.graph_ops[op.owner].name,
                    segment.start_cycle, segment.end_cycle, run.cycles);
    }
    for (const IdleGap& gap : path_.idle) {
      print_segment(0, "Accumulated Idle", "Accumulated Idle", gap.start_cycle, gap.end_cycle,
                    gap.end_cycle - gap.start_cycle);
    }
  }

  const OptraceSet& set_;
  JsonWriter<TextOutput>& json_;
  const DominantPath path_;
  std::vector<std::uint32_t> order_;  // instances by start
  std::vector<std::string_view> graph_types_;
  Sum all_;
  std::vector<Sum> of_graph_type_;
  std::vector<Sum> of_graph_op_;
  std::vector<Sum> of_htp_type_;
};

}  // namespace

void write_qhas(const OptraceSet& set, const TextSink& sink) {
  TextOutput out(sink);
  JsonLayout layout = JsonLayout::indented(4);
  layout.numbers = JsonNumbers::points;
  JsonWriter json(out, layout);
  QhasPrinter(set, json).print();
  out.add("\n");
}

}  // namespace npuscope::qnn::optrace
