#include "formats/sigmastar/timeline.hpp"

#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/try.hpp"
#include "formats/chrome/trace_document.hpp"
#include "formats/sigmastar/layer_rows.hpp"

namespace npuscope::sigmastar {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr double max_microseconds = 1e15;  // 31 years; nanoseconds of it fit in 64 bits

// A (pid, tid) as the text has it, and what metadata calls it.
struct Track {
  std::string process_id, process_name, thread_name;
  std::optional<std::uint32_t> core;
};

struct Event {
  char phase = 0;
  bool is_layer = false;
  bool is_inference = false;
  std::string_view name;  // as it stands in the text, without quotes
  std::string process, thread;
  std::optional<double> start, duration, cycles;
  std::optional<std::uint64_t> index;
  TextPlace index_place;
  std::string title;  // args.name, of metadata
};

bool has_usable_times(const Event& event) {
  const auto usable = [](const std::optional<double>& time) {
    return time && std::abs(*time) <= max_microseconds;
  };
  return usable(event.start) && usable(event.duration) && *event.duration >= 0;
}

std::string_view inside_of(std::string_view token) {
  token = token.substr(0, token.find_last_not_of(" \t\r\n") + 1);
  if (token.size() >= 2 && token.front() == '"') return token.substr(1, token.size() - 2);
  return token;
}

class TimelineReader {
 public:
  TimelineReader(LayerTimeline& timeline, simdjson::padded_string_view text)
      : timeline_(timeline), text_(text) {}

  // Where and why the text is no JSON.
  simdjson::error_code read();
  bool has_events() const { return has_events_; }
  std::uint64_t offset() const { return offset_; }
  void finish();

 private:
  simdjson::error_code read_event(ondemand::value value);
  simdjson::error_code read_about(std::string_view key, ondemand::value value);
  simdjson::error_code read_member(std::string_view key, ondemand::value value, Event& event);
  simdjson::error_code read_argument(std::string_view key, ondemand::value value, Event& event);
  void take(const Event& event);
  void take_layer(const Event& event, std::uint32_t track);
  std::uint32_t track_of(const Event& event);
  void number_cores();
  TextPlace place_of(std::string_view part) const {
    return {std::uint64_t(part.data() - text_.data()), std::uint32_t(part.size())};
  }

  LayerTimeline& timeline_;
  simdjson::padded_string_view text_;
  bool has_events_ = false;
  std::uint64_t offset_ = 0, untimed_ = 0;
  std::vector<Track> tracks_;
  std::vector<std::uint32_t> track_of_layer_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> known_tracks_;
};

simdjson::error_code TimelineReader::read() {
  ondemand::parser parser;
  ondemand::document document;
  if (const auto error = parser.iterate(text_).get(document)) return error;
  const auto error = chrome::walk_trace(
      document, has_events_, [&](ondemand::value value) { return read_event(value); },
      [&](std::string_view key, ondemand::value value) { return read_about(key, value); });
  const char* where = nullptr;
  if (error && !document.current_location().get(where)) {
    offset_ = std::uint64_t(where - text_.data());
  }
  return error;
}

// What `npuscope ipu timeline` says of the logs.
simdjson::error_code TimelineReader::read_about(std::string_view key, ondemand::value value) {
  ondemand::json_type type;
  if (const auto error = value.type().get(type)) return error;
  if (key != "otherData" || type != ondemand::json_type::object) return simdjson::SUCCESS;
  return chrome::walk_members(value.get_object(), [&](std::string_view name, ondemand::value says) {
    bool truth = false;
    if (name == incomplete_key && !says.get_bool().get(truth)) timeline_.is_incomplete = truth;
    return simdjson::SUCCESS;
  });
}

simdjson::error_code TimelineReader::read_event(ondemand::value value) {
  ondemand::json_type type;
  if (const auto error = value.type().get(type)) return error;
  if (type != ondemand::json_type::object) return simdjson::SUCCESS;
  Event event;
  const auto error =
      chrome::walk_members(value.get_object(), [&](std::string_view key, ondemand::value member) {
        return read_member(key, member, event);
      });
  if (error) return error;
  take(event);
  return simdjson::SUCCESS;
}

simdjson::error_code TimelineReader::read_member(std::string_view key, ondemand::value value,
                                                 Event& event) {
  ondemand::json_type type;
  if (const auto error = value.type().get(type)) return error;
  if (key == "args" && type == ondemand::json_type::object) {
    return chrome::walk_members(value.get_object(),
                                [&](std::string_view name, ondemand::value argument) {
                                  return read_argument(name, argument, event);
                                });
  }
  if (type == ondemand::json_type::object || type == ondemand::json_type::array) {
    return simdjson::SUCCESS;
  }
  const std::string_view token = value.raw_json_token();
  if (key == "name") event.name = inside_of(token);
  if (key == "ph" && inside_of(token).size() == 1) event.phase = inside_of(token).front();
  if (key == "pid") event.process = inside_of(token);
  if (key == "tid") event.thread = inside_of(token);
  if (key == "ts") event.start = number_in(token);
  if (key == "dur") event.duration = number_in(token);
  return simdjson::SUCCESS;
}

simdjson::error_code TimelineReader::read_argument(std::string_view key, ondemand::value value,
                                                   Event& event) {
  ondemand::json_type type;
  if (const auto error = value.type().get(type)) return error;
  if (type == ondemand::json_type::object || type == ondemand::json_type::array) {
    return simdjson::SUCCESS;
  }
  const std::string_view token = value.raw_json_token();
  if (key == "name") event.title = inside_of(token);
  if (key == inference_key) event.is_inference = true;
  const LayerKey role = layer_key_named(key);
  event.is_layer = event.is_layer || tells_layer(role);
  if (role == LayerKey::total_cycle) event.cycles = number_in(token);
  if (role == LayerKey::index && !event.index) {
    event.index = whole_number_in(token);
    const std::string_view digits = inside_of(token);
    if (event.index) event.index_place = place_of(digits);
  }
  return simdjson::SUCCESS;
}

void TimelineReader::take(const Event& event) {
  if (event.phase == 'M') {
    Track& track = tracks_[track_of(event)];
    if (event.name == "thread_name") track.thread_name = event.title;
    if (event.name == "process_name") track.process_name = event.title;
  } else if (event.phase == 'X' && event.is_layer) {
    take_layer(event, track_of(event));
  } else if (event.phase == 'X' && event.is_inference && has_usable_times(event)) {
    const std::int64_t begin = std::llround(*event.start * 1e3);
    timeline_.inferences.push_back({begin, begin + std::llround(*event.duration * 1e3)});
  }
}

void TimelineReader::take_layer(const Event& event, std::uint32_t track) {
  if (!has_usable_times(event)) {
    ++untimed_;
    return;
  }
  LayerRun layer;
  layer.start = std::llround(*event.start * 1e3);
  layer.duration = std::llround(*event.duration * 1e3);
  if (event.cycles && *event.cycles >= 0) layer.cycles = *event.cycles;
  layer.name = event.name;
  layer.index = event.index;
  TextPlace in_name;
  if (event.name.data() != nullptr) in_name = {place_of(event.name).at, 0};
  const auto found = index_in(event.name);
  if (found && layer.index.value_or(found->index) == found->index) {
    in_name = {in_name.at + found->at, std::uint32_t(found->length)};
    layer.index = found->index;
  }
  timeline_.layers.push_back(std::move(layer));
  timeline_.name_places.push_back(in_name);
  timeline_.index_places.push_back(event.index_place);
  track_of_layer_.push_back(track);
}

std::uint32_t TimelineReader::track_of(const Event& event) {
  const auto [found, is_new] =
      known_tracks_.try_emplace({event.process, event.thread}, std::uint32_t(tracks_.size()));
  if (is_new) tracks_.push_back({event.process, {}, {}, {}});
  return found->second;
}

// What names call core 1 is core 1; other tracks are cores in the order of their first layers.
void TimelineReader::number_cores() {
  std::map<std::string, std::string> processes;
  for (const Track& track : tracks_) {
    if (!track.process_name.empty()) processes.try_emplace(track.process_id, track.process_name);
  }
  std::uint32_t unnamed = 0;
  std::vector<bool> seen;
  for (std::size_t i = 0; i < track_of_layer_.size(); ++i) {
    Track& track = tracks_[track_of_layer_[i]];
    if (!track.core) track.core = core_in(track.thread_name);
    const auto process = processes.find(track.process_id);
    if (!track.core && process != processes.end()) track.core = core_in(process->second);
    if (!track.core) track.core = core_in(track.process_id);
    if (!track.core) track.core = unnamed++;
    timeline_.layers[i].core = *track.core;
    if (*track.core >= seen.size()) seen.resize(*track.core + 1, false);
    seen[*track.core] = true;
  }
  timeline_.cores = std::uint32_t(std::count(seen.begin(), seen.end(), true));
}

void TimelineReader::finish() {
  number_cores();
  if (untimed_ == 0) return;
  timeline_.notes.push_back({Severity::warning, timeline_.file, 0,
                             "layers without a usable time (ts, dur), left out", untimed_});
}

}  // namespace

Result<LayerTimeline> read_layer_timeline(ByteSource& source, const TimelineLimits& limits) {
  TRY_AS(text, chrome::read_trace_text(source, limits.text_bytes));
  LayerTimeline timeline;
  timeline.file = source.name();
  timeline.text = std::move(*text);
  TimelineReader reader(timeline, chrome::padded(timeline.text));
  if (const auto error = reader.read()) {
    return input_error(
        "{}: no sound JSON near byte {} ({}); half a timeline gives wrong shares, so write or copy "
        "it again",
        source.name(), reader.offset(), simdjson::error_message(error));
  }
  if (!reader.has_events()) {
    return input_error(
        "{}: has no traceEvents; give the JSON that performance_timeline.py or npuscope ipu "
        "timeline wrote",
        source.name());
  }
  reader.finish();
  if (timeline.layers.empty()) {
    return input_error(
        "{}: no event has total_cycle, so it holds no layers; give the JSON that "
        "performance_timeline.py or npuscope ipu timeline wrote",
        source.name());
  }
  return timeline;
}

std::string renumbered(const LayerTimeline& timeline,
                       std::span<const std::optional<std::uint32_t>> index) {
  std::vector<chrome::TextChange> changes;
  for (std::size_t i = 0; i < std::min(index.size(), timeline.layers.size()); ++i) {
    if (!index[i]) continue;
    const std::string number = fmt::format("{}", *index[i]);
    const TextPlace& name = timeline.name_places[i];
    const TextPlace& argument = timeline.index_places[i];
    if (name.length > 0) changes.push_back({name.at, name.length, number});
    if (argument.length > 0) changes.push_back({argument.at, argument.length, number});
    const bool has_none = name.length == 0 && argument.length == 0;
    if (has_none && name.at > 0) changes.push_back({name.at, 0, number + " "});
  }
  std::string out;
  out.reserve(timeline.text.size() + changes.size() * 4);
  chrome::append_changed(out, timeline.text, std::move(changes));
  return out;
}

}  // namespace npuscope::sigmastar
