// The keys of an event that mean something to the format. All others are kept with the arguments.
#pragma once

#include <cstdint>
#include <string_view>

namespace npuscope::chrome {

enum class EventKey : std::uint8_t {
  phase,
  name,
  category,
  time,
  duration,
  process,
  thread,
  arguments,
  id,
  id2,
  scope,
  binding,
  other,
};

// Sets of keys.
constexpr std::uint32_t bit_of(EventKey key) { return 1u << unsigned(key); }

// "bp" is often misspelt "pb".
inline EventKey event_key(std::string_view key) {
  switch (key.size()) {
    case 2:
      if (key == "ph") return EventKey::phase;
      if (key == "ts") return EventKey::time;
      if (key == "id") return EventKey::id;
      if (key == "bp" || key == "pb") return EventKey::binding;
      break;
    case 3:
      if (key == "cat") return EventKey::category;
      if (key == "dur") return EventKey::duration;
      if (key == "pid") return EventKey::process;
      if (key == "tid") return EventKey::thread;
      if (key == "id2") return EventKey::id2;
      break;
    case 4:
      if (key == "name") return EventKey::name;
      if (key == "args") return EventKey::arguments;
      break;
    case 5:
      if (key == "scope") return EventKey::scope;
      break;
    default: break;
  }
  return EventKey::other;
}

}  // namespace npuscope::chrome
