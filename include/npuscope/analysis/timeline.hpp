// How the spans of a profile count: which of them are work, which waiting, and what they sum to
// without counting a nested slice twice.
//
//   role_of(SpanKind::sync)                 // wait
//   timeline_of(profile)                    // first start to last end of what ran
//
// A span's end never overflows: end_of() saturates, negative durations count as none.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "npuscope/profile/intervals.hpp"
#include "npuscope/profile/profile.hpp"
#include "npuscope/profile/span_roles.hpp"
#include "npuscope/profile/spans_by_unit.hpp"

namespace npuscope::analysis {

using npuscope::Role;
using npuscope::role_of;

// The hardware that a kind of span needs, on a unit of which a trace only says that it is a process
// or a thread; none: the kind does not tell.
constexpr Engine engine_of(SpanKind kind) {
  switch (kind) {
    case SpanKind::kernel: return Engine::compute;
    case SpanKind::copy: return Engine::dma;
    case SpanKind::communication: return Engine::communication;
    case SpanKind::host:
    case SpanKind::runtime_call: return Engine::host;
    default: return Engine::none;
  }
}

// The hardware a span uses: what its op says, else its kind or its unit. A DMA op on a lane that is
// no DMA engine (on the HTP all of them) issues a transfer: its cycles are not those of the
// transfer.
constexpr Engine engine_of(Engine of_op, Engine lane, SpanKind kind) {
  if (of_op == Engine::none) {
    const bool is_named = lane != Engine::none && lane != Engine::process &&
                          lane != Engine::thread && lane != Engine::other;
    const Engine needed = is_named ? Engine::none : engine_of(kind);
    return needed == Engine::none ? lane : needed;
  }
  const bool is_issue = of_op == Engine::dma && lane != Engine::dma && lane != Engine::none &&
                        kind != SpanKind::transfer;
  return is_issue ? Engine::dma_issue : of_op;
}
inline Engine engine_of(const Profile& profile, OpId op_id, UnitId unit_id, SpanKind kind) {
  const std::size_t op = index_of(op_id), unit = index_of(unit_id);
  const Engine lane = unit < profile.units.size() ? profile.units[unit].engine : Engine::none;
  return engine_of(op < profile.ops.size() ? profile.ops[op].engine : Engine::none, lane, kind);
}
inline Engine engine_of(const Profile& profile, std::size_t row) {
  const Spans& spans = profile.spans;
  return engine_of(profile, spans.op[row], spans.unit[row], spans.kind[row]);
}
inline Engine engine_of(const Profile& profile, UnitId unit, const SpanOfUnit& span) {
  return engine_of(profile, span.op, unit, span.kind);
}

// What that hardware does. A span of kind transfer is data movement wherever it runs; communication
// with other devices is none.
enum class Domain : std::uint8_t { compute, movement, communication, host, other };
inline constexpr std::size_t domain_count = std::size_t(Domain::other) + 1;
inline Domain domain_of(Engine engine) {
  switch (engine) {
    case Engine::hvx:
    case Engine::hmx:
    case Engine::compute: return Domain::compute;
    case Engine::dma_issue:
    case Engine::dma: return Domain::movement;
    case Engine::communication: return Domain::communication;
    case Engine::host: return Domain::host;
    default: return Domain::other;
  }
}
// Whether the NPU does it.
constexpr bool is_of_device(Domain domain) {
  return domain == Domain::compute || domain == Domain::movement || domain == Domain::communication;
}
inline Domain domain_of(Engine engine, SpanKind kind) {
  if (kind == SpanKind::transfer) return Domain::movement;
  if (kind == SpanKind::host) return Domain::host;
  return domain_of(engine);
}
inline Domain domain_of(const Profile& profile, std::size_t row) {
  return domain_of(engine_of(profile, row), profile.spans.kind[row]);
}
inline Domain domain_of(const Profile& profile, UnitId unit, const SpanOfUnit& span) {
  return domain_of(engine_of(profile, unit, span), span.kind);
}
const char* name_of(Domain domain);

// From the first start to the last end of work, waits and inferences (setting up before the first
// inference is no part of it), of instants and asynchronous spans where there is nothing else.
// Empty {0, 0} without spans.
Interval timeline_of(const Profile& profile);

// Ticks of the base clock per second during a window: the clock's own rate, else that of the
// shortest phase which contains the window and has been timed by another clock, else one that was
// derived from rounded numbers.
struct ClockRate {
  Hertz rate;
  Origin origin = Origin::measured;  // or derived
  double error = 0;                  // derived, a lower bound: share that rounding may change
};
std::optional<ClockRate> clock_rate_during(const Profile& profile, Interval window);
std::optional<Hertz> rate_during(const Profile& profile, Interval window);

}  // namespace npuscope::analysis
