#include "formats/chrome/write/event_output.hpp"

namespace npuscope::chrome {

void EventOutput::use_places(const std::vector<Track>& tracks) {
  for (const Track& track : tracks) {
    places_.push_back(",\"pid\":" + track.process +
                      (track.thread.empty() ? "" : ",\"tid\":" + track.thread));
  }
  if (places_.empty()) places_.push_back(",\"pid\":1");
}

void EventOutput::add_text(std::string_view text) {
  scratch_ = "\"";
  append_json_escaped(scratch_, text);
  scratch_ += '"';
  out_.add(scratch_);
}

void EventOutput::add_interval(std::int64_t start, std::int64_t end) {
  const std::int64_t from = nanoseconds_.of(start);
  out_.add(",\"ts\":");
  out_.add_microseconds(from);
  out_.add(",\"dur\":");
  out_.add_microseconds(saturating_subtract(nanoseconds_.of(end), from));
}

}  // namespace npuscope::chrome
