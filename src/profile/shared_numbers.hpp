// Numbers that readers of several formats make, under npuscope's own names.
#pragma once

#include "npuscope/profile/meaning.hpp"

namespace npuscope {

inline constexpr NamedNumber ddr_read_bytes{"ddr read bytes", NumberQuantity::bytes,
                                            NumberRole::ddr_read};
inline constexpr NamedNumber ddr_write_bytes{"ddr write bytes", NumberQuantity::bytes,
                                             NumberRole::ddr_write};
inline constexpr NamedNumber vtcm_read_bytes{"vtcm read bytes", NumberQuantity::bytes,
                                             NumberRole::vtcm_read};
inline constexpr NamedNumber vtcm_write_bytes{"vtcm write bytes", NumberQuantity::bytes,
                                              NumberRole::vtcm_write};

// A unit whose spans stand for several threads that work side by side, as where a trace shows the
// threads of a group on one track: how many they are.
inline constexpr NamedNumber threads_of_unit =
    NamedNumber{"threads", NumberQuantity::count, NumberRole::threads}.not_additive();

// Of a span that was cut: how long it is as the file states it.
inline constexpr NamedNumber recorded_duration =
    NamedNumber{"recorded duration", MeasureKind::work, NumberRole::recorded_duration}
        .not_additive();

}  // namespace npuscope
