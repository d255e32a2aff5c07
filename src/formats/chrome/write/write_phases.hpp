// Phases as slices of a process of their own.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/chrome/write/event_output.hpp"
#include "formats/chrome/write/write_tracks.hpp"

namespace npuscope::chrome {

class PhaseWriter {
 public:
  // Adds the tracks that they need.
  PhaseWriter(const Profile& profile, Layout& layout, EventOutput& out);

  void write();

 private:
  void write_phase(std::uint32_t number, std::uint32_t track);

  const Profile& profile_;
  EventOutput& out_;
  std::vector<std::uint32_t> order_, lane_;
  std::uint32_t first_track_ = 0;
  bool any_parent_ = false;
};

}  // namespace npuscope::chrome
