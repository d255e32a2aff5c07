// The most VTCM that a core had in use, where a profile says it.
//
//   const auto peaks = vtcm_peaks(profile);
//   peaks[0]    671,744 bytes, by "VTCM alloc", a counter
//   peaks[1]    671,744 bytes, by "peak VTCM bytes", measured
#pragma once

#include <string>
#include <vector>

#include "npuscope/profile/profile.hpp"

namespace npuscope::analysis {

struct VtcmPeak {
  std::string by;  // the counter's or the number's name
  UnitId unit = UnitId::none;
  Origin origin = Origin::measured;
  double bytes = 0;
};

// Counters before numbers, each in the profile's order; of counters and numbers of several units
// the fullest.
std::vector<VtcmPeak> vtcm_peaks(const Profile& profile);

}  // namespace npuscope::analysis
