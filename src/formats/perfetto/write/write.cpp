#include "npuscope/formats/perfetto/write.hpp"
#include "base/try.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "formats/perfetto/about.hpp"
#include "formats/perfetto/fields.hpp"
#include "formats/perfetto/write/span_source.hpp"
#include "formats/perfetto/write/write_slices.hpp"
#include "npuscope/base/files.hpp"
#include "profile/own_traces.hpp"

namespace npuscope::perfetto {
namespace {

std::optional<std::uint32_t> clock_named(std::string_view name) {
  if (name == "realtime") return clock_id::realtime;
  if (name == "realtime coarse") return clock_id::realtime_coarse;
  if (name == "monotonic") return clock_id::monotonic;
  if (name == "monotonic coarse") return clock_id::monotonic_coarse;
  if (name == "monotonic raw") return clock_id::monotonic_raw;
  if (name == "boottime") return clock_id::boottime;
  return std::nullopt;
}

std::uint32_t base_clock_of(const Profile& profile) {
  const std::size_t base = index_of(profile.base_clock);
  if (base >= profile.clocks.size()) return clock_id::boottime;
  return clock_named(profile.text(profile.clocks[base].name)).value_or(clock_id::boottime);
}

bool has_boottime(const Profile& profile) {
  return std::ranges::any_of(profile.clocks, [&](const Clock& clock) {
    return clock_named(profile.text(clock.name)) == clock_id::boottime;
  });
}

SpanSource::Totals totals_in(const TraceContent& content) {
  return content.spans != nullptr ? content.spans->totals() : totals_of(*content.profile);
}

// Of what the profiles are, so that traces of different runs can be put together.
std::uint64_t seed_of(std::span<const TraceContent> contents) {
  std::string identity;
  for (const TraceContent& content : contents) {
    const Provenance& from = content.profile->provenance;
    const SpanSource::Totals totals = totals_in(content);
    identity +=
        fmt::format("{}\n{}\n{}\n{} {} {}\n", from.format, from.device, from.graph, totals.spans,
                    content.profile->ops.size(), content.profile->units.size());
    for (const std::string& file : from.files) identity += file + "\n";
    if (totals.spans > 0) {
      identity += fmt::format("{} {}\n", totals.first_start, totals.first_duration);
    }
  }
  return XXH3_64bits(identity.data(), identity.size());
}

std::string title_of(const Profile& profile, std::size_t number) {
  const Provenance& from = profile.provenance;
  std::string title = fmt::format("profile {}", number + 1);
  if (!from.graph.empty()) {
    title += ": " + from.graph;
  } else if (!from.files.empty()) {
    title += ": " + std::filesystem::path(from.files.front()).filename().string();
  }
  return title;
}

// The earliest time of anything in the profile, in nanoseconds.
std::int64_t earliest_in(const Profile& profile, const SpanSource::Totals& totals,
                         const TraceTime& time) {
  std::int64_t earliest = totals.earliest;
  for (const std::int64_t at : profile.counters.time) earliest = std::min(earliest, at);
  for (const Phase& phase : profile.phases) earliest = std::min(earliest, phase.start);
  return earliest == std::numeric_limits<std::int64_t>::max() ? 0 : time.scaled(earliest);
}

// Profiles whose times stand beside the first one's though no clock relates them.
std::uint64_t unrelated_to_first(std::span<const TraceContent> contents) {
  const auto name_of_clock = [](const Profile& profile) {
    const std::size_t base = index_of(profile.base_clock);
    return base < profile.clocks.size() ? clock_named(profile.text(profile.clocks[base].name))
                                        : std::nullopt;
  };
  std::uint64_t unrelated = 0;
  for (std::size_t i = 1; i < contents.size(); ++i) {
    const auto clock = name_of_clock(*contents[i].profile);
    if (!clock || clock != name_of_clock(*contents[0].profile)) ++unrelated;
  }
  return unrelated;
}

std::vector<TraceContent> contents_of(std::span<const Profile* const> profiles) {
  std::vector<TraceContent> contents;
  for (const Profile* profile : profiles) contents.push_back({profile});
  return contents;
}

class TraceWriter {
 public:
  TraceWriter(std::span<const TraceContent> contents, PacketSink::Write write,
              const WriteOptions& options)
      : contents_(contents),
        options_(options),
        sink_(std::move(write)),
        tracks_(sink_, seed_of(contents)) {}

  WriteReport write();

 private:
  void write_content(const TraceContent& content, std::size_t number);
  void write_spans(const Profile& profile, const SpanSource& spans, const TraceTime& time,
                   UnitTracks& units, std::size_t number);
  void write_clocks(const Profile& profile, const TraceTime& time, std::int64_t moment);
  void write_about(const Profile& profile, std::int64_t moved_ns);
  void write_counters(const Profile& profile, const TraceTime& time, UnitTracks& units,
                      SequenceWriter& sequence);
  void write_series(const CounterSeries& series, std::span<const std::uint32_t> samples,
                    const Profile& profile, const TraceTime& time, UnitTracks& units,
                    SequenceWriter& sequence);
  void count_losses(const Profile& profile, std::uint64_t spans, const TraceTime& time);

  std::span<const TraceContent> contents_;
  const WriteOptions& options_;
  PacketSink sink_;
  TrackWriter tracks_;
  UsedIds used_ids_;
  std::optional<SequenceWriter> sequence_;
  std::uint64_t next_flow_id_ = 1;
  WriteReport report_;
};

// What the clocks that Perfetto knows read at one moment.
void TraceWriter::write_clocks(const Profile& profile, const TraceTime& time, std::int64_t moment) {
  std::uint64_t not_known = 0;
  MessageBuffer snapshot;
  const auto add = [&](std::uint32_t clock, std::int64_t reading) {
    MessageBuffer part;
    part.add_varint(clock_field::id, clock);
    part.add_varint(clock_field::timestamp, std::uint64_t(reading));
    snapshot.add_message(snapshot_field::clocks, part);
  };
  const std::uint32_t base = base_clock_of(profile);
  add(base, moment);
  bool any = false;
  for (std::size_t i = 0; i < profile.clocks.size(); ++i) {
    if (i == index_of(profile.base_clock)) continue;
    const Clock& clock = profile.clocks[i];
    const auto id = clock_named(profile.text(clock.name));
    const bool held = id && *id != base && clock.offset_known && clock.rate.value == 1e9 &&
                      time.rate_is_known() && !time.rounds() && moment >= clock.offset;
    if (!held) ++not_known;
    if (held) add(*id, moment - clock.offset);
    any |= held;
  }
  report_.losses.add("clocks beside the trace's own", not_known);
  if (!any) return;
  if (base != clock_id::boottime) snapshot.add_varint(snapshot_field::primary_trace_clock, base);
  MessageBuffer packet;
  packet.add_message(packet_field::clock_snapshot, snapshot);
  sink_.add(packet);
}

// Beside the first tracks, so that a trace that was cut short has it too.
void TraceWriter::write_about(const Profile& profile, std::int64_t moved_ns) {
  MessageBuffer fact;
  fact.add_bytes(metadata_field::name, about_name);
  fact.add_bytes(metadata_field::text, about_text(profile, moved_ns));
  MessageBuffer bundle;
  bundle.add_message(bundle_field::metadata, fact);
  MessageBuffer packet;
  packet.add_message(packet_field::chrome_events, bundle);
  sink_.add(packet);
}

void TraceWriter::write_content(const TraceContent& content, std::size_t number) {
  const Profile& profile = *content.profile;
  const SpanSource::Totals totals = totals_in(content);
  TraceTime time(profile);
  const std::int64_t earliest = earliest_in(profile, totals, time);
  if (earliest < 0) {
    time.shift_by(-earliest);
    report_.losses.add(fmt::format("times before 0: all times are moved by {} ns", -earliest), 1);
  }
  write_clocks(profile, time, std::max<std::int64_t>(earliest, 0));
  std::uint64_t root = 0;
  if (contents_.size() > 1) {
    TrackToWrite track;
    track.name = title_of(profile, number);
    track.rank = std::int32_t(number);
    root = tracks_.add(track);
  }
  if (!sequence_) sequence_.emplace(sink_, base_clock_of(profile), !has_boottime(profile));
  sequence_->forget_texts();
  UnitTracks units(profile, tracks_, used_ids_, root);
  write_about(profile, earliest < 0 ? -earliest : 0);
  if (content.spans != nullptr) {
    write_spans(profile, *content.spans, time, units, number);
  } else {
    write_spans(profile, ProfileSpans(profile, time), time, units, number);
  }
  count_losses(profile, totals.spans, time);
}

void TraceWriter::write_spans(const Profile& profile, const SpanSource& spans,
                              const TraceTime& time, UnitTracks& units, std::size_t number) {
  SliceWriter slices(profile, spans, time, units, *sequence_, report_.losses, next_flow_id_);
  next_flow_id_ += spans.totals().flows;
  slices.write_phases();
  const std::size_t parts = profile.units.size() + 1;
  for (std::size_t unit = 0; unit < parts; ++unit) {
    slices.write_unit(unit + 1 < parts ? UnitId(unit) : UnitId::none);
    if (options_.progress) {
      options_.progress(number * parts + unit, contents_.size() * parts);
    }
  }
  write_counters(profile, time, units, *sequence_);
  spans.count_losses(report_.losses);
  slices.count_losses();
}

void TraceWriter::write_counters(const Profile& profile, const TraceTime& time, UnitTracks& units,
                                 SequenceWriter& sequence) {
  const Counters& counters = profile.counters;
  std::vector<std::vector<std::uint32_t>> samples(counters.series.size());
  std::uint64_t not_finite = 0;
  for (std::uint32_t i = 0; i < counters.size(); ++i) {
    if (counters.of[i] >= samples.size()) continue;
    if (std::isfinite(counters.value[i])) {
      samples[counters.of[i]].push_back(i);
    } else {
      ++not_finite;
    }
  }
  report_.losses.add("counter samples that are not finite", not_finite);
  for (std::size_t i = 0; i < counters.series.size(); ++i) {
    const auto by_time = [&](std::uint32_t a, std::uint32_t b) {
      return counters.time[a] < counters.time[b];
    };
    if (!std::is_sorted(samples[i].begin(), samples[i].end(), by_time)) {
      std::stable_sort(samples[i].begin(), samples[i].end(), by_time);
    }
    write_series(counters.series[i], samples[i], profile, time, units, sequence);
  }
}

void TraceWriter::write_series(const CounterSeries& series, std::span<const std::uint32_t> samples,
                               const Profile& profile, const TraceTime& time, UnitTracks& units,
                               SequenceWriter& sequence) {
  TrackToWrite track;
  track.name = profile.text(series.name);
  if (series.part != StringId{}) {
    if (!track.name.empty()) track.name += ": ";
    track.name += profile.text(series.part);
    report_.losses.add("counters of several values: one track for each", 1);
  }
  track.is_counter = true;
  track.quantity = profile.text(series.quantity);
  const std::uint64_t uuid = units.add_below(series.unit, track);
  if (samples.empty()) return;
  const Counters& counters = profile.counters;
  sequence.begin(uuid, time.of(counters.time[samples.front()]));
  for (const std::uint32_t sample : samples) {
    const double value = counters.value[sample];
    MessageBuffer& event = sequence.event();
    event.add_varint(event_field::type, std::uint32_t(EventType::counter));
    constexpr double exact = 9007199254740992.0;  // 2^53
    const bool negative_zero = value == 0 && std::signbit(value);
    if (value == std::floor(value) && std::abs(value) <= exact && !negative_zero) {
      event.add_varint(event_field::counter_value, std::uint64_t(std::int64_t(value)));
    } else {
      event.add_double(event_field::double_counter_value, value);
    }
    sequence.emit(time.of(counters.time[sample]));
  }
}

void TraceWriter::count_losses(const Profile& profile, std::uint64_t spans, const TraceTime& time) {
  Losses& losses = report_.losses;
  const auto negative = std::count_if(profile.spans.duration.begin(), profile.spans.duration.end(),
                                      [](std::int64_t each) { return each < 0; });
  losses.add("spans of negative duration: written as moments", std::uint64_t(negative));
  // Phases and samples stand on the same axis as the spans.
  const std::uint64_t times = spans + profile.counters.size() + profile.phases.size();
  if (times > 0) {
    if (!time.rate_is_known()) {
      losses.add("times whose clock has no known rate: one tick is written as one nanosecond",
                 times);
    } else if (time.rounds()) {
      losses.add("times between nanoseconds: rounded", times);
    }
  }
  std::uint64_t numbers = 0;
  for (const Measure& measure : profile.measures) {
    const bool held =
        measure.subject == Measure::Subject::span || measure.subject == Measure::Subject::phase;
    if (!held) ++numbers;
  }
  losses.add("numbers about the run, units and ops", numbers);
  losses.add("ops without a span", ops_without_span(profile));
  losses.add("dependencies between ops", profile.edges.size());
  losses.add("tensors", profile.tensors.size());
  losses.add("checks", profile.checks.size());
  losses.add("notes", profile.notes.size());
}

WriteReport TraceWriter::write() {
  for (std::size_t i = 0; i < contents_.size(); ++i) write_content(contents_[i], i);
  report_.losses.add(
      "profiles whose clock has no known relation to the first one's: their times "
      "stand side by side as they are",
      unrelated_to_first(contents_));
  sink_.flush();
  report_.bytes = sink_.bytes();
  report_.packets = sink_.packets();
  report_.tracks = tracks_.count();
  return report_;
}

}  // namespace

Result<WriteReport> write_trace(std::span<const TraceContent> contents,
                                const std::filesystem::path& path, const WriteOptions& options) {
  TRY_AS(file, AtomicFile::create(path));
  const WriteReport report = write_trace(
      contents, [&](std::string_view bytes) { file->write(bytes); }, options);
  TRY(file->commit());
  return report;
}

WriteReport write_trace(std::span<const TraceContent> contents,
                        const std::function<void(std::string_view)>& sink,
                        const WriteOptions& options) {
  return TraceWriter(contents, sink, options).write();
}

Result<WriteReport> write_trace(std::span<const Profile* const> profiles,
                                const std::filesystem::path& path, const WriteOptions& options) {
  const std::vector<TraceContent> contents = contents_of(profiles);
  return write_trace(contents, path, options);
}

WriteReport write_trace(std::span<const Profile* const> profiles,
                        const std::function<void(std::string_view)>& sink,
                        const WriteOptions& options) {
  const std::vector<TraceContent> contents = contents_of(profiles);
  return write_trace(contents, sink, options);
}

}  // namespace npuscope::perfetto
