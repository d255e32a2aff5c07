#include "formats/qaic/opstats/opstats_trace.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "base/parallel.hpp"
#include "base/sort_rows.hpp"
#include "base/try.hpp"
#include "formats/qaic/opstats/opstats_host_trace.hpp"
#include "formats/qaic/opstats/opstats_trace_layout.hpp"
#include "formats/qaic/opstats/opstats_trace_render.hpp"
#include "formats/qaic/stats/stats_decoder.hpp"
#include "npuscope/base/files.hpp"

namespace npuscope::qaic {
namespace {

constexpr std::size_t events_per_chunk = 1024;  // some 500 KB of text
constexpr std::size_t chunks_at_once = 16;      // bounds the text held in memory

// Parts of a file, of events that each begin a line.
class EventLines {
 public:
  explicit EventLines(AtomicFile& file) : file_(file) {}

  void begin(std::string_view head) { put(head); }
  void add(std::string_view lines, std::uint64_t events) {
    if (events == 0) return;
    if (report_.events > 0) put(",");
    report_.events += events;
    put(lines);
  }
  TraceReport finish() {
    put("\n]}\n");
    return report_;
  }

 private:
  void put(std::string_view text) {
    file_.write(text);
    report_.bytes += text.size();
  }

  AtomicFile& file_;
  TraceReport report_;
};

struct Chunk {
  const TraceTrack* track;
  std::size_t begin;
  std::size_t end;
};

std::vector<Chunk> chunks_of(const TraceLayout& layout) {
  std::vector<Chunk> chunks;
  for (const TraceTrack& track : layout.tracks()) {
    for (std::size_t begin = 0; begin < track.events.size(); begin += events_per_chunk) {
      chunks.push_back({&track, begin, std::min(begin + events_per_chunk, track.events.size())});
    }
  }
  return chunks;
}

void write_events(const TraceLayout& layout, const TraceRenderer& renderer, EventLines& lines) {
  const std::vector<Chunk> chunks = chunks_of(layout);
  std::vector<TextOutput> texts(std::min(chunks_at_once, chunks.size()));
  std::vector<std::uint64_t> counts(texts.size());
  for (std::size_t first = 0; first < chunks.size(); first += texts.size()) {
    const std::size_t count = std::min(texts.size(), chunks.size() - first);
    parallel_for(count, [&](std::size_t i) {
      const Chunk& chunk = chunks[first + i];
      texts[i].clear();
      TraceText text(texts[i]);
      renderer.events(text, *chunk.track, chunk.begin, chunk.end);
      counts[i] = text.count();
    });
    for (std::size_t i = 0; i < count; ++i) lines.add(texts[i].text(), counts[i]);
  }
}

std::int64_t begin_of(const Profile& profile) {
  for (std::size_t i = 0; i < profile.spans.size(); ++i) {
    const Unit& unit = profile.units[index_of(profile.spans.unit[i])];
    if (unit.engine == Engine::device && profile.spans.kind[i] == SpanKind::inference) {
      return profile.spans.start[i];
    }
  }
  return 0;
}

// Inferences of one core follow one another on its tracks.
std::vector<const Profile*> in_order_of_time(std::span<const Profile* const> profiles) {
  std::vector<std::pair<std::int64_t, const Profile*>> timed;
  for (const Profile* profile : profiles) timed.emplace_back(begin_of(*profile), profile);
  sort_rows(timed.begin(), timed.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<const Profile*> ordered;
  for (const auto& [begin, profile] : timed) ordered.push_back(profile);
  return ordered;
}

class TraceWriter {
 public:
  TraceWriter(std::span<const Profile* const> profiles, const TraceOptions& options,
              AtomicFile& file)
      : profiles_(in_order_of_time(profiles)),
        options_(options),
        layout_(profiles, options),
        lines_(file) {}

  TraceReport run() {
    const double host_offset = align();
    lines_.begin(head());
    for (const Profile* profile : profiles_) write(*profile);
    if (options_.host_trace != nullptr) write_host(host_offset);
    TraceReport report = lines_.finish();
    report.flows_not_drawn = layout_.flows_not_drawn();
    return report;
  }

 private:
  std::string head() const {
    std::string text;
    JsonWriter json(text, JsonLayout::wide());
    json.begin_object();
    json.member("displayTimeUnit", "ns");
    json.key("otherData");
    json.object([&] {
      json.member("producer", "npuscope");
      json.member("utimer_ticks_at_zero", fmt::to_string(layout_.origin_ticks()));
      if (layout_.merged_threads().empty()) return;
      json.key("merged_threads");
      json.object([&] {
        for (const auto& [group, threads] : layout_.merged_threads()) {
          json.member(group, fmt::to_string(threads));
        }
      });
    });
    json.key("traceEvents");
    json.begin_array();
    return text;
  }

  double align();
  void write(const Profile& profile);
  void write_host(double offset_microseconds);

  std::vector<const Profile*> profiles_;
  const TraceOptions& options_;
  TraceLayout layout_;
  EventLines lines_;
  std::set<std::uint32_t> named_processes_;
  std::size_t named_tracks_ = 0;
};

// Puts nanosecond 0 where both fit and neither begins before it, and returns what to add to the
// host's times: whole microseconds, so that the host's digits stay as they are, and so many that
// nanosecond 0 is a whole tick too, which the head of the file names.
double TraceWriter::align() {
  if (options_.host_trace == nullptr) return 0;
  const HostTrace& host = *options_.host_trace;
  layout_.first_flow_id(host.largest_flow_id + 1);
  if (!host.utimer_ticks_at_zero) return -std::floor(host.first_microseconds);
  const std::int64_t step = 1000 / std::gcd<std::int64_t>(1000, layout_.kilohertz());
  const double device_leads = double(*host.utimer_ticks_at_zero - layout_.origin_ticks()) /
                              double(layout_.kilohertz()) * 1000;
  const double min = std::max(-host.first_microseconds, device_leads);
  const std::int64_t steps = std::int64_t(std::ceil(min / double(step)));
  layout_.begin_at(*host.utimer_ticks_at_zero - steps * (step * layout_.kilohertz() / 1000));
  return double(steps * step);
}

void TraceWriter::write(const Profile& profile) {
  layout_.lay_out(profile);
  const TraceRenderer renderer(profile, layout_, profiles_.size() > 1);
  TextOutput lines;
  TraceText text(lines);
  const std::vector<TraceTrack>& tracks = layout_.tracks();
  for (; named_tracks_ < tracks.size(); ++named_tracks_) {
    const TraceTrack& track = tracks[named_tracks_];
    if (named_processes_.insert(track.process).second) {
      renderer.metadata(text, layout_.processes()[track.process]);
    }
    renderer.metadata(text, track);
  }
  for (const TraceProcess& process : layout_.processes()) renderer.counters(text, process);
  lines_.add(lines.text(), text.count());
  write_events(layout_, renderer, lines_);
}

// Host processes whose number a device process has get a number that nobody has.
void TraceWriter::write_host(double offset_microseconds) {
  std::set<std::int64_t> device_pids, taken;
  for (const TraceProcess& process : layout_.processes()) device_pids.insert(process.pid);
  taken = device_pids;
  for (const HostEvent& event : options_.host_trace->events) {
    if (event.pid_length > 0) taken.insert(event.pid);
  }
  std::map<std::int64_t, std::int64_t> renumbered;
  std::int64_t next = 1;
  std::string line;
  for (const HostEvent& event : options_.host_trace->events) {
    std::int64_t pid = event.pid;
    if (device_pids.contains(pid)) {
      const auto [found, is_new] = renumbered.try_emplace(pid, 0);
      if (is_new) {
        while (taken.contains(next)) ++next;
        taken.insert(next);
        found->second = next;
      }
      pid = found->second;
    }
    line.clear();
    append_host_event(line, event, offset_microseconds, pid);
    lines_.add(line, 1);
  }
}

Status check_selection(std::span<const Profile* const> profiles, const TraceOptions& options) {
  for (const Profile* profile : profiles) {
    for (const Unit& unit : profile->units) {
      const auto in = [](const std::vector<std::uint32_t>& list, std::uint32_t number) {
        return list.empty() || std::find(list.begin(), list.end(), number) != list.end();
      };
      if (unit.engine == Engine::core && in(options.devices, unit.device) &&
          in(options.cores, unit.core)) {
        return {};
      }
    }
  }
  return usage_error(
      "no core of {} is left to trace: cores {} of devices {} are selected; choose "
      "others with --select-cores and --select-devices",
      profiles.size() == 1 ? "the network" : "the networks",
      options.cores.empty() ? "all" : fmt::format("{}", fmt::join(options.cores, ",")),
      options.devices.empty() ? "all" : fmt::format("{}", fmt::join(options.devices, ",")));
}

// One scale serves all, and the host's time must lie where doubles still tell nanoseconds apart.
Status check_times(std::span<const Profile* const> profiles, const TraceOptions& options) {
  constexpr std::int64_t max_seconds_apart = 1'000'000'000;  // 31 years
  const std::int64_t kilohertz = timer_kilohertz(*profiles.front());
  for (const Profile* profile : profiles) {
    if (timer_kilohertz(*profile) == kilohertz) continue;
    return input_error(
        "timers of {} and {} kHz cannot share a trace; write one for each device "
        "(--merge-mq-traces=false)",
        kilohertz, timer_kilohertz(*profile));
  }
  if (options.host_trace == nullptr || !options.host_trace->utimer_ticks_at_zero) return {};
  const std::int64_t origin = TraceLayout(profiles, options).origin_ticks();
  const std::int64_t zero = *options.host_trace->utimer_ticks_at_zero;
  if (std::abs(zero - origin) / (kilohertz * 1000) < max_seconds_apart) return {};
  return input_error(
      "the host trace's utimer_ticks_at_zero is tick {} but the device begins at tick {}, over 31 "
      "years apart; leave it out to align by the first event",
      zero, origin);
}

}  // namespace

Result<TraceReport> write_opstats_trace(std::span<const Profile* const> profiles,
                                        const TraceOptions& options,
                                        const std::filesystem::path& path) {
  TRY(check_selection(profiles, options));
  TRY(check_times(profiles, options));
  TRY_AS(file, AtomicFile::create(path));
  const TraceReport report = TraceWriter(profiles, options, *file).run();
  TRY(file->commit());
  return report;
}

}  // namespace npuscope::qaic
