// The model's operator that each op counts for. The HTP's tools give the product of a fully
// connected operator to the reshape behind it:
//
//   q::ConvLayer.opt of MatMul_3_post_reshape, on the HMX      counts for MatMul_3
//
// A reshape renames bytes and cannot use the HMX, so what does is of the operator before it, where
// the profile knows one of that name.
#pragma once

#include <cstdint>
#include <vector>

#include "npuscope/profile/profile.hpp"

namespace npuscope::analysis {

struct OpOwners {
  std::vector<StringId> nodes;  // by op: Op::node, or that of the operator before
  std::uint64_t moved = 0;      // ops
};

OpOwners owners_of(const Profile& profile, bool as_written);

}  // namespace npuscope::analysis
