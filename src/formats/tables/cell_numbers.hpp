// The number of a cell, and what it counts in the units of a description.
//
//   number_in(" 47.59% ")                        47.59
//   ticks_in(TableUnit::milliseconds)            1e6: ns of one
//   quantity_of(TableUnit::kibibytes)            NumberQuantity::bytes
#pragma once

#include <optional>
#include <string_view>

#include "formats/tables/description.hpp"

namespace npuscope::tables {

// None for "N/A" and the like.
std::optional<double> number_in(std::string_view text);

// Of one of the unit: nanoseconds, cycles, bytes or what else it counts.
double ticks_in(TableUnit unit);
NumberQuantity quantity_of(TableUnit unit);

}  // namespace npuscope::tables
