#include "base/has_text.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace npuscope {
namespace {

// How often bytes stand in the heads of profiles; 0: hardly ever.
constexpr auto frequency = [] {
  constexpr std::string_view frequent =
      " \"etosanr0:ci,dp\nl1_mhu2.4f3yg85679vxw-/)({}ObTPqDk\tN'AIES%HCXMR>=<";
  std::array<std::uint8_t, 256> frequency{};
  for (std::size_t i = 0; i < frequent.size(); ++i) {
    frequency[std::uint8_t(frequent[i])] = std::uint8_t(frequent.size() - i);
  }
  return frequency;
}();

}  // namespace

// As find() goes for the rarest letter: it stops at each one, of which the head of a file of JSON
// may still have thousands. memmem, for those, looks at every byte.
bool has_text(std::string_view text, std::string_view part) {
  if (part.size() > text.size()) return false;
  if (part.empty()) return true;
  const auto rarest = std::ranges::min_element(
      part, {}, [](char letter) { return frequency[std::uint8_t(letter)]; });
  const auto before = std::size_t(rarest - part.begin());
  const std::string_view places = text.substr(before, text.size() - part.size() + 1);
  constexpr std::size_t bytes_a_stop = 64, free_stops = 4;
  std::size_t at = 0;  // where the part may begin
  for (std::size_t stops = 0; stops < free_stops + at / bytes_a_stop; ++stops, ++at) {
    at = places.find(*rarest, at);
    if (at == places.npos) return false;
    if (std::memcmp(text.data() + at, part.data(), part.size()) == 0) return true;
  }
  return ::memmem(text.data() + at, text.size() - at, part.data(), part.size()) != nullptr;
}

}  // namespace npuscope
