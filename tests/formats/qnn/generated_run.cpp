#include "formats/qnn/generated_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <utility>

namespace npuscope::qnn::test {
namespace {

int rank_of(const RunOp& op) { return op.flag == "uses_hmx" ? 0 : op.flag == "uses_hvx" ? 1 : 2; }

std::string padded(std::uint64_t id) { return fmt::format("0x{:016x}", id); }
std::string unpadded(std::uint64_t id) { return fmt::format("0x{:x}", id); }

std::string header(std::string_view type, int minor) {
  return fmt::format(
      "\"header\": {{\n  \"header_version\": {{\"major\": 1, \"minor\": 0, \"patch\": 0}},\n  "
      "\"version\": {{\"major\": 1, \"minor\": {}, \"patch\": 0}},\n  \"artifact_type\": \"{}\"\n "
      " }}",
      minor, type);
}

std::string quoted(const std::vector<std::uint64_t>& ids, std::string (*text)(std::uint64_t)) {
  std::vector<std::string> out;
  for (const std::uint64_t id : ids) out.push_back("\"" + text(id) + "\"");
  return fmt::format("[{}]", fmt::join(out, ","));
}

std::int64_t graph_microseconds(const GeneratedRun& run, std::size_t inference) {
  for (const auto& phase : run.inferences.at(inference).phases) {
    if (phase.name == "Graph Execute") {
      return std::int64_t(double(phase.end_ticks - phase.start_ticks) / 19.2);
    }
  }
  return 0;
}

struct Sums {
  std::int64_t cycles = 0, dominant_path = 0, ops = 0, dram_read = 0, dram_write = 0, vtcm_read = 0,
               vtcm_write = 0;
  std::string type;

  void add(const Slice& slice) {
    cycles += slice.cycles;
    dominant_path += slice.dominant_path;
    ++ops;
    dram_read += slice.dram_read;
    dram_write += slice.dram_write;
    vtcm_read += slice.vtcm_read;
    vtcm_write += slice.vtcm_write;
  }
  std::string bytes() const {
    return fmt::format(
        "\"dram_read\": {}, \"dram_write\": {}, \"vtcm_read\": {}, \"vtcm_write\": {}", dram_read,
        dram_write, vtcm_read, vtcm_write);
  }
};

template <class Key>
std::map<std::string, Sums> sums_by(const GeneratedRun& run, Key&& key) {
  std::map<std::string, Sums> sums;
  for (const RunOp& op : run.ops) {
    for (const Slice& slice : op.slices) {
      sums[key(op)].add(slice);
      sums[key(op)].type = op.qnn_op_type;
    }
  }
  return sums;
}

double percent(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : 100 * double(part) / double(whole);
}

// --- OP_TRACE

void append_event(std::string& out, const GeneratedRun& run, const RunOp& op, const Slice& slice,
                  int pid) {
  const Slice& representative = op.slices.front();  // whose cycles all slices' arguments repeat
  std::string dims, inputs;
  if (!op.dims.empty()) dims = fmt::format("\"Dims\": [{}],", fmt::join(op.dims, ","));
  if (!op.inputs.empty()) inputs = "\"Inputs Ops\": " + quoted(op.inputs, padded) + ",";
  out += fmt::format(
      "{{ \"name\": \"{0}\", \"ph\": \"X\", \"tid\": {1}, \"pid\": {2}, \"ts\": {3}, \"dur\": {4}, "
      "\"args\": {{ \"ID\": \"{5}\",\"HTP Op Type\": \"{0}\",{6}\"Data Type\": \"{7}\",\"Rank\": "
      "{8},\"Step Size\": 0.00787402,\"Zero Offset\": 128,{9}\"Flags\": [\"{10}\"],\"Cycles per "
      "Packet\": {11:g},\"QNN Op Type\": \"{12}\",\"QNN Op Name\": \"{13}\",\"Start Cycle\": "
      "{14},\"Duration (cycles)\": {15},\"Dominant Path Cycles\": {16}}} }},\n",
      op.htp_op, slice.tid, pid, slice.start - run.base, slice.cycles, padded(op.id), dims,
      op.dims.empty() ? "" : op.type, op.dims.size(), inputs, op.flag,
      double(representative.cycles) / double(representative.packets), op.qnn_op_type, op.qnn_op,
      representative.start, representative.cycles, representative.dominant_path);
}

void append_not_executed(std::string& out, std::string_view name, std::uint64_t id,
                         const std::vector<std::int64_t>& dims, std::string_view rest,
                         std::int64_t ts) {
  out += fmt::format(
      "{{ \"name\": \"{0}\", \"ph\": \"X\", \"tid\": 1, \"pid\": 0, \"ts\": {1}, \"dur\": 5, "
      "\"args\": {{ \"ID\": \"{2}\",\"HTP Op Type\": \"{0}\",\"Dims\": [{3}],\"Data Type\": "
      "\"QInt8\",\"Rank\": {4},\"Step Size\": 0,\"Zero Offset\": 0{5}}} }},\n",
      name, ts, padded(id), fmt::join(dims, ","), dims.size(), rest);
}

void append_name(std::string& out, int pid, std::int64_t tid, std::string_view name) {
  out += fmt::format(
      "{{ \"cat\": \"__metadata\", \"pid\": {}, \"tid\": {}, \"ph\": \"M\", \"name\": "
      "\"thread_name\", \"args\": {{\"name\": \"{}\"}}}},\n",
      pid, tid, name);
}

void append_flow(std::string& out, std::string_view category, std::int64_t tid, std::int64_t ts,
                 bool start, int id) {
  out += fmt::format(
      "{{ \"cat\": \"{}\", \"name\": \"Flow\", \"tid\": {}, \"pid\": 0, \"ts\": {}, \"ph\": "
      "\"{}\",{} \"id\": {}}},\n",
      category, tid, ts, start ? "s" : "f", start ? "" : " \"pb\": \"e\",", id);
}

void append_flows(std::string& out, const GeneratedRun& run) {
  int id = 0;
  for (const RunOp& op : run.ops) {
    if (op.slices.empty()) continue;
    const Slice& consumer = op.slices.front();
    for (const std::uint64_t input : op.inputs) {
      const auto producer = std::find_if(run.ops.begin(), run.ops.end(),
                                         [&](const RunOp& other) { return other.id == input; });
      const bool executed = producer != run.ops.end() && !producer->slices.empty();
      const std::int64_t tid = executed ? producer->slices.front().tid : 1;
      const std::int64_t from =
          executed ? producer->slices.front().start + producer->slices.front().cycles : run.base;
      append_flow(out, "input_output", tid, from - run.base, true, id);
      append_flow(out, "input_output", consumer.tid, consumer.start - run.base, false, id++);
    }
  }
}

void append_counters(std::string& out, const GeneratedRun& run) {
  std::int64_t allocated = 0;
  for (const RunOp& op : run.ops) {
    for (const Slice& slice : op.slices) {
      allocated += slice.vtcm_write;
      out += fmt::format(
          "{{ \"name\": \"VTCM alloc\", \"ph\": \"C\", \"tid\":0, \"pid\":0, \"ts\":{}, \"args\": "
          "{{\"\": {}}}}},\n",
          slice.start - run.base, allocated);
      out += fmt::format(
          "{{ \"name\": \"DRAM read\", \"ph\": \"C\", \"tid\":0, \"pid\":0, \"ts\":{}, \"args\": "
          "{{\"\": {}}}}},\n",
          slice.start - run.base, slice.dram_read);
    }
  }
}

}  // namespace

std::int64_t GeneratedRun::first_start() const {
  std::int64_t first = INT64_MAX;
  for (const RunOp& op : ops) {
    for (const Slice& slice : op.slices) first = std::min(first, slice.start);
  }
  return first;
}

std::int64_t GeneratedRun::last_end() const {
  std::int64_t last = 0;
  for (const RunOp& op : ops) {
    for (const Slice& slice : op.slices) last = std::max(last, slice.start + slice.cycles);
  }
  return last;
}

std::int64_t GeneratedRun::cycles() const {
  std::int64_t sum = 0;
  for (const RunOp& op : ops) {
    for (const Slice& slice : op.slices) sum += slice.cycles;
  }
  return sum;
}

std::int64_t GeneratedRun::dominant_path() const {
  std::int64_t sum = 0;
  for (const RunOp& op : ops) {
    for (const Slice& slice : op.slices) sum += slice.dominant_path;
  }
  return sum;
}

void own_every_instant(GeneratedRun& run) {
  for (std::int64_t now = run.first_start(); now < run.last_end(); ++now) {
    Slice* owner = nullptr;
    std::tuple<int, std::int64_t, std::int64_t> best;
    for (RunOp& op : run.ops) {
      for (Slice& slice : op.slices) {
        if (now < slice.start || now >= slice.start + slice.cycles) continue;
        const std::tuple key(rank_of(op), slice.tid, slice.start);
        if (owner != nullptr && best <= key) continue;
        owner = &slice;
        best = key;
      }
    }
    if (owner != nullptr) ++owner->dominant_path;
  }
}

GeneratedRun small_run() {
  GeneratedRun run;
  run.lanes = {{256, "HMX"}, {512, "HVX"}, {513, "HVX"}};
  const std::int64_t start = run.base + 22;
  run.constants.push_back({0x100200000012, {1, 1, 8, 8}});
  RunOp convert{0x110000000012,
                "q::ForceFormat_Crouton",
                "MatMul_0",
                "FullyConnected",
                "uses_hvx",
                "QUInt8",
                {1, 1, 8, 8},
                {},
                {}};
  convert.slices.push_back({512, start, 40, 20, 0, 0, 64, 64, 0});
  convert.slices.push_back({513, start + 5, 50, 10, 0, 0, 32, 32, 0});
  RunOp multiply{0x110100000012,
                 "q::ConvLayer_s1.opt",
                 "MatMul_0",
                 "FullyConnected",
                 "uses_hmx",
                 "QUInt8",
                 {1, 1, 8, 8},
                 {0x110000000012, 0x100200000012},
                 {}};
  multiply.slices.push_back({256, start + 60, 30, 15, 64, 0, 96, 64, 0});
  run.ops = {convert, multiply};
  own_every_instant(run);
  const std::int64_t ticks = 31'091'395'371'990;
  run.inferences = {{{{"QNN DSP Execute", ticks, ticks + 1920, run.base - 400, run.base + 900},
                      {"VTCM Acquire", ticks + 10, ticks + 202, run.base - 390, run.base - 200},
                      {"Graph Execute", ticks + 300, ticks + 684, run.base, run.base + 200}}}};
  return run;
}

GeneratedRun random_run(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint32_t limit) { return std::int64_t(random() % limit); };
  GeneratedRun run;
  run.graph = fmt::format("graph_{}", seed);
  run.base = 8'000'000'000'000 + std::int64_t(seed) * 10'000'000;
  run.lanes = {{256, "HMX"}, {512, "HVX"}, {513, "HVX"}, {514, "HVX"}, {515, "HVX"}};
  std::map<std::int64_t, std::int64_t> free_at;
  for (const auto& lane : run.lanes) free_at[lane.first] = run.base + 10 + below(30);
  for (std::uint64_t i = 0; i < 4; ++i) {
    run.constants.push_back({(0x1000 + i) << 32 | 0x10, {1, 1, 16, std::int64_t(i) + 1}});
  }
  constexpr const char* flags[] = {"dma", "dma_set", "dma_wait", "uses_hvx", "uses_hmx", "sync"};
  constexpr const char* names[] = {"q::weights_to_vtcm", "DmaCheckpointSet",
                                   "q::weights_to_vtcm", "q::Add",
                                   "q::ConvLayer",       "SyncOp"};
  std::vector<std::uint64_t> tensors;
  for (std::uint64_t i = 0; i < 40; ++i) {
    RunOp op;
    const auto kind = std::size_t(below(7));
    op.id = (0x1100 + i) << 32 | (0x10 + i / 4);
    op.qnn_op = fmt::format("Node_{}", i / 4);
    op.qnn_op_type = i / 4 % 2 == 0 ? "Conv2d" : "ElementWiseAdd";
    for (std::int64_t inputs = below(4); inputs > 0 && !tensors.empty(); --inputs) {
      op.inputs.push_back(tensors[std::size_t(below(std::uint32_t(tensors.size())))]);
    }
    if (below(2) == 0) op.inputs.push_back(run.constants[std::size_t(below(4))].id);
    if (kind == 6) {  // renames bytes: never runs
      op.htp_op = "q::Reshape";
      op.flag = "null_exec";
      op.dims = {1, 2, 3};
    } else {
      op.htp_op = names[kind];
      op.flag = flags[kind];
      const bool vector = op.flag == "uses_hvx";
      if (vector || op.flag == "uses_hmx" || op.flag == "dma") op.dims = {1, 1 + below(9), 8};
      // Arguments are those of the first slice that is written, which need not start first.
      const std::int64_t slices = vector ? 1 + below(4) : 1;
      for (std::int64_t s = 0; s < slices; ++s) {
        const std::int64_t tid = vector ? 512 + (s + std::int64_t(i)) % 4 : 256;
        Slice slice;
        slice.tid = tid;
        slice.start = free_at[tid] + below(30);
        slice.cycles = 1 + below(200);
        slice.packets = 1 + below(50);
        slice.dram_read = op.flag == "dma" ? below(4096) : 0;
        slice.vtcm_read = vector ? below(4096) : 0;
        slice.vtcm_write = op.dims.empty() ? 0 : below(4096);
        free_at[tid] = slice.start + slice.cycles;
        op.slices.push_back(slice);
      }
    }
    if (!op.dims.empty()) tensors.push_back(op.id);
    run.ops.push_back(std::move(op));
  }
  own_every_instant(run);
  std::int64_t ticks = 31'000'000'000'000, cycle = run.base - 1000;
  for (int inference = 0; inference < 3; ++inference) {
    const std::int64_t length = run.last_end() - run.base + 1500 + below(100);
    const std::int64_t begin = cycle, end = cycle + length;
    RunPhases phases;
    phases.phases.push_back({"QNN DSP Execute", ticks, ticks + 2000 + below(100), begin, end});
    phases.phases.push_back(
        {"VTCM Acquire", ticks + 20, ticks + 100 + below(50), begin + 10, begin + 400});
    phases.phases.push_back(
        {"Resource Power On", ticks + 200, ticks + 300 + below(50), begin + 420, begin + 800});
    phases.phases.push_back(
        {"Graph Execute", ticks + 400, ticks + 1900 + below(50), begin + 900, end - 50});
    run.inferences.push_back(phases);
    ticks += 100'000;
    cycle = end + 50'000;
  }
  return run;
}

std::string op_trace_of(const GeneratedRun& run) {
  std::string out = "{\n  " + header("OP_TRACE", 1) + ",\n\"traceEvents\": [\n";
  std::map<std::string, int> pid_of;
  for (const RunOp& op : run.ops) {
    if (!op.slices.empty()) pid_of.try_emplace(op.qnn_op, 2 + int(pid_of.size()));
  }
  std::map<std::pair<int, std::int64_t>, bool> named;
  const auto name_once = [&](int pid, std::int64_t tid) {
    if (std::exchange(named[{pid, tid}], true)) return;
    const auto lane = std::find_if(run.lanes.begin(), run.lanes.end(),
                                   [&](const auto& each) { return each.first == tid; });
    const std::string& type = lane->second;
    append_name(out, pid, tid,
                pid == 0 ? "Type: " + type : fmt::format("Core:0 Type: {} Tid: {}", type, tid));
  };
  for (const RunOp& op : run.ops) {
    for (const Slice& slice : op.slices) {
      append_event(out, run, op, slice, 0);
      name_once(0, slice.tid);
      append_event(out, run, op, slice, pid_of.at(op.qnn_op));
      name_once(pid_of.at(op.qnn_op), slice.tid);
    }
  }
  for (const Constant& constant : run.constants) {
    append_not_executed(out, constant.is_shape ? "$Shape" : "$Const", constant.id, constant.dims,
                        "", 0);
  }
  append_name(out, 0, 1, "Non Executed Tensors");
  for (const RunOp& op : run.ops) {
    if (!op.slices.empty()) continue;
    const std::string rest =
        fmt::format(",\"Inputs Ops\": {},\"Flags\": [\"null_exec\"]", quoted(op.inputs, padded));
    append_not_executed(out, op.htp_op, op.id, op.dims, rest, 7);
  }
  append_flows(out, run);
  append_counters(out, run);
  for (const auto& [name, pid] : pid_of) {
    out += fmt::format(
        "{{ \"cat\": \"__metadata\", \"pid\": {}, \"ph\": \"M\", \"name\": \"process_name\", "
        "\"args\": {{\"name\": \"QNN::{}\", \"opid\": \"0x0000000000000002\"}}}},\n",
        pid, name);
  }
  out +=
      "{ \"cat\": \"__metadata\", \"pid\": 0, \"ph\": \"M\", \"name\": \"process_name\", \"args\": "
      "{\"name\": \"Core 0 Overview\"}}\n]}\n";
  return out;
}

std::string run_trace_of(const GeneratedRun& run) {
  std::string out = "{\n  " + header("RUN_TRACE", 1) + ",\n\"traceEvents\": [\n";
  const std::int64_t zero = run.inferences.front().phases.front().start_ticks;
  for (const RunPhases& inference : run.inferences) {
    for (const auto& phase : inference.phases) {
      const double us = double(phase.end_ticks - phase.start_ticks) / 19.2;
      out += fmt::format(
          "{{ \"name\": \"{}\", \"ph\": \"X\", \"tid\": 0, \"pid\": 0, \"ts\": {}, \"dur\": {}, "
          "\"args\": {{\"graph_name\": \"{}\", \"stat_start_ticks\": {}, \"stat_end_ticks\": {}, "
          "\"stat_start_cycles\": {}, \"stat_end_cycles\": {}, \"summary_htp_frequency_ghz\": "
          "{:g}, \"summary_inf/s\": {:g}, \"summary_time_us\": {:g}}} }},\n",
          phase.name, phase.start_ticks - zero, phase.end_ticks - phase.start_ticks, run.graph,
          phase.start_ticks, phase.end_ticks, phase.start_cycle, phase.end_cycle,
          double(phase.end_cycle - phase.start_cycle) / us / 1000, 1e6 / us, us);
    }
    append_name(out, 0, 0, "Core 0 Execs");
    out += fmt::format(
        "{{ \"cat\": \"__metadata\", \"pid\": 0, \"ph\": \"M\", \"name\": \"process_name\", "
        "\"args\": {{\"name\": \"{} Runtraces\"}}}},\n",
        run.graph);
  }
  out.replace(out.size() - 2, 2, "\n]}\n");
  return out;
}

std::string htp_graph_of(const GeneratedRun& run) {
  std::string tensors, nodes;
  int number = 0;
  for (const Constant& constant : run.constants) {
    tensors +=
        fmt::format("{}\"{}\": {{\"id\": {}, \"type\": 4, \"data_type\": {}, \"dims\": [{}]}}",
                    tensors.empty() ? "" : ",\n", padded(constant.id), number++,
                    constant.is_shape ? 50 : 776, fmt::join(constant.dims, ","));
  }
  for (const RunOp& op : run.ops) {
    if (op.dims.empty()) continue;
    tensors +=
        fmt::format("{}\"{}\": {{\"id\": {}, \"type\": 3, \"data_type\": 1032, \"dims\": [{}]}}",
                    tensors.empty() ? "" : ",\n", padded(op.id), number++, fmt::join(op.dims, ","));
    std::string numbers;
    if (!op.slices.empty()) {
      const Slice& slice = op.slices.front();
      Sums sums;
      for (const Slice& each : op.slices) sums.add(each);
      numbers = fmt::format(
          ", \"mem_dram_read\": {{\"100\": {}}}, \"mem_dram_write\": {{\"100\": {}}}, "
          "\"mem_vtcm_read\": {{\"100\": {}}}, \"mem_vtcm_write\": {{\"100\": {}}}, "
          "\"cycles_start\": {{\"100\": {}}}, \"cycles_duration\": {{\"100\": {}}}, "
          "\"cycles_dominant\": {{\"100\": {}}}, \"cycles_per_packet\": {{\"100\": {:g}}}",
          sums.dram_read, sums.dram_write, sums.vtcm_read, sums.vtcm_write, slice.start,
          slice.cycles, slice.dominant_path, double(slice.cycles) / double(slice.packets));
    }
    nodes += fmt::format(
        "{0}\"{1}\": {{\"type\": \"{2}\", \"grouping\": \"{3}\", \"tensor_params\": {{}}, "
        "\"scalar_params\": {{\"output_step_size\": {{\"562\": 0.00787402}}, "
        "\"output_zero_offset\": {{\"50\": 128}}, \"output_rank\": {{\"50\": {4}}}, "
        "\"qnn_op_type\": {{\"1544\": \"{5}\"}}, \"qnn_op_name\": {{\"1544\": \"{3}\"}}, "
        "\"op_flags\": {{\"1544\": \"{6}\"}}{7}}}, \"input_names\": {8}, \"output_names\": "
        "[\"{1}\"]}}",
        nodes.empty() ? "" : ",\n", padded(op.id), op.htp_op, op.qnn_op, op.dims.size(),
        op.qnn_op_type, op.flag, numbers, quoted(op.inputs, padded));
  }
  return fmt::format(
      "{{\n {},\n \"model.cpp\": \"htp_graph\",\n \"graph\": {{\n \"tensors\": {{\n{}\n}},\n "
      "\"nodes\": {{\n{}\n}}\n}},\n \"op_types\": []\n}}\n",
      header("HTP_GRAPH", 0), tensors, nodes);
}

namespace {

std::string resources_of(const GeneratedRun& run) {
  std::string out;
  const std::int64_t wall = run.last_end() - run.first_start();
  for (const auto& lane : run.lanes) {
    Sums sums;
    std::int64_t first = INT64_MAX, last = 0;
    for (const RunOp& op : run.ops) {
      for (const Slice& slice : op.slices) {
        if (slice.tid != lane.first) continue;
        sums.add(slice);
        first = std::min(first, slice.start);
        last = std::max(last, slice.start + slice.cycles);
      }
    }
    if (last == 0) continue;
    out += fmt::format(
        "{}{{\"type\": \"{}\", \"tid\": {}, \"start_cycle\": {}, \"end_cycle\": {}, "
        "\"timeline_cycles\": {}, \"cycles_used\": {}, \"utilization\": {}, {}}}",
        out.empty() ? "" : ",\n", lane.second, lane.first, first, last, last - first, sums.cycles,
        percent(sums.cycles, wall), sums.bytes());
  }
  return out;
}

std::string sums_of(const GeneratedRun& run, const std::map<std::string, Sums>& table,
                    std::string_view name_key, std::string_view count_key, bool nodes) {
  std::string out;
  for (const auto& [name, sums] : table) {
    out += fmt::format(
        "{}{{\"{}\": \"{}\", {}\"cycles\": {}, \"percent_active_cycles\": {}, "
        "\"num_dominant_path_cycles_htp_0\": {}, \"percent_dominant_path_cycles_htp_0\": {}, "
        "\"{}\": {}, {}}}",
        out.empty() ? "" : ",\n", name_key, name,
        nodes ? fmt::format("\"qnn_op_type\": \"{}\", ", sums.type) : "", sums.cycles,
        percent(sums.cycles, run.cycles()), sums.dominant_path,
        percent(sums.dominant_path, run.dominant_path()), count_key, sums.ops, sums.bytes());
  }
  return out;
}

std::string instances_of(const GeneratedRun& run) {
  std::string out;
  for (const RunOp& op : run.ops) {
    for (const Slice& slice : op.slices) {
      Sums bytes;
      bytes.add(slice);
      const auto is = [&](std::string_view flag) { return op.flag == flag ? "true" : "false"; };
      out += fmt::format(
          "{}{{\"htp\": 0, \"tid\": {}, \"op_id\": \"{}\", \"htp_op\": \"{}\", \"qnn_op\": \"{}\", "
          "\"qnn_op_type\": \"{}\", \"dtype\": \"{}\", \"rank\": {}, \"step_size\": "
          "0.007874015718698502, \"zero_offset\": 128, \"dims\": [{}], \"input_nodes\": {}, "
          "\"start_cycle\": {}, \"cycles\": {}, \"num_dominant_path_cycles\": {}, "
          "\"percent_dominant_path_cycles\": {}, \"cycles_per_packet\": {}, \"fmt_change\": false, "
          "\"ref_op\": false, \"hmx\": {}, \"hvx\": {}, \"dma_wait\": {}, \"dma_set\": {}, "
          "\"dma\": {}, \"sync\": {}, {}}}",
          out.empty() ? "" : ",\n", slice.tid, unpadded(op.id), op.htp_op, op.qnn_op,
          op.qnn_op_type, op.dims.empty() ? "" : op.type, op.dims.size(), fmt::join(op.dims, ","),
          quoted(op.inputs, unpadded), slice.start, slice.cycles, slice.dominant_path,
          percent(slice.dominant_path, run.dominant_path()),
          double(slice.cycles) / double(slice.packets), is("uses_hmx"), is("uses_hvx"),
          is("dma_wait"), is("dma_set"), is("dma"), is("sync"), bytes.bytes());
    }
  }
  return out;
}

}  // namespace

std::string qhas_of(const GeneratedRun& run) {
  const auto by_type = sums_by(run, [](const RunOp& op) { return op.qnn_op_type; });
  const auto by_node = sums_by(run, [](const RunOp& op) { return op.qnn_op; });
  const auto by_htp_type = sums_by(run, [](const RunOp& op) { return op.htp_op; });
  Sums total;
  std::int64_t peak = 0;
  for (const RunOp& op : run.ops) {
    for (const Slice& slice : op.slices) {
      total.add(slice);
      peak += slice.vtcm_write;
    }
  }
  const std::int64_t wall = run.last_end() - run.first_start();
  const double idle = percent(wall - run.dominant_path(), wall);
  const auto& execute = run.inferences.front().phases.front();
  const auto time_us = std::int64_t(double(execute.end_ticks - execute.start_ticks) / 19.2);
  std::string out = fmt::format(
      "{{\n {},\n \"model_id\": \"{}\",\n \"data\": {{\n\"htp_overall_summary\": {{\"data\": "
      "[{{\"htp_resources\": {{\"data\": [\n{}\n]}}, \"htp\": 0, \"percent_idle\": {}, "
      "\"percent_utilization\": {}, \"time_us\": {}, \"graph_execute_us\": {}, \"inf_per_s\": {}, "
      "\"timeline_cycles\": {}, \"total_dram_read\": {}, \"total_dram_write\": {}, \"total_dram\": "
      "{}, \"peak_vtcm_alloc\": {}, \"total_vtcm_read\": {}, \"total_vtcm_write\": {}, "
      "\"total_vtcm\": {}, \"unique_qnn_ops\": {}, \"qnn_nodes\": {}, \"unique_htp_ops\": {}, "
      "\"htp_nodes\": {}}}]}},\n",
      header("QHAS", 0), run.graph, resources_of(run), idle, 100 - idle, time_us,
      graph_microseconds(run, 0), 1e6 / double(time_us), wall, total.dram_read, total.dram_write,
      total.dram_read + total.dram_write, peak, total.vtcm_read, total.vtcm_write,
      total.vtcm_read + total.vtcm_write, by_type.size(), by_node.size(), by_htp_type.size(),
      total.ops);
  const auto section = [&](std::string_view name, const std::string& rows) {
    out += fmt::format("\"{}\": {{\"data\": [\n{}\n]}}", name, rows);
  };
  section("qnn_op_types", sums_of(run, by_type, "op", "num_htp_ops", false));
  out += ",\n";
  section("qnn_op_instances_nodes", sums_of(run, by_node, "qnn_op", "num_htp_ops", true));
  out += ",\n";
  section("htp_op_types", sums_of(run, by_htp_type, "op", "instances", false));
  out += ",\n";
  section("htp_op_instances", instances_of(run));
  return out + "\n}\n}\n";
}

namespace {

struct Line {
  std::string label, value, unit;
  int level;
};

// What the viewer prints of one execute. Nodes of later executes are half as fast.
std::vector<Line> lines_of(const GeneratedRun& run, std::size_t inference) {
  const auto& phases = run.inferences[inference].phases;
  const auto ticks = [&](std::string_view name) {
    for (const auto& phase : phases) {
      if (phase.name == name) return phase.end_ticks - phase.start_ticks;
    }
    return std::int64_t{0};
  };
  const auto factor = std::int64_t(inference + 1);
  std::vector<Line> lines{
      {"Number of HVX threads used", "4", "count", 0},
      {"RPC (execute) time", fmt::format("{}", 3770 / factor), "us", 0},
      {"Time for initial VTCM acquire", fmt::format("{}", ticks("VTCM Acquire")), "us", 0},
      {"Time for HVX + HMX power on and acquire", fmt::format("{}", ticks("Resource Power On")),
       "us", 0},
      {"Accelerator (execute) time (cycles)", "", "cycles", 0}};
  Line& whole = lines.back();
  std::map<std::string, std::pair<std::uint32_t, std::int64_t>> nodes;
  for (const RunOp& op : run.ops) {
    for (const Slice& slice : op.slices) {
      nodes[op.qnn_op].first = std::uint32_t(op.id);
      nodes[op.qnn_op].second += slice.cycles;
    }
  }
  std::int64_t cycles = 0;
  for (const auto& [name, node] : nodes) {
    if (!name.starts_with("SystemService")) cycles += node.second / factor;
  }
  whole.value = fmt::format("{}", cycles);
  for (const auto& [name, node] : nodes) {
    lines.push_back({fmt::format("{}:OpId_{} (cycles)", name, node.first),
                     fmt::format("{}", node.second / factor), "cycles", 1});
  }
  lines.push_back({"Accelerator (execute excluding wait) time",
                   fmt::format("{}", graph_microseconds(run, inference)), "us", 0});
  lines.push_back({"Unknown event type", "", "object", 0});
  lines.push_back({"QNN (execute) time", fmt::format("{}", 3900 / factor), "us", 0});
  return lines;
}

}  // namespace

std::string viewer_text_of(const GeneratedRun& run) {
  std::string out =
      "Input Log File Location: qnn-profiling-data_0.log\nTime Scale: 1e-06\nGenerated using: \n"
      "qnn-profile-viewer: v2.45.0.1\nqnn-net-run: v2.45.0.1\nBackend: v2.45.0.2\n\n"
      "Qnn Init/Prepare/Finalize/De-Init/Execute/Lib-Load Statistics:\n----\nInit Stats:\n----\n"
      "    NetRun: 24900 us\n    Backend (RPC (load binary) time): 11969 us\n\nDe-Init Stats:\n"
      "    NetRun: 3449 us\n\nPrinting All Data Received From Back End\n\nExecute Stats: \n\n";
  for (std::size_t inference = 0; inference < run.inferences.size(); ++inference) {
    out += fmt::format("Execute Stat {}\n\n", inference + 1);
    for (const Line& line : lines_of(run, inference)) {
      out += fmt::format("{}{} : {}  {}\n", line.level > 0 ? "    " : "", line.label, line.value,
                         line.unit);
    }
    out += "\n";
  }
  return out;
}

std::string viewer_csv_of(const GeneratedRun& run) {
  std::string out =
      "Msg Timestamp,Message,Time,Unit of Measurement,Timing Source,Event Level,Event Identifier\n"
      "0,BACKEND,14253,US,BACKEND,ROOT,RPC (finalize) time\n"
      "0,FINALIZE,561285,US,BACKEND,ROOT,QNN (finalize) time\n"
      "0,UNKNOWN,451,US,BACKEND,SUB-EVENT,Graph Preparation Initializing\n"
      "0,UNKNOWN,271699,US,BACKEND,SUB-EVENT,Graph Optimizations\n";
  for (std::size_t inference = 0; inference < run.inferences.size(); ++inference) {
    for (const Line& line : lines_of(run, inference)) {
      std::string unit = line.unit;
      std::transform(unit.begin(), unit.end(), unit.begin(),
                     [](char c) { return c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c; });
      out += fmt::format("0,{},{},{},BACKEND,{},{}\n", line.level > 0 ? "NODE" : "BACKEND",
                         line.value.empty() ? "UNKNOWN" : line.value, unit,
                         line.level > 0 ? "SUB-EVENT" : "ROOT", line.label);
    }
  }
  return out;
}

std::string viewer_json_of(const GeneratedRun& run) {
  std::string out =
      "{\"metadata\": {\"appName\": \"qnn-net-run\", \"appVersion\": \"1\", \"backendVersion\": "
      "\"v2.45.0.2\"},\n\"messages\": [{\"method\": \"BACKEND_CREATE_FROM_BINARY\", "
      "\"profilingEvents\": [{\"identifier\": \"QNN (load binary) time\", \"unit\": \"MICROSEC\", "
      "\"type\": \"INIT\", \"value\": 24883}]}";
  for (std::size_t inference = 0; inference < run.inferences.size(); ++inference) {
    out += ",\n{\"method\": \"BACKEND_EXECUTE\", \"profilingEvents\": [";
    // Sub-events belong to the event before them.
    std::vector<std::pair<std::string, std::vector<std::string>>> events;
    for (const Line& line : lines_of(run, inference)) {
      if (line.value.empty()) continue;
      const char* unit = line.unit == "us"       ? "MICROSEC"
                         : line.unit == "cycles" ? "CYCLES"
                                                 : "COUNT";
      const std::string event = fmt::format(
          "\"identifier\": \"{}\", \"unit\": \"{}\", \"value\": {}", line.label, unit, line.value);
      if (line.level == 0) {
        events.push_back({event, {}});
      } else {
        events.back().second.push_back("{" + event + "}");
      }
    }
    std::vector<std::string> texts;
    for (const auto& [event, parts] : events) {
      texts.push_back(fmt::format(
          "{{{}{}}}", event,
          parts.empty() ? "" : fmt::format(", \"sub-events\": [{}]", fmt::join(parts, ","))));
    }
    out += fmt::format("{}]}}", fmt::join(texts, ",\n"));
  }
  return out + "]}\n";
}

}  // namespace npuscope::qnn::test
