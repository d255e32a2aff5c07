// What each operator of a fixed model costs, by the layers of its IPU timeline:
//
//   const auto costs = charge_operators(*model, timeline->layers, "log_ctrl0.json");
//   costs->operators[0].share     0.0788     CONV_2D, first of a group of three
//   costs->operators[1].share     0          its time is the group's, charged to the first
//   costs->types[0]               CONV_2D 0.80743
//
// The operators are walked in order; each that is no member of a fused group and no alias takes the
// next layer of the hardware, in the order in which the layers start. Where there are not as many
// layers as operators that take one, the timeline's own indices say whose each is.
//
// A share is of the sum over all layers. A layer that runs on two cores, or in several inferences,
// counts with the sum of its runs: work, not wall.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "npuscope/formats/sigmastar/model.hpp"
#include "npuscope/formats/sigmastar/timeline.hpp"

namespace npuscope::sigmastar {

struct OperatorCost {
  double time = 0;           // cycles, or nanoseconds where the timeline has no cycles
  double share = 0;          // of the sum over all layers
  std::uint32_t layers = 0;  // that were charged to it
};

struct TypeCost {
  std::string type;
  double share = 0;
  double time = 0;
  std::uint32_t operators = 0;
};

struct OperatorCosts {
  std::vector<OperatorCost> operators;  // as in the model
  std::vector<TypeCost> types;          // most first
  double sum = 0;                       // over all layers, those of no operator too
  double unassigned = 0;                // of it: of layers whose index is no operator's
  bool in_cycles = false;               // else nanoseconds
  bool by_own_indices = false;
  std::uint32_t cores = 0;
  std::uint64_t layers = 0;                               // of the hardware
  std::uint64_t takers = 0;                               // operators that take one
  std::vector<std::optional<std::uint32_t>> operator_of;  // by run of a layer
  std::vector<std::string> remarks;                       // how it was counted: sentences
};

// An input error when the layers are not those of the model: neither as many, nor with indices;
// and when they took no time at all.
Result<OperatorCosts> charge_operators(const Model& model, std::span<const LayerRun> runs,
                                       const std::string& timeline_name);

}  // namespace npuscope::sigmastar
