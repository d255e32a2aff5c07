// Begins and ends become spans. While a track's events come in the order of time, an end closes the
// innermost open slice that it can mean at once: one with a name that of this name, one with a
// category that of this category. What is open inside a slice that ended so may still end at the
// same moment, and else ends with it. When an event comes late (a track that several threads
// write), the track's events from then on are kept, and in the end all of it is sorted by time and
// paired anew; what is nested in itself pairs the same again, so the spans already made tell its
// order.
//
// While reading, Spans::unit holds track numbers and a duration of -1 means open.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "formats/perfetto/read/annotations.hpp"
#include "formats/perfetto/read/tracks.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::perfetto {

// A slice that was not paired by begin and end; becomes SpanKind::slice in finish().
inline constexpr SpanKind whole_slice = SpanKind(0xFF);

struct NewSpan {
  std::uint32_t track = 0;
  OpId op{};
  std::int64_t time = 0;                    // ns of trace time
  const ArgumentList* arguments = nullptr;  // none: it has none
  std::uint64_t offset = 0;                 // of the packet, for notes
};

struct AsyncKey {
  std::uint64_t id = 0;
  StringId scope{};        // or category
  StringId name{};         // of the old forms S and F
  std::uint32_t kind = 0;  // LegacyEvent::IdKind
  std::int32_t pid = 0;    // of a local id
  auto operator<=>(const AsyncKey&) const = default;
};

class Slices {
 public:
  Slices(Profile& profile, Tracks& tracks, Defects& defects)
      : spans_(&profile.spans),
        ops_(&profile.ops),
        arguments_(profile.spans.arguments),
        tracks_(&tracks),
        defects_(&defects) {}

  std::uint32_t begin(const NewSpan& span);
  // The row that ended, or the place in `deferred` that finish() will fill; none of both when no
  // slice was open.
  struct Ended {
    std::uint32_t row = none;
    std::uint32_t deferred = none;
  };
  Ended end(std::uint32_t track, std::int64_t time, const EndOf& of, const ArgumentList& more,
            std::uint64_t offset);
  std::uint32_t whole(const NewSpan& span, std::int64_t duration);
  std::uint32_t instant(const NewSpan& span);
  // Ends the state that the track is in; an empty op begins no other.
  std::uint32_t state(const NewSpan& span, bool begins);
  std::uint32_t async_begin(const NewSpan& span, const AsyncKey& key);
  std::uint32_t async_end(const AsyncKey& key, std::int64_t time, const ArgumentList& more,
                          std::uint64_t offset);

  std::size_t rows() const { return spans_->unit.size(); }
  std::uint32_t deferred_row(std::uint32_t deferred) const { return deferred_[deferred].row; }

  // Pairs what came late and closes what is still open at `last_time`.
  void finish(std::int64_t last_time);

 private:
  struct Deferred {                  // an end that is not matched yet
    std::uint32_t arguments = none;  // kept by the table
    std::uint32_t row = none;
  };
  std::uint32_t add_row(const NewSpan& span, SpanKind kind, std::int64_t duration);
  Ended late_end(Track& track, std::int64_t time, const EndOf& of, const ArgumentList& more);
  void close(std::uint32_t row, std::int64_t time, std::uint64_t offset = LossTally::nowhere);
  bool is_meant(const EndOf& of, std::uint32_t row) const;
  std::uint32_t take_begin(Track& track, const EndOf& of);
  void leave_ended(Track& track, std::int64_t time);
  void become_late(Track& track);
  void pair_late_tracks();
  void pair_late(Track& track, std::span<const std::uint32_t> early_rows);
  void append_early(Track& track, std::span<const std::uint32_t> rows,
                    std::vector<LateEvents::Event>& events) const;

  Spans* spans_;
  const std::vector<Op>* ops_;
  ArgumentTable arguments_;
  Tracks* tracks_;
  Defects* defects_;
  std::vector<Deferred> deferred_;
  std::map<AsyncKey, std::vector<std::uint32_t>> async_;
};

}  // namespace npuscope::perfetto
