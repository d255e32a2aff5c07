// What a kind of span counts as, whoever asks.
#pragma once

#include "npuscope/profile/profile.hpp"

namespace npuscope {

enum class Role : std::uint8_t {
  work,     // op, transfer, slice, host, kernel, copy, communication, runtime_call
  wait,     // sync, barrier, dma_wait, wait
  frame,    // inference, activation, annotation, profiler: encloses work, is none itself
  overlay,  // async, instant: beside the unit's own work
};
constexpr Role role_of(SpanKind kind) {
  switch (kind) {
    case SpanKind::op:
    case SpanKind::transfer:
    case SpanKind::host:
    case SpanKind::slice:
    case SpanKind::kernel:
    case SpanKind::copy:
    case SpanKind::communication:
    case SpanKind::runtime_call: return Role::work;
    case SpanKind::sync:
    case SpanKind::barrier:
    case SpanKind::dma_wait:
    case SpanKind::wait: return Role::wait;
    case SpanKind::inference:
    case SpanKind::activation:
    case SpanKind::annotation:
    case SpanKind::profiler: return Role::frame;
    case SpanKind::async:
    case SpanKind::instant: return Role::overlay;
  }
  return Role::overlay;
}

}  // namespace npuscope
