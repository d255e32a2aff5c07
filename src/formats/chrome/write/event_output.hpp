// The text of a trace as it grows: events on lines of their own, and the members that all of them
// have.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/chrome/write/nanoseconds.hpp"
#include "formats/chrome/write/write_tracks.hpp"
#include "profile/text_output.hpp"

namespace npuscope::chrome {

class EventOutput {
 public:
  EventOutput(const Profile& profile, const std::function<void(std::string_view)>& sink)
      : nanoseconds_(profile), strings_(profile.strings), out_(sink) {}

  // The tracks that add_place() is asked for; they are all known before the first event.
  void use_places(const std::vector<Track>& tracks);

  void begin_event() {
    out_.add(any_event_ ? std::string_view(",\n") : std::string_view("\n"));
    any_event_ = true;
  }
  void add(std::string_view text) { out_.add(text); }
  void add(char c) { out_.add(c); }
  template <class Number>
  void add_number(Number value) {
    out_.add_number(value);
  }
  // A string in quotes; its inside; a text that is not interned, in quotes.
  void add_string(StringId id) {
    out_.add('"');
    strings_.add(out_, id);
    out_.add('"');
  }
  void add_inside(StringId id) { strings_.add(out_, id); }
  void add_text(std::string_view text);
  // ,"pid":1,"tid":2
  void add_place(std::uint32_t track) { out_.add(places_[track]); }
  void add_time(std::int64_t ticks) { out_.add_microseconds(nanoseconds_.of(ticks)); }
  void add_nanoseconds(std::int64_t nanoseconds) { out_.add_microseconds(nanoseconds); }
  // ,"ts":…,"dur":… so that what touches in ticks still touches.
  void add_interval(std::int64_t start, std::int64_t end);
  void flush() { out_.flush(); }

  const Nanoseconds& nanoseconds() const { return nanoseconds_; }

 private:
  Nanoseconds nanoseconds_;
  JsonStrings strings_;
  TextOutput out_;
  std::vector<std::string> places_;
  std::string scratch_;
  bool any_event_ = false;
};

}  // namespace npuscope::chrome
