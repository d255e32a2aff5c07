// The events of XSpaces' lines in the columns of a trace's events, plane by plane.
//
//   Collector collector;
//   collector.begin_host({"worker-0", 0, shift_ps});
//   collector.add(plane, losses);
//   collector.finish();
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/parallel.hpp"
#include "formats/chrome/events.hpp"
#include "formats/chrome/numbering.hpp"
#include "formats/xplane/hlo.hpp"
#include "formats/xplane/plane.hpp"
#include "npuscope/profile/arguments.hpp"
#include "profile/counted_notes.hpp"

namespace npuscope::xplane {

// The stats that the last event of a name had, as bytes and as the arguments that they became. Most
// of the next one's are the same bytes, up to a number that counts on: they are compared, not read.
//
//   const std::size_t same = known.take(reader.rest(), event);    // from the first stat's length
//   on known.add(bytes, event);                                      // of a stat that was read,
//   its end

// Of the event that is being read.
struct EventStats {
  StringId module{};
  std::optional<std::uint64_t> program;
  std::vector<ArgumentKey> keys;
  std::vector<std::uint64_t> values;

  void clear() {
    module = StringId::empty;
    program.reset();
    keys.clear();
    values.clear();
  }
};

class KnownStats {
 public:
  // How many bytes are those of whole stats as before; what they say is the event's.
  std::size_t take(std::string_view stats, EventStats& event) {
    const std::size_t alike = bytes_alike(stats, bytes_);
    bytes_ = stats;
    while (!ends_.empty() && ends_.back().bytes > alike) ends_.pop_back();
    const End end = ends_.empty() ? End{} : ends_.back();
    keys_.resize(end.arguments);
    values_.resize(end.arguments);
    event.module = end.module;
    event.program = end.program;
    event.keys = keys_;
    event.values = values_;
    return end.bytes;
  }

  // Of the stats that take() was given, so many bytes have been read into the event.
  void add(std::size_t bytes, const EventStats& event) {
    keys_.insert(keys_.end(), event.keys.begin() + std::ptrdiff_t(keys_.size()), event.keys.end());
    values_.insert(values_.end(), event.values.begin() + std::ptrdiff_t(values_.size()),
                   event.values.end());
    ends_.push_back(
        {std::uint32_t(bytes), std::uint32_t(keys_.size()), event.module, event.program});
  }

 private:
  struct End {  // of a stat
    std::uint32_t bytes = 0, arguments = 0;
    StringId module{};
    std::optional<std::uint64_t> program;
  };

  static std::size_t bytes_alike(std::string_view a, std::string_view b) {
    const std::size_t size = std::min(a.size(), b.size());
    std::size_t at = 0;
    for (std::uint64_t of_a = 0, of_b = 0; at + sizeof of_a <= size; at += sizeof of_a) {
      std::memcpy(&of_a, a.data() + at, sizeof of_a);
      std::memcpy(&of_b, b.data() + at, sizeof of_b);
      if (of_a != of_b) return at + std::size_t(std::countr_zero(of_a ^ of_b)) / 8;
    }
    while (at < size && a[at] == b[at]) ++at;
    return at;
  }

  std::string_view bytes_;  // in the file
  std::vector<End> ends_;
  std::vector<ArgumentKey> keys_;
  std::vector<std::uint64_t> values_;
};

struct HostPlace {
  std::string name;           // empty: the only one
  std::uint32_t number = 0;   // among the run's
  std::int64_t shift_ns = 0;  // of its times
};

// An event that sums up others and has no time of its own.
struct Aggregate {
  StringId module{}, name{};
  std::uint64_t occurrences = 0;
  std::int64_t duration_ps = 0;
};

// A slice of a call of a device's runtime, or of what it launched, by the number that they share.
struct Correlated {
  std::uint32_t host = 0;
  std::uint64_t number = 0;
  std::uint32_t row = 0;
};

class Collector {
 public:
  void begin_host(HostPlace host) {
    host_ = std::move(host);
    planes_ = 0;
  }
  void add(const Plane& plane, CountedNotes& losses);
  void finish();  // after the last plane

  chrome::Events events;
  HloFacts facts{events.strings};
  std::vector<Aggregate> aggregates;
  std::vector<RowRange> derived;  // slices of lines that say again what others did
  // Of HLO ops, in the order of the first of each: "jit_net(12)", without the number where events
  // lack it.
  std::vector<StringId> modules;
  std::vector<Correlated> launches, launched;

 private:
  enum class Use : std::uint8_t { unknown, dropped, kept, module, program, correlation };
  struct StatUse {
    Use use = Use::unknown;
    StringId name{};
  };
  struct EventNames {
    StringId label{}, module{}, type{};
    bool is_known = false;
    bool has_facts = false;  // of the last module
    StringId last_module{};
    std::uint32_t last_shape = 0;
    static constexpr std::uint32_t no_stats = ~std::uint32_t{0};
    std::uint32_t known_stats = no_stats;  // in known_stats_
  };
  struct Line;

  void add_line(const Plane& plane, std::string_view bytes, CountedNotes& losses);
  bool add_event(const Plane& plane, const Line& line, std::string_view bytes,
                 CountedNotes& losses);
  EventNames& names_of(const Plane& plane, std::uint32_t place, CountedNotes& losses);
  StatUse use_of(const Plane& plane, std::int64_t stat) {
    const std::uint32_t place = plane.stat_places.of(stat);
    if (place == Places::none) return {Use::dropped, {}};
    const StatUse known = stat_uses_[place];
    return known.use != Use::unknown ? known : learn_use(plane, place);
  }
  StatUse learn_use(const Plane& plane, std::uint32_t place);
  KnownStats* known_stats_of(std::uint32_t place);
  bool take_stat(const Plane& plane, std::string_view bytes);
  StringId module_of_event(const EventNames& names);
  void add_facts(const Plane& plane, std::uint32_t place, StringId module, EventNames& names);
  void reserve(std::size_t bytes);
  void close_rows();

  HostPlace host_;
  chrome::ShapeTable shapes_;
  std::vector<StatUse> stat_uses_;       // of the plane, by place
  std::vector<EventNames> event_names_;  // of the plane, by place
  EventNames unnamed_;
  std::vector<KnownStats> known_stats_;  // of the plane, of names that come again
  // Of the event that is being read.
  EventStats event_;
  std::uint64_t correlation_ = 0;
  bool has_correlation_ = false;
  std::vector<std::uint64_t> values_;  // of those before it that are not in a block yet
  std::vector<ArgumentPlace> places_;
  // By module and number; the last one is mostly that of the next event.
  std::map<std::pair<StringId, std::uint64_t>, StringId> module_names_;
  std::pair<StringId, std::uint64_t> last_module_{};
  StringId last_module_name_{};
  std::uint32_t planes_ = 0;
  std::uint64_t bytes_left_out_ = 0;
};

}  // namespace npuscope::xplane
