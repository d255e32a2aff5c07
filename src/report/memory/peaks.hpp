// What the hardware of a profile can do at most, from its target's description or as people write
// it:
//
//   find_peaks(profile, {})                                  Cloud AI 100: target aic100
//   find_peaks(profile, {.target = "htp-v75"})               built in, or a .toml file
//   find_peaks(profile, {.ddr = "137GB/s", .macs = "8.2TMAC/s", .clock = "1.8GHz"})
//
// Bandwidths are in B/s, KB/s, MB/s, GB/s, TB/s (powers of 1000), or KiB/s … (of 1024); rates of
// MACs in MAC/s, GMAC/s, TMAC/s, or GOPS and TOPS, of which two are one MAC.
#pragma once

#include <optional>
#include <string>

#include "npuscope/analysis/roofline.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::report {

struct PeakText {
  std::string target = {};
  std::string remembered_target = {};  // of a profile that does not name its hardware
  std::string ddr = {};
  std::string vtcm = {};
  std::string macs = {};
  std::string clock = {};  // of the base clock, where it counts cycles of unknown rate
};

// Takes the remembered target where none is named; a usage error for one that is unknown.
Status choose_target(PeakText& text);

struct FoundPeaks {
  analysis::Peaks peaks;
  std::optional<Hertz> clock;
};

// A usage error for what cannot be read and for a target that nobody knows.
Result<FoundPeaks> find_peaks(const Profile& profile, const PeakText& text);

}  // namespace npuscope::report
