// Optrace sets for tests of the writer: one that fits a page, and random ones.
#pragma once

#include <algorithm>
#include <map>
#include <random>

#include "formats/qnn/write/write.hpp"

namespace npuscope::qnn::optrace {

// Input -> transfer -> softmax in two slices, which overlap a product -> output.
inline OptraceSet page_set() {
  OptraceSet set;
  set.graph_name = "page";
  set.graph_ops = {{2, "Input", "Input"}, {18, "soft\"max\"", "Softmax"}};
  set.op_types = {
      {"q::*InputSlice"}, {"q::Softmax"}, {"$Const"}, {"q::ForceFormat_Flat", "Flat", true}};
  set.ops.resize(5);
  set.ops[0] = {.id = 0x100000000002,
                .type = 0,
                .owner = 0,
                .flag = OpFlag::dma,
                .has_output = true,
                .data_type = TensorType::ufixed8,
                .step_size = 0.0078740157F,
                .zero_offset = 128,
                .dims = {1, 1, 2, 64},
                .inputs = {},
                .traffic = {.dram_read = 128, .vtcm_write = 128}};
  set.ops[1] = {.id = 0x100100000012,
                .type = 1,
                .owner = 1,
                .flag = OpFlag::uses_hvx,
                .has_output = true,
                .data_type = TensorType::ufixed8,
                .step_size = 0.5F,
                .dims = {1, 1, 2, 64},
                .inputs = {0, 3},
                .after = {4},
                .traffic = {.vtcm_read = 128, .vtcm_write = 128}};
  set.ops[2] = {.id = 0x100200000012,
                .type = 3,
                .owner = 1,
                .flag = OpFlag::uses_hmx,
                .has_output = true,
                .data_type = TensorType::float16,
                .dims = {1, 1, 2, 64},
                .inputs = {1},
                .after = {1},
                .traffic = {.vtcm_read = 128}};
  set.ops[3] = {.id = 0x100300000012,
                .type = 2,
                .owner = 1,
                .flag = OpFlag::constant,
                .has_output = true,
                .data_type = TensorType::int32,
                .dims = {}};
  set.ops[4] = {.id = 0x100400000002, .type = 0, .owner = 0, .flag = OpFlag::dma_wait};
  set.lanes = {{256, "HMX"}, {512, "HVX"}, {513, "HVX"}};
  constexpr std::uint64_t start = 8'000'000'000'000;
  set.instances = {
      {.op = 0,
       .tid = 256,
       .start_cycle = start,
       .cycles = 30,
       .packets = 12,
       .traffic = {.dram_read = 128, .vtcm_write = 128}},
      {.op = 4, .tid = 256, .start_cycle = start + 40, .cycles = 10, .packets = 3},
      {.op = 1,
       .tid = 512,
       .start_cycle = start + 60,
       .cycles = 20,
       .packets = 8,
       .traffic = {.vtcm_read = 64, .vtcm_write = 64}},
      {.op = 1,
       .tid = 513,
       .start_cycle = start + 62,
       .cycles = 24,
       .packets = 8,
       .traffic = {.vtcm_read = 64, .vtcm_write = 64}},
      {.op = 2,
       .tid = 256,
       .start_cycle = start + 84,
       .cycles = 16,
       .packets = 0,
       .traffic = {.vtcm_read = 128}},
  };
  set.vtcm_samples = {{start, 128}, {start + 60, 256}, {start + 100, 0}};
  set.executes = {{{"QNN DSP Execute", 1000, 1192, start - 500, start + 900},
                   {"Graph Execute", 1096, 1158, start - 10, start + 120}},
                  {{"QNN DSP Execute", 2000, 2048, start + 5000, start + 9800},
                   {"Graph Execute", 2010, 2040, start + 6000, start + 9000}}};
  return set;
}

// The same, with what the viewer's text needs.
inline OptraceSet page_set_with_calls() {
  OptraceSet set = page_set();
  set.graph_ops.insert(set.graph_ops.begin(), {3, "Output", "Output"});
  set.graph_ops.push_back({0, "SystemService_1000", "SystemService"});
  for (HtpOp& op : set.ops) ++op.owner;
  set.executes[1].push_back({"VTCM Acquire", 2001, 2005, 0, 0});
  set.executes[1].push_back({"Resource Power On", 2006, 2008, 0, 0});
  set.hvx_threads = 2;
  set.load = {24, 12, 11, 10};
  set.release = {4, 3, 2, 1};
  set.calls = {{{400, 300, 20}, {0, 40, 60, 0}}, {{40, 30, 20}, {7, 4, 6, 5}}};
  return set;
}

inline OptraceSet random_set(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  OptraceSet set;
  set.graph_name = "random";
  set.graph_ops = {{0, "SystemService_1", "SystemService"},
                   {2, "Input", "Input"},
                   {18, "a/b", "Softmax"},
                   {22, "c", "MatMul"}};
  set.op_types = {{"q::A"}, {"q::B", "words"}, {"q::C", "", true}, {"$Const"}};
  set.lanes = {{256, "HMX"}, {512, "HVX"}, {513, "HVX"}, {514, "HVX"}};
  const OpFlag flags[] = {OpFlag::constant, OpFlag::null_exec, OpFlag::dma,      OpFlag::dma_set,
                          OpFlag::dma_wait, OpFlag::uses_hvx,  OpFlag::uses_hmx, OpFlag::sync};
  const std::uint32_t ops = 2 + std::uint32_t(below(30));
  std::map<std::uint32_t, std::uint64_t> free;  // by tid
  for (std::uint32_t i = 0; i < ops; ++i) {
    HtpOp op;
    op.owner = std::uint32_t(below(4));
    op.id = std::uint64_t{0x1000 + i} << 32 | set.graph_ops[op.owner].id;
    op.flag = i == 0 ? OpFlag::uses_hvx : flags[below(8)];
    op.type = op.flag == OpFlag::constant ? 3 : std::uint32_t(below(3));
    op.has_output = below(3) > 0;
    if (op.has_output) {
      op.data_type = TensorType::float16;
      for (std::uint64_t d = below(5); d > 0; --d) op.dims.push_back(std::int64_t(below(9)));
    }
    for (std::uint64_t n = below(4); n > 0 && i > 0; --n) {
      op.inputs.push_back(std::uint32_t(below(i)));
    }
    const std::uint32_t slices = !executes(op.flag)            ? 0
                                 : op.flag == OpFlag::uses_hvx ? 1 + std::uint32_t(below(3))
                                                               : 1;
    for (std::uint32_t slice = 0; slice < slices; ++slice) {
      Instance run;
      run.op = i;
      run.tid = op.flag == OpFlag::uses_hvx ? 512 + slice : 256;
      run.start_cycle = free[run.tid] + below(20);
      run.cycles = below(12) == 0 ? 0 : 1 + below(40);
      free[run.tid] = run.start_cycle + std::max<std::uint64_t>(run.cycles, 1);
      run.start_cycle += 8'000'000'000'000;
      run.packets = below(10);
      run.traffic = {below(100), below(100), below(100), below(100)};
      op.traffic.dram_read += run.traffic.dram_read;
      op.traffic.dram_write += run.traffic.dram_write;
      op.traffic.vtcm_read += run.traffic.vtcm_read;
      op.traffic.vtcm_write += run.traffic.vtcm_write;
      set.instances.push_back(run);
    }
    set.ops.push_back(std::move(op));
  }
  std::shuffle(set.instances.begin(), set.instances.end(), random);
  set.executes = {
      {{"QNN DSP Execute", 0, 19 + below(9000), 0, 1}, {"Graph Execute", 3, 7 + below(9), 0, 1}}};
  return set;
}

inline std::string text_of(void (*write)(const OptraceSet&, const TextSink&),
                           const OptraceSet& set) {
  std::string text;
  write(set, [&](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace npuscope::qnn::optrace
