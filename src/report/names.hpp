// The names that enumerations have in JSON, CSV and SQLite: stable, in snake_case.
#pragma once

#include "npuscope/profile/profile.hpp"

namespace npuscope::report {

const char* stable_name(ClockKind kind);
const char* stable_name(Engine engine);
const char* stable_name(SpanKind kind);
const char* stable_name(MeasureKind kind);
const char* stable_name(Origin origin);
const char* stable_name(Measure::Subject subject);
const char* stable_name(EdgeKind kind);
const char* stable_name(ArgumentType type);
const char* stable_name(Provenance::Temperature temperature);
const char* stable_name(Check::Outcome outcome);
const char* stable_name(Severity severity);

}  // namespace npuscope::report
