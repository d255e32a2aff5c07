#include "report/names.hpp"

#include <cstddef>

namespace npuscope::report {
namespace {

// A value that no reader makes has a name all the same.
template <std::size_t count>
const char* name_in(const char* const (&names)[count], auto value) {
  return std::size_t(value) < count ? names[std::size_t(value)] : "unknown";
}

}  // namespace

const char* stable_name(ClockKind kind) { return name_in({"wall", "timer", "unit_cycles"}, kind); }
const char* stable_name(Engine engine) {
  return name_in({"none", "device", "core", "hvx", "hmx", "dma_issue", "dma", "host", "process",
                  "thread", "other"},
                 engine);
}
const char* stable_name(SpanKind kind) {
  return name_in({"op", "sync", "barrier", "transfer", "inference", "activation", "host",
                  "dma_wait", "slice", "async", "instant"},
                 kind);
}
const char* stable_name(MeasureKind kind) {
  return name_in(
      {"wall", "span", "active", "work", "unit_busy", "domain", "dominant_path", "count"}, kind);
}
const char* stable_name(Origin origin) {
  return name_in({"measured", "counter", "estimated", "simulated", "derived"}, origin);
}
const char* stable_name(Measure::Subject subject) {
  return name_in({"profile", "unit", "op", "span", "phase"}, subject);
}
const char* stable_name(EdgeKind kind) {
  return name_in({"data", "reuse", "flow", "transfer", "order"}, kind);
}
const char* stable_name(ArgumentType type) {
  return name_in({"null", "boolean", "integer", "unsigned_integer", "number", "text", "json"},
                 type);
}
const char* stable_name(Provenance::Temperature temperature) {
  return name_in({"unknown", "cold", "warm", "cold_then_warm"}, temperature);
}
const char* stable_name(Check::Outcome outcome) {
  return name_in({"passed", "failed", "impossible"}, outcome);
}
const char* stable_name(Severity severity) {
  return name_in({"info", "warning", "error"}, severity);
}

}  // namespace npuscope::report
