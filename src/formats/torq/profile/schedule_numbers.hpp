// What one schedule of a model does otherwise than another, as numbers of a profile: `npuscope
// diff` names the cause of a difference by them.
#pragma once

#include <span>

#include "formats/torq/debug/debug_info.hpp"
#include "npuscope/profile/meaning.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::torq {

// Between LRAM and the CSS.
inline constexpr NamedNumber cdma_bytes{"cdma bytes", NumberQuantity::bytes};

// Exposed DMA and DMA behind compute, of the profile's spans.
void add_overlap_numbers(Profile& profile);

// Blocks of the NSS's program fetched, LRAM in use at its peak, and what stays in LRAM from one
// kernel to another. Of several dispatches, which run one after another, the largest peak.
void add_memory_numbers(Profile& profile, std::span<const DispatchInfo* const> dispatches);

// All of these, of an estimate of what a log's profile measures; in cycles of `clock`.
void add_estimated_schedule(Profile& measured, ClockId clock, const Profile& estimate);

}  // namespace npuscope::torq
