// Which operator of the model each layer of the hardware is.
//
//   as many layers as operators that take one    the n-th layer is the n-th of them
//   else, by the timeline's own indices          operators, or layers: what fits the model
//
// Fewer layers than operators are a log that overflowed, or another model's. Only what shows that
// it is the former is paired: the log says that it is incomplete, the indices skip just the members
// of fused groups, or the caller allows it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/sigmastar/model.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::sigmastar {

// Whether the layers of several cores can be of one run: a layer that two cores share runs on both
// at about the same time.
//
//   const CoreAgreement agreement = compare_cores(layers);
//   agreement.shared, .apart        30 runs of layers that two cores have, 28 not at one time
//   agreement.are_of_two_runs()     true

// One run of a layer on one core.
struct CoreLayer {
  std::uint64_t layer = 0;  // any number that is the layer's on all cores
  std::uint32_t core = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

struct CoreAgreement {
  std::uint64_t shared = 0;  // n-th runs of a layer on a core that a core before it has too
  std::uint64_t apart = 0;   // of these: the two neither overlap nor touch
  bool are_of_two_runs() const { return apart * 2 > shared; }
};

// On one clock.
CoreAgreement compare_cores(std::vector<CoreLayer> layers);

// A layer of the hardware, whichever core it ran on.
struct PairedLayer {
  std::optional<std::uint64_t> index;  // as the timeline numbers it
  std::string_view name;
};

// Why there may be fewer layers than operators that take one.
struct PartOfLog {
  bool is_incomplete = false;  // the log says so: it overflowed, or was cut
  bool is_allowed = false;     // the user says so
};

struct LayerPairing {
  std::vector<std::uint32_t> operator_of;  // by layer
  bool by_own_indices = false;
};

// `layers` in the order in which they begin. An input error, which begins with `name`, where they
// are not the model's.
Result<LayerPairing> pair_layers(const Model& model, std::span<const PairedLayer> layers,
                                 const PartOfLog& part, const std::string& name);

}  // namespace npuscope::sigmastar
