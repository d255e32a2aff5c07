// What a compiled graph consists of: its ops by kind, its edges, its tensors and its form.
//
//   const GraphFacts facts = graph_facts(profile, graph, times);
//   ops 45, of which run 43      edges: data 27, order 4      longest chain 14 ops
//   inputs 1, outputs 1, constants 18 (594,008 bytes)         components 1, cycles 0
//
// An op that only bears a name (the model's operators in some files) is not of the compiled graph:
// it has no kind, no edge, no tensor and no span.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analysis/ops/op_times.hpp"
#include "npuscope/analysis/graph.hpp"

namespace npuscope::analysis {

struct KindCount {
  StringId kind{};
  std::uint64_t ops = 0;
  std::uint64_t ran = 0;
  std::int64_t work = 0;  // of those that ran
  std::uint64_t output_bytes = 0;
  Engine engine = Engine::none;  // of the first
};

struct TensorSum {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::uint64_t without_size = 0;
};

struct MemorySum {
  StringId memory{};
  TensorSum sum;
};

struct GraphFacts {
  std::vector<std::uint8_t> compiled;  // by op: 0 for one that only bears a name
  std::uint64_t ops = 0, ran = 0, only_named = 0;
  std::vector<KindCount> kinds;          // most ops first
  std::array<std::uint64_t, 5> edges{};  // by EdgeKind
  // Tensors: of the inputs nobody is the producer, of the outputs nobody the consumer.
  // Records of shapes hold no data and are in none of these.
  TensorSum tensors, inputs, outputs, constants, inner;
  std::uint64_t shapes = 0;
  std::vector<MemorySum> memories;
  std::vector<std::uint32_t> largest;  // tensors, the largest first
  std::vector<std::uint32_t> uses;     // by tensor: how many ops consume it
  // Form, over all kinds of edges; cycles count as one step of a chain.
  std::vector<OpId> chain;                              // a longest one
  std::vector<std::uint32_t> level;                     // by op: edges of the longest way to it
  std::uint64_t levels = 0, width = 0;                  // width: most ops of one level
  std::uint64_t sources = 0, sinks = 0, alone = 0;      // alone: without any edge
  std::uint64_t components = 0, largest_component = 0;  // of ops with edges
  std::vector<std::vector<OpId>> cycles;                // the largest first, at most 100
  std::uint64_t cycle_count = 0;
};

GraphFacts graph_facts(const Profile& profile, const OpGraph& graph, const OpTimes& times);

}  // namespace npuscope::analysis
