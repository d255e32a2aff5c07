// Where the slices of a trace lie: processes, tracks, and events in nanoseconds on them, such that
// no two slices of a track overlap. Rendering them as JSON is opstats_trace_render.hpp's.
//
// Clock ticks become whole nanoseconds by rounding begin and end down, each for itself, so that
// slices that touch in ticks touch in nanoseconds. A kernel or transfer of no length is given one.
#pragma once

#include <cstdint>
#include <map>
#include <queue>
#include <string>
#include <vector>

#include "formats/qaic/opstats/opstats_trace.hpp"
#include "npuscope/profile/intervals.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::qaic {

// Of the profile's times.
std::int64_t timer_kilohertz(const Profile& profile);

struct TraceEvent {
  enum class Type : std::uint8_t { op, sync, barrier, transfer, execution };
  Type type = Type::op;
  bool flows_out = false;  // arrows to consumers leave from here
  bool flows_in = false;   // arrows from producers arrive here
  OpId op = OpId::none;
  std::int64_t start = 0;     // nanoseconds
  std::int64_t duration = 0;  // nanoseconds
  std::int64_t ucycles = 0;   // ticks as recorded
  std::int64_t pcycles = -1;  // -1: not measured
};

struct TraceCounter {
  std::int64_t time = 0;  // nanoseconds
  double megahertz = 0;
};

// A hardware counter of a core: running totals.
struct TraceSeries {
  std::string name;                                      // "pmu TASKS", "ddr read bytes"
  std::string part;                                      // "count", "bytes"
  std::vector<std::pair<std::int64_t, double>> samples;  // nanoseconds, value
};

struct TraceTrack {
  std::uint32_t process = 0;
  std::uint32_t tid = 0;
  std::uint32_t sort_index = 0;
  std::string name;
  std::string group;               // HVX, HMX, DMAIssue; empty for the core's own
  std::int64_t end = 0;            // from when on a slice may begin
  std::vector<TraceEvent> events;  // of the profile laid out last
};

struct TraceProcess {
  std::uint32_t device = 0;
  std::uint32_t activation = 0;
  std::uint32_t core = 0;
  std::uint32_t pid = 0;
  std::string name;
  std::vector<TraceCounter> counters;  // of the profile laid out last
  std::vector<TraceSeries> series;     // as counters
};

// An edge that is drawn: from the begin of the producer's slice to that of the consumer's.
struct TraceFlow {
  std::uint64_t id = 0;  // unique in the file
  bool is_data = false;
  std::int64_t leave = 0;  // nanoseconds
  std::int64_t arrive = 0;
};

// The flows of a profile by op: those of op i are edges[begin[i], begin[i + 1]).
struct FlowsOfOps {
  std::vector<std::uint32_t> begin;
  std::vector<std::uint32_t> edges;
};

// Takes intervals that may overlap apart into the fewest lanes on which they do not.
class Lanes {
 public:
  std::size_t acquire(std::int64_t start, std::int64_t end);

 private:
  using BusyLane = std::pair<std::int64_t, std::size_t>;  // until when, which
  std::priority_queue<BusyLane, std::vector<BusyLane>, std::greater<>> busy_;
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> free_;
  std::size_t count_ = 0;
};

class TraceLayout {
 public:
  TraceLayout(std::span<const Profile* const> profiles, const TraceOptions& options);

  // Replaces the events of all tracks by those of `profile`, later than those laid out before.
  void lay_out(const Profile& profile);
  // Makes an earlier tick nanosecond 0 than the first of the profiles.
  void begin_at(std::int64_t ticks) { origin_ = ticks; }
  void first_flow_id(std::uint64_t id) { next_flow_id_ = id; }

  bool is_selected(const Profile& profile, std::uint32_t core) const;
  const std::vector<TraceProcess>& processes() const { return processes_; }
  const std::vector<TraceTrack>& tracks() const { return tracks_; }
  const std::vector<TraceFlow>& flows() const { return flows_; }
  const FlowsOfOps& flows_out() const { return flows_out_; }
  const FlowsOfOps& flows_in() const { return flows_in_; }
  std::uint64_t flows_not_drawn() const { return flows_not_drawn_; }
  std::int64_t origin_ticks() const { return origin_; }  // at nanosecond 0
  // How many threads share a track, by group; those of one thread are left out.
  const std::map<std::string, std::uint32_t>& merged_threads() const { return merged_threads_; }
  std::int64_t kilohertz() const { return kilohertz_; }
  double tick_nanoseconds() const { return 1e6 / double(kilohertz_); }

 private:
  // What one thread recorded of one op. Absent waits and transfers are -1.
  struct Record {
    OpId op = OpId::none;
    UnitId unit = UnitId::none;
    std::int64_t start = 0;
    std::int64_t kernel = 0;
    std::int64_t cycles = 0;
    std::int64_t sync = -1;
    std::int64_t barrier = -1;
    std::int64_t transfer = -1;
    std::int64_t end = 0;  // start + kernel; of a merged group, of its last thread
  };
  // One row of tracks: the threads of a group merged, or one thread.
  struct Queue {
    std::uint32_t process = 0;
    std::uint32_t first_lane = 0;  // thread number, for the order of tracks
    std::string name;              // of its track
    std::string group;
    std::vector<Record> records;
  };

  std::int64_t nanoseconds(std::int64_t ticks) const;
  std::uint32_t process_of(const Profile& profile, std::uint32_t core) const;
  std::uint32_t track(std::uint32_t process, std::string name, const std::string& group,
                      std::uint32_t sort_index);
  void add_execution(const Profile& profile);
  std::vector<Queue> collect(const Profile& profile) const;
  static void merge(Queue& queue);
  static void merge_waits(Queue& queue);
  void place(const Queue& queue);
  void place_transfer(const Queue& queue, const Record& record);
  TraceEvent& add(std::uint32_t track, TraceEvent::Type type, const Record& record, Interval time);
  void add_counters(const std::vector<Queue>& queues);
  void add_series(const Profile& profile);
  void mark_anchors(const Profile& profile);
  void add_flows(const Profile& profile);

  const TraceOptions& options_;
  std::vector<TraceProcess> processes_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> process_index_;
  std::vector<TraceTrack> tracks_;
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> track_index_;
  std::map<std::pair<std::uint32_t, std::string>, Lanes> lanes_;
  std::map<std::string, std::uint32_t> merged_threads_;
  std::vector<TraceFlow> flows_;
  FlowsOfOps flows_out_;
  FlowsOfOps flows_in_;
  std::int64_t origin_ = 0;
  std::int64_t kilohertz_ = 19200;
  std::uint64_t next_flow_id_ = 1;
  std::uint64_t flows_not_drawn_ = 0;
};

}  // namespace npuscope::qaic
