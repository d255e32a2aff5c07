// How qaic-opstats prints trace events.
#pragma once

#include "formats/chrome/trace_events.hpp"

namespace npuscope::qaic {

consteval chrome::TraceStyle opstats_style(chrome::TraceTime time = chrome::TraceTime::fifths) {
  constexpr std::string_view members =
      R"({"name": ?, "cat": ?, "ph": ?, "bp": ?, "id": ?, "pid": ?, "tid": ?, "ts": ?, "dur": ?, )"
      R"("args": ?})";
  constexpr chrome::TraceForm plain{members, JsonLayout::wide()};
  constexpr chrome::TraceForm of_ops{members, {.between = ", ", .colon = " : "}};
  return {.events = of_ops, .counter = plain, .metadata = plain, .time = time};
}

inline constexpr chrome::TraceStyle device_style = opstats_style();

}  // namespace npuscope::qaic
