// What each operator of a fixed model costs, by the layers of its IPU timeline:
//
//   const auto costs = charge_operators(*model, timeline->layers, "log_ctrl0.json");
//   costs->operators[0].share     0.0788     CONV_2D, first of a group of three
//   costs->operators[1].share     0          its time is the group's, charged to the first
//   costs->types[0]               CONV_2D 0.80743
//
// The operators are walked in order; each that is no member of a fused group and no alias takes the
// next layer of the hardware, in the order in which the layers start. Where there are not as many
// layers as operators that take one, the timeline's own indices say whose each is, if they can be
// the model's: a timeline of another model is an error. That of a log that overflowed covers a part
// of the model:
//
//   costs->is_partial()           12 of 40 operators that take a layer were seen
//   costs->operators[30].seen     false: it has no share, which is not the same as 0
//
// A share is of the sum over all layers. A layer that runs on two cores, or in several inferences,
// counts with the sum of its runs: work, not wall.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/sigmastar/model.hpp"
#include "formats/sigmastar/timeline.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::sigmastar {

struct OperatorCost {
  double time = 0;           // cycles, or nanoseconds where the timeline has no cycles
  double share = 0;          // of the sum over all layers
  std::uint32_t layers = 0;  // that were charged to it
  bool seen = true;          // false: it takes a layer, or its group does, which is not in the log
};

struct TypeCost {
  std::string type;
  double share = 0;
  double time = 0;
  std::uint32_t operators = 0;
  std::uint32_t seen = 0;  // of these
};

struct OperatorCosts {
  std::vector<OperatorCost> operators;  // as in the model
  std::vector<TypeCost> types;          // most first
  double sum = 0;                       // over all layers
  bool in_cycles = false;               // else nanoseconds
  bool by_own_indices = false;
  std::uint32_t cores = 0;
  std::uint64_t layers = 0;                               // of the hardware
  std::uint64_t takers = 0;                               // operators that take one
  std::uint64_t seen_takers = 0;                          // of these, with a layer
  bool is_incomplete = false;                             // the log says that it is
  std::optional<double> share_of_wall;                    // with a layer; none: the wall is unknown
  std::vector<std::optional<std::uint32_t>> operator_of;  // by run of a layer
  std::vector<std::string> remarks;                       // how it was counted: sentences

  bool is_partial() const { return is_incomplete || seen_takers < takers; }
};

// "covers 12 of the 40 operators that take a layer and 31.4 % of the wall".
std::string coverage_text(const OperatorCosts& costs);

struct ChargeOptions {
  std::span<const Interval> inferences = {};  // from begin to end, on the clock of the runs' starts
  bool is_incomplete = false;                 // the log says that it is
  bool allow_partial = false;                 // fewer layers than operators are no other model's
};

// An input error when the layers are not those of the model (fewer without a reason, more, or with
// names of other types), or those of its cores are not of one run; and when they took no time at
// all.
Result<OperatorCosts> charge_operators(const Model& model, std::span<const LayerRun> runs,
                                       const std::string& timeline_name,
                                       const ChargeOptions& options = {});

}  // namespace npuscope::sigmastar
