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
#include <vector>

#include "formats/ggml/layers.hpp"
#include "formats/ggml/log.hpp"

namespace npuscope::ggml {

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

}  // namespace npuscope::ggml
