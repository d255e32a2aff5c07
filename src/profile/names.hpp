// The names that enumerations have in JSON, CSV and SQLite, and in what a trace says of its
// profile: stable, in snake_case.
//
//   stable_name(Engine::dma_issue)        // "dma_issue"; "unknown" for a value that no reader
//   makes value_named<Engine>("dma_issue")      // Engine::dma_issue; none for another word
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "npuscope/profile/profile.hpp"

namespace npuscope {

// Of all values, in their order; the argument only says of which enumeration.
std::span<const char* const> stable_names(ClockKind);
std::span<const char* const> stable_names(Engine);
std::span<const char* const> stable_names(SpanKind);
std::span<const char* const> stable_names(MeasureKind);
std::span<const char* const> stable_names(NumberQuantity);
std::span<const char* const> stable_names(NumberRole);
std::span<const char* const> stable_names(Statistic);
std::span<const char* const> stable_names(Origin);
std::span<const char* const> stable_names(Measure::Subject);
std::span<const char* const> stable_names(EdgeKind);
std::span<const char* const> stable_names(ArgumentType);
std::span<const char* const> stable_names(Provenance::Temperature);
std::span<const char* const> stable_names(Provenance::Platform);
std::span<const char* const> stable_names(Check::Outcome);
std::span<const char* const> stable_names(Severity);

template <class Enum>
  requires std::is_enum_v<Enum>
const char* stable_name(Enum value) {
  const auto names = stable_names(value);
  return std::size_t(value) < names.size() ? names[std::size_t(value)] : "unknown";
}

template <class Enum>
  requires std::is_enum_v<Enum>
std::optional<Enum> value_named(std::string_view name) {
  const auto names = stable_names(Enum{});
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return Enum(found - names.begin());
}

// Platform and target, of a snapshot or trace of ours that is older than these.
void tell_platform_by_device(Provenance& provenance);

// A wait of an op has a name of its own in traces, "dma wait MatMul_0", or it would look like the
// op.
constexpr bool is_wait(SpanKind kind) {
  return kind == SpanKind::sync || kind == SpanKind::barrier || kind == SpanKind::dma_wait;
}
constexpr std::string_view wait_prefix(SpanKind kind) {
  return kind == SpanKind::sync ? "sync" : kind == SpanKind::barrier ? "barrier" : "dma wait";
}

}  // namespace npuscope
