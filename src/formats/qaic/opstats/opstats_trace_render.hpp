// Trace events as text. Runs for every event of traces of hundreds of megabytes: numbers are
// written without printf.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/qaic/opstats/opstats_trace.hpp"
#include "formats/qaic/opstats/opstats_trace_layout.hpp"

namespace npuscope::qaic {

// A part of the events of a file, in the style of qaic-opstats.
using TraceText = chrome::TraceEvents<device_style>;

class TraceRenderer {
 public:
  // `mark_inference` adds the arg "inference" to every slice, for files that hold several.
  TraceRenderer(const Profile& profile, const TraceLayout& layout, bool mark_inference);

  void metadata(TraceText& out, const TraceProcess& process) const;
  void metadata(TraceText& out, const TraceTrack& track) const;
  void counters(TraceText& out, const TraceProcess& process) const;
  // Events [begin, end) of the track with the flows that leave and arrive there. Thread-safe.
  void events(TraceText& out, const TraceTrack& track, std::size_t begin, std::size_t end) const;

 private:
  void slice(TraceText& out, const TraceTrack& track, const TraceEvent& event) const;
  void op_args(JsonWriter<TextOutput>& json, const TraceEvent& event, const Op& op) const;
  void rates(JsonWriter<TextOutput>& json, const TraceEvent& event, const Op& op) const;
  void flow_ends(TraceText& out, const TraceTrack& track, const TraceEvent& event) const;
  void flow_end(TraceText& out, const TraceTrack& track, const TraceFlow& flow, bool leaves,
                std::uint32_t number) const;
  std::string_view text(StringId id) const { return profile_.strings[id]; }
  std::uint32_t op_number(OpId id) const {
    return index_of(id) - first_op_of_core_[profile_.ops[index_of(id)].core];
  }

  const Profile& profile_;
  const TraceLayout& layout_;
  std::optional<std::int64_t> inference_;  // where it is marked
  std::vector<std::uint32_t> first_op_of_core_;
};

}  // namespace npuscope::qaic
