// The ops of a profile: one for each operation, and one for what each kind of event did in it.
//
//   OpTable ops(log, layers, profile);
//   ops.window_of(run.operation)            blk.0.ffn_down · MUL_MAT hmx-tiled
//   ops.part_of(run.operation, event.name)  blk.0.ffn_down · HVX_W_DEQUANT
//   ops.between(event.name)                 between ops · L2FLUSH
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/ggml/log.hpp"
#include "formats/ggml/steps.hpp"

namespace npuscope::ggml {

// The layer of each operation, with what its own names do not tell: an op between two of a layer is
// of that layer too.
struct Layer {
  std::optional<int> number;  // none: of no layer
  std::string label;          // "blk.0.ffn_down", "output_norm"
};

// By operation.
std::vector<Layer> find_layers(const Log& log);

class OpTable {
 public:
  OpTable(const Log& log, const std::vector<Layer>& layers, Profile& profile)
      : log_(log), layers_(layers), profile_(profile), ops_(log.operations.size() + 1) {}

  OpId window_of(std::uint32_t operation) { return at(operation, 0); }
  OpId part_of(std::uint32_t operation, std::uint8_t event) { return at(operation, event + 1u); }
  OpId between(std::uint8_t event) { return at(std::uint32_t(log_.operations.size()), event + 1u); }

  bool is_window(OpId op) const {
    return index_of(op) < is_window_.size() && is_window_[index_of(op)];
  }
  // Those that were asked for; none stands where one was not.
  std::span<const OpId> parts(std::uint32_t operation) const {
    const std::vector<OpId>& ops = ops_[operation];
    return std::span(ops).subspan(std::min<std::size_t>(1, ops.size()));
  }

 private:
  OpId at(std::uint32_t operation, std::size_t place);
  Op window(std::uint32_t operation);
  Op part(std::uint32_t operation, std::size_t event);

  const Log& log_;
  const std::vector<Layer>& layers_;
  Profile& profile_;
  std::vector<std::vector<OpId>> ops_;  // by operation: its window, then by name of an event
  std::vector<bool> is_window_;         // by op
};

// The ops of a phase that ran elsewhere than on the NPU: without times, which no log has, but with
// the reason where it has that.
void add_ops_elsewhere(const Log& log, const Steps& steps, const StepGroup& group,
                       Profile& profile);

}  // namespace npuscope::ggml
