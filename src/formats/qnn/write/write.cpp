#include "formats/qnn/write/write.hpp"

#include <algorithm>
#include <utility>

#include "base/try.hpp"
#include "npuscope/base/files.hpp"

namespace npuscope::qnn::optrace {

namespace {

Status check_ops(const OptraceSet& set) {
  std::vector<std::uint64_t> ids;
  ids.reserve(set.ops.size());
  for (std::size_t i = 0; i < set.ops.size(); ++i) {
    const HtpOp& op = set.ops[i];
    if (op.type >= set.op_types.size() || op.owner >= set.graph_ops.size()) {
      return usage_error("optrace op {}: its type {} or owner {} is not in the set", i, op.type,
                         op.owner);
    }
    for (const std::uint32_t input : op.inputs) {
      if (input >= set.ops.size()) {
        return usage_error("optrace op {}: its input {} is not in the set", i, input);
      }
    }
    for (const std::uint32_t before : op.after) {
      if (before >= set.ops.size()) {
        return usage_error("optrace op {}: op {}, which it comes after, is not in the set", i,
                           before);
      }
    }
    ids.push_back(op.id);
  }
  std::sort(ids.begin(), ids.end());
  const auto twice = std::adjacent_find(ids.begin(), ids.end());
  if (twice == ids.end()) return {};
  return usage_error("optrace: two ops have the id 0x{:016x}", *twice);
}

Status check_instances(const OptraceSet& set) {
  if (set.instances.empty()) return usage_error("optrace: no op was executed");
  std::vector<std::uint32_t> tids;
  for (const Lane& lane : set.lanes) tids.push_back(lane.tid);
  std::sort(tids.begin(), tids.end());
  if (std::adjacent_find(tids.begin(), tids.end()) != tids.end()) {
    return usage_error("optrace: two lanes have the same tid");
  }
  std::vector<std::pair<std::uint32_t, std::uint64_t>> places;
  places.reserve(set.instances.size());
  for (std::size_t i = 0; i < set.instances.size(); ++i) {
    const Instance& instance = set.instances[i];
    if (instance.op >= set.ops.size() || !executes(set.ops[instance.op].flag)) {
      return usage_error("optrace instance {}: op {} is not one that executes", i, instance.op);
    }
    if (!std::binary_search(tids.begin(), tids.end(), instance.tid)) {
      return usage_error("optrace instance {}: no lane has tid {}", i, instance.tid);
    }
    places.emplace_back(instance.tid, instance.start_cycle);
  }
  std::sort(places.begin(), places.end());
  const auto twice = std::adjacent_find(places.begin(), places.end());
  if (twice == places.end()) return {};
  return usage_error("optrace: two instances start at cycle {} on tid {}", twice->second,
                     twice->first);
}

Status check_executes(const OptraceSet& set) {
  if (!(set.timer_hz > 0)) return usage_error("optrace: a timer of {:g} Hz", set.timer_hz);
  for (std::size_t i = 0; i < set.executes.size(); ++i) {
    for (const Phase& phase : set.executes[i]) {
      if (phase.end_ticks < phase.start_ticks || phase.end_cycles < phase.start_cycles) {
        return usage_error("optrace execute {}: {} ends before it starts", i, phase.name);
      }
    }
  }
  for (const std::string_view needed : {"QNN DSP Execute", "Graph Execute"}) {
    const auto has = [&](const Execute& execute) {
      return std::any_of(execute.begin(), execute.end(),
                         [&](const Phase& phase) { return phase.name == needed; });
    };
    if (set.executes.empty() || !has(set.executes.front())) {
      return usage_error("optrace: the first execute has no phase {}", needed);
    }
  }
  return {};
}

Status check_calls(const OptraceSet& set) {
  if (set.calls.empty()) return {};
  if (set.calls.size() != set.executes.size()) {
    return usage_error("optrace: {} calls of {} executes", set.calls.size(), set.executes.size());
  }
  for (std::size_t i = 0; i < set.calls.size(); ++i) {
    if (set.calls[i].op_cycles.size() == set.graph_ops.size()) continue;
    return usage_error("optrace call {}: cycles of {} ops, the graph has {}", i,
                       set.calls[i].op_cycles.size(), set.graph_ops.size());
  }
  std::vector<std::uint64_t> traced(set.graph_ops.size(), 0);
  for (const Instance& instance : set.instances) {
    traced[set.ops[instance.op].owner] += instance.cycles;
  }
  for (std::size_t i = 0; i < traced.size(); ++i) {
    const std::uint64_t called = set.calls.front().op_cycles[i];
    if (called == traced[i]) continue;
    return usage_error("optrace call 0: {} cycles of op {}, its instances have {}", called,
                       set.graph_ops[i].name, traced[i]);
  }
  return {};
}

}  // namespace

std::string_view name_of(TensorType type) {
  switch (type) {
    case TensorType::none: return "";
    case TensorType::int8: return "Int8";
    case TensorType::int16: return "Int16";
    case TensorType::int32: return "Int32";
    case TensorType::int64: return "Int64";
    case TensorType::uint8: return "UInt8";
    case TensorType::uint16: return "UInt16";
    case TensorType::uint32: return "UInt32";
    case TensorType::uint64: return "UInt64";
    case TensorType::float16: return "Float16";
    case TensorType::float32: return "Float32";
    case TensorType::sfixed8: return "QInt8";
    case TensorType::sfixed16: return "QInt16";
    case TensorType::ufixed8: return "QUInt8";
    case TensorType::ufixed16: return "QUInt16";
    case TensorType::bool8: return "Bool8";
  }
  return "";
}

std::string_view name_of(OpFlag flag) {
  switch (flag) {
    case OpFlag::constant: return "";
    case OpFlag::null_exec: return "null_exec";
    case OpFlag::dma: return "dma";
    case OpFlag::dma_set: return "dma_set";
    case OpFlag::dma_wait: return "dma_wait";
    case OpFlag::uses_hvx: return "uses_hvx";
    case OpFlag::uses_hmx: return "uses_hmx";
    case OpFlag::sync: return "sync";
  }
  return "";
}

Status check_optrace_set(const OptraceSet& set) {
  if (auto usable = check_ops(set); !usable) return usable;
  if (auto usable = check_instances(set); !usable) return usable;
  if (auto usable = check_executes(set); !usable) return usable;
  return check_calls(set);
}

std::vector<std::filesystem::path> optrace_files(const OptraceSet& set,
                                                 const std::filesystem::path& stem) {
  std::vector<std::filesystem::path> files;
  for (const char* ending :
       {".json", "_htp.json", "_runtrace.json", "_qnn_htp_analysis_summary.json", "_profile.txt"}) {
    files.emplace_back(stem).concat(ending);
  }
  if (set.calls.empty()) files.pop_back();
  return files;
}

Status write_optrace_set(const OptraceSet& set, const std::filesystem::path& stem) {
  if (auto usable = check_optrace_set(set); !usable) return usable;
  const auto files = optrace_files(set, stem);
  using Writer = void (*)(const OptraceSet&, const TextSink&);
  const Writer writers[] = {write_op_trace, write_htp_graph, write_run_trace, write_qhas,
                            write_viewer_text};
  for (std::size_t i = 0; i < files.size(); ++i) {
    TRY_AS(file, AtomicFile::create(files[i]));
    writers[i](set, [&](std::string_view text) { file->write(text); });
    if (auto done = file->commit(); !done) return done;
  }
  return {};
}

}  // namespace npuscope::qnn::optrace
