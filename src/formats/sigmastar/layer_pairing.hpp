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
