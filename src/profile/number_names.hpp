// What a number is, as far as only its name tells: for readers of files that say no more, such as
// generic traces, and npuscope's own of before they said it.
//
//   number_named(MeasureKind::count, "DDR write (bytes)").meaning    bytes, ddr_write, additive
//   number_named(MeasureKind::count, "bytes per cycle").meaning      bytes, not additive
//   number_named(MeasureKind::work, "cycles").meaning                time, additive
#pragma once

#include <string_view>

#include "npuscope/profile/meaning.hpp"

namespace npuscope {

NamedNumber number_named(MeasureKind kind, std::string_view name);

// What a sampled series of this name is.
NumberRole role_of_counter(std::string_view name);

}  // namespace npuscope
