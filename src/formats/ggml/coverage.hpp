// Which ops of the model's graphs ran elsewhere than on the NPU, and why: what the scheduler prints
// with GGML_SCHED_DEBUG=2, and the backend with GGML_HEXAGON_VERBOSE=1.
//
//   coverage.take("## SPLIT #1: CPU # 1 inputs");
//   coverage.take("node # 12 (  SSM_CONV):       conv_output-3 (   6K) [  CPU         ]");
//   coverage.refuse("SSM_CONV|conv_input-3 x … -> conv_output-3|…|f32 x f32 -> f32|…|no");
//   coverage.graphs()[0].elsewhere[0]              SSM_CONV conv_output-3 on CPU
//   coverage.reason_of(…)                          "CPU: the NPU refuses SSM_CONV of f32 x f32"
//
// The scheduler cuts names, an op's to 10 characters and a tensor's to 20. Each graph that it
// splits is printed, also those that are only planned: a batch is of the graph that was printed
// last.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace npuscope::ggml {

struct PlacedOp {
  std::string op, tensor, backend;  // backend: empty where only a refusal is known
};

struct PlacedGraph {
  std::uint64_t ops = 0, splits = 0;
  std::map<std::string, std::uint64_t> by_backend;
  std::vector<PlacedOp> elsewhere;  // not on the NPU
};

class Coverage {
 public:
  static constexpr std::uint32_t no_graph = ~std::uint32_t{0};

  // Whether the line is one of the scheduler's.
  bool take(std::string_view line);
  // Behind "supports-op ", up to "no".
  void refuse(std::string_view operation);

  // The graph that was printed last.
  std::uint32_t last_graph();
  const std::vector<PlacedGraph>& graphs() const { return graphs_; }
  const std::map<std::string, std::uint64_t>& refused() const { return refused_; }  // lines by op
  // Of a graph's own tensors, each once.
  std::vector<PlacedOp> refused_ops() const;
  std::string reason_of(const PlacedOp& placed) const;

 private:
  struct Refusal {
    std::string op, types;
  };
  bool take_op(std::string_view text);

  std::vector<PlacedGraph> graphs_;
  std::unordered_map<std::string, std::uint32_t> graph_of_;  // by all that it holds
  PlacedGraph open_;
  std::string text_, backend_;  // of the open graph
  std::uint32_t last_ = no_graph;
  std::map<std::string, std::uint64_t> refused_;
  std::map<std::string, Refusal> refused_tensors_;
};

}  // namespace npuscope::ggml
