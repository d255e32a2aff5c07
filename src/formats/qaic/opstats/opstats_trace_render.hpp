// Trace events as lines of JSON, each ending with ",\n". Runs for every event of traces of hundreds
// of megabytes: numbers are written without printf, and names that need no escaping are copied.
#pragma once

#include <string>
#include <vector>

#include "formats/qaic/opstats/opstats_trace_layout.hpp"

namespace npuscope::qaic {

// Appends to JSON text. Numbers are finite.
void append_integer(std::string& out, std::int64_t value);
void append_fixed6(std::string& out, double value);  // as printf("%f"), of values below 9e12
// Microseconds. Times end in a fifth of a nanosecond and durations are a fifth shorter than they
// are, so that neither cutting nor rounding them to nanoseconds, nor adding them up as doubles,
// makes neighbours overlap.
void append_time(std::string& out, std::int64_t nanoseconds);
void append_duration(std::string& out, std::int64_t nanoseconds);

class TraceRenderer {
 public:
  // `mark_inference` adds the arg "inference" to every slice, for files that hold several.
  TraceRenderer(const Profile& profile, const TraceLayout& layout, bool mark_inference);

  void metadata(std::string& out, const TraceProcess& process) const;
  void metadata(std::string& out, const TraceTrack& track) const;
  void counters(std::string& out, const TraceProcess& process) const;
  // Events [begin, end) of the track with the flows that leave and arrive there. Thread-safe.
  void events(std::string& out, const TraceTrack& track, std::size_t begin, std::size_t end) const;

 private:
  void slice(std::string& out, const TraceTrack& track, const TraceEvent& event) const;
  void op_args(std::string& out, const TraceEvent& event, const Op& op) const;
  void rates(std::string& out, const TraceEvent& event, const Op& op) const;
  void operands(std::string& out, const Op& op) const;
  void port_args(std::string& out, const Op& op) const;
  void flow_ends(std::string& out, const TraceTrack& track, const TraceEvent& event) const;
  void flow_end(std::string& out, const TraceTrack& track, const TraceFlow& flow, bool leaves,
                std::uint32_t number) const;
  void text(std::string& out, StringId id) const;
  std::uint32_t op_number(OpId id) const {
    return index_of(id) - first_op_of_core_[profile_.ops[index_of(id)].core];
  }

  const Profile& profile_;
  const TraceLayout& layout_;
  std::string inference_;  // the arg, or empty
  std::vector<std::uint32_t> first_op_of_core_;
  std::vector<bool> is_plain_;  // strings of the pool that need no escaping
};

}  // namespace npuscope::qaic
