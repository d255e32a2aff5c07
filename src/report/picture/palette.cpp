#include "report/picture/palette.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace npuscope::report {
namespace {

constexpr std::array batlow{"#011959", "#103F60", "#1C5A62", "#3C6D56", "#687B3E",
                            "#9D892B", "#D29343", "#F8A17B", "#FDB7BC", "#FACCFA"};

}  // namespace

const char* engine_colour(Engine engine) {
  switch (engine) {
    case Engine::hmx: return "#d0480c";
    case Engine::hvx: return "#0b6fb8";
    case Engine::dma_issue: return "#8f5bb5";
    case Engine::dma: return "#0d8f6f";
    case Engine::compute: return "#b8860b";
    case Engine::communication: return "#a8417c";
    case Engine::host: return "#5d7083";
    case Engine::device:
    case Engine::core: return "#74808c";
    case Engine::process: return "#66788a";
    case Engine::thread: return "#51799c";
    case Engine::other:
    case Engine::none: return "#858d95";
  }
  return "#858d95";
}

const char* shade(std::size_t number, std::size_t count) {
  if (count <= 1) return batlow[2];
  return batlow[std::min(number, count - 1) * (batlow.size() - 1) / (count - 1)];
}

std::string heat_colour(double share) {
  constexpr std::array hottest{0xf2, 0x70, 0x3a};
  // By the root, so that a few per cent are seen.
  const double part = std::sqrt(std::clamp(share, 0.0, 1.0));
  const auto mixed = [&](int full) { return int(std::lround(255 + (full - 255) * part)); };
  return fmt::format("#{:02x}{:02x}{:02x}", mixed(hottest[0]), mixed(hottest[1]),
                     mixed(hottest[2]));
}

}  // namespace npuscope::report
