#include "formats/hailo/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "ingest/units.hpp"

namespace npuscope::hailo {
namespace {

using Times = std::vector<std::int64_t>;

constexpr std::int64_t nowhere = -1;

// Of a frame, in the order in which it passes them.
struct Frame {
  std::int64_t handed_in = 0, sent = 0, received = 0, fetched = 0;  // ns
};

// Of the n-th frame, the first of all streams.
Times first_of(const std::vector<Stream>& streams, Times Stream::*times) {
  Times first;
  for (const Stream& stream : streams) {
    const Times& its = stream.*times;
    if (&stream == &streams.front()) first = its;
    first.resize(std::min(first.size(), its.size()));
    for (std::size_t i = 0; i < first.size(); ++i) first[i] = std::min(first[i], its[i]);
  }
  return first;
}

class NetworkProfile {
 public:
  NetworkProfile(const Trace& trace, const Network& network, const std::string& file)
      : trace_(trace), network_(network), losses_(file) {
    Provenance& provenance = profile_.provenance;
    provenance.format = "HailoRT trace";
    provenance.version = trace.version;
    provenance.files = {file};
    provenance.graph = network.name;
    clock_ = profile_.add_clock("nanoseconds", ClockKind::wall, Hertz(1e9));
  }

  // False where no frame came back.
  bool run() {
    find_frames();
    if (frames_.empty()) return false;
    begin_ = frames_.front().handed_in;
    for (const Switch& each : network_.switches) begin_ = std::min(begin_, start_of(each));
    add_inferences();
    add_switches();
    add_numbers();
    profile_.provenance.inferences = std::uint32_t(frames_.size());
    return true;
  }

  // Of a network without a frame: " (frames that …: 12)".
  std::string why_none() const {
    if (losses_.notes().empty()) return "";
    const Note& note = losses_.notes().front();
    return fmt::format(" ({}: {})", note.message.substr(0, note.message.find(';')), note.count);
  }

  Profile take(const CountedNotes& of_file) {
    profile_.notes.push_back(
        {Severity::info, "", 0,
         "an inference is a frame, from the host's call until it has the answer; the trace says "
         "nothing of layers",
         1});
    if (!network_.settings.empty()) {
      std::string text;
      for (const auto& [name, value] : network_.settings) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value);
      }
      profile_.notes.push_back({Severity::info, "", 0, "scheduler: " + text, 1});
    }
    losses_.append_to(profile_.notes);
    of_file.append_to(profile_.notes);
    return std::move(profile_);
  }

 private:
  static std::int64_t start_of(const Switch& each) { return each.end_ns - each.duration_ns; }
  StringId intern(std::string_view text) { return profile_.strings.intern(text); }

  void find_frames() {
    Times handed_in = first_of(network_.inputs, &Stream::into_queue);
    const Times sent = first_of(network_.inputs, &Stream::out_of_queue);
    if (handed_in.empty()) handed_in = sent;
    const std::size_t count = std::min(handed_in.size(), sent.size());
    std::size_t lost = std::max(handed_in.size(), sent.size()) - count;
    const std::vector<std::uint32_t> devices =
        network_.inputs.empty() ? std::vector<std::uint32_t>{} : network_.inputs.front().devices;
    const Times received = last_by_device(sent, devices, count);
    const Times fetched = last_in_order(received);
    for (std::size_t i = 0; i < count; ++i) {
      const Frame frame{handed_in[i], sent[i], received[i], fetched[i]};
      if (frame.received == nowhere || frame.fetched == nowhere) {
        ++lost;
      } else if (frame.sent < frame.handed_in) {
        losses_.add(Severity::error, 0,
                    "frames that were sent before they were handed in; left out");
      } else {
        frames_.push_back(frame);
        device_of_.push_back(devices[i]);
      }
    }
    if (lost > 0) {
      losses_.add(Severity::warning, 0,
                  "frames that had not come back when the trace ended; left out", lost);
    }
    if (strays_ > 0) {
      losses_.add(Severity::error, 0,
                  "answers to frames that the trace has not; which frame others answer is doubtful",
                  strays_);
    }
  }

  // When the last output of each frame was there. A device answers its own frames in their order;
  // an answer before the frame was sent is one to a frame before the trace.
  Times last_by_device(const Times& sent, const std::vector<std::uint32_t>& devices,
                       std::size_t count) {
    std::vector<std::vector<std::uint32_t>> frames_of(trace_.devices.size());
    for (std::uint32_t i = 0; i < count; ++i) frames_of[devices[i]].push_back(i);
    Times last(count, nowhere);
    std::vector<std::uint32_t> outputs(count, 0);
    for (const Stream& stream : network_.outputs) {
      std::vector<std::size_t> next(frames_of.size(), 0);
      for (std::size_t j = 0; j < stream.into_queue.size(); ++j) {
        const auto& frames = frames_of[stream.devices[j]];
        std::size_t& at = next[stream.devices[j]];
        if (at == frames.size() || stream.into_queue[j] < sent[frames[at]]) {
          ++strays_;
          continue;
        }
        const std::uint32_t frame = frames[at++];
        ++outputs[frame];
        last[frame] = last[frame] == nowhere ? stream.into_queue[j]
                                             : std::max(last[frame], stream.into_queue[j]);
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (outputs[i] < network_.outputs.size()) last[i] = nowhere;
    }
    return last;
  }

  // The host fetches answers in the order of their frames; where it never says so, it has them at
  // once.
  Times last_in_order(const Times& received) {
    Times last(received.size(), nowhere);
    std::vector<std::uint32_t> outputs(received.size(), 0);
    bool any = false;
    for (const Stream& stream : network_.outputs) {
      std::size_t at = 0;
      for (const std::int64_t time : stream.out_of_queue) {
        any = true;
        while (at < received.size() && received[at] == nowhere) ++at;
        if (at == received.size() || time < received[at]) continue;
        ++outputs[at];
        last[at] = std::max(last[at], time);
        ++at;
      }
    }
    if (!any) return received;
    for (std::size_t i = 0; i < last.size(); ++i) {
      if (outputs[i] < network_.outputs.size()) last[i] = nowhere;
    }
    return last;
  }

  // Where the profile has an event of this time.
  std::int64_t tick(std::int64_t time_ns) const { return time_ns - begin_; }

  UnitId device_unit(std::uint32_t device) {
    device_units_.resize(trace_.devices.size(), UnitId::none);
    UnitId& unit = device_units_[device];
    if (unit != UnitId::none) return unit;
    const std::string& id = trace_.devices[device];
    const auto chip = trace_.chips.find(id);
    std::string& name = profile_.provenance.device;
    if (name.empty() && chip != trace_.chips.end()) name = chip->second;
    unit = add_unit(profile_,
                    {.device = device, .engine = Engine::device, .name = intern("device " + id)});
    return unit;
  }

  void add_span(UnitId unit, OpId op, SpanKind kind, std::int64_t begin, std::int64_t end,
                std::uint32_t instance) {
    profile_.spans.instance.push_back(instance);
    profile_.spans.add(unit, op, kind, tick(begin), end - begin);
  }

  void add_inferences() {
    const UnitId host = add_unit(profile_, {.engine = Engine::host, .name = intern(network_.name)});
    const StringId name = intern(network_.name);
    profile_.ops.push_back({.name = name, .node = name, .engine = Engine::device});
    const StringId parts[] = {intern("in the host's queue"), intern("on the device"),
                              intern("until it is fetched")};
    std::vector<std::int64_t> last_received(trace_.devices.size(), begin_);
    for (std::uint32_t i = 0; i < frames_.size(); ++i) {
      const Frame& frame = frames_[i];
      const std::int64_t at[] = {frame.handed_in, frame.sent, frame.received, frame.fetched};
      add_span(host, OpId::none, SpanKind::inference, at[0], at[3], i);
      const UnitId device = device_unit(device_of_[i]);
      for (std::size_t part = 0; part < std::size(parts); ++part) {
        const std::int64_t length = at[part + 1] - at[part];
        profile_.phases.push_back({parts[part], i, part == 1 ? device : host, tick(at[part]),
                                   length, double(length) * 1e-3, outermost_phase});
      }
      std::int64_t& free_from = last_received[device_of_[i]];
      const std::int64_t oldest_from = std::max(frame.sent, free_from);
      if (oldest_from < frame.received) {
        add_span(device, OpId(0), SpanKind::op, oldest_from, frame.received, i);
      }
      free_from = std::max(free_from, frame.received);
    }
  }

  // Of the inference that is sent next.
  void add_switches() {
    for (const Switch& each : network_.switches) {
      const auto next = std::ranges::lower_bound(frames_, each.end_ns, {}, &Frame::sent);
      const auto last = std::ptrdiff_t(frames_.size()) - 1;
      const auto instance = std::uint32_t(std::min(next - frames_.begin(), last));
      profile_.phases.push_back(
          {intern(each.is_to ? "switch to the network" : "switch away from the network"), instance,
           device_unit(each.device), tick(start_of(each)), each.duration_ns,
           double(each.duration_ns) * 1e-3, outermost_phase});
    }
  }

  void add_numbers() {
    const auto add = [&](const NamedNumber& number, double value, Origin origin) {
      profile_.add_measure(Measure::Subject::profile, 0, number.not_additive(), origin, ClockId{},
                           value);
    };
    const std::int64_t between = frames_.back().fetched - frames_.front().fetched;
    if (frames_.size() > 1 && between > 0) {
      add({"frames per second, from the first answer to the last", NumberQuantity::rate},
          double(frames_.size() - 1) / (double(between) * 1e-9), Origin::derived);
    }
    add({"switches to the network", NumberQuantity::count},
        double(std::ranges::count(network_.switches, true, &Switch::is_to)), Origin::measured);
    const struct {
      const char* why;
      std::uint64_t count;
    } decisions[] = {{"chosen at the threshold", network_.by_threshold},
                     {"chosen at the timeout", network_.by_timeout},
                     {"chosen because the device was idle", network_.by_idleness}};
    for (const auto& [why, count] : decisions) {
      if (count > 0) add({why, NumberQuantity::count}, double(count), Origin::measured);
    }
    if (network_.max_batch > 0) {
      add({"largest batch", NumberQuantity::count}, network_.max_batch, Origin::measured);
    }
  }

  const Trace& trace_;
  const Network& network_;
  CountedNotes losses_;
  Profile profile_;
  ClockId clock_{};
  std::vector<Frame> frames_;
  std::vector<std::uint32_t> device_of_;  // by frame, in Trace::devices
  std::vector<UnitId> device_units_;      // by device
  std::uint64_t strays_ = 0;              // answers to no frame
  std::int64_t begin_ = 0;
};

}  // namespace

Result<std::vector<Profile>> read_profiles(ByteSource& source) {
  constexpr std::uint64_t max_bytes = std::uint64_t{1} << 30;
  return read_all(source, max_bytes)
      .and_then([&](const std::string& bytes) -> Result<std::vector<Profile>> {
        CountedNotes losses(source.name());
        const Trace trace = read_trace(bytes, losses);
        std::vector<Profile> profiles;
        std::string why;
        for (const auto& [handle, network] : trace.networks) {
          NetworkProfile profile(trace, network, source.name());
          if (profile.run()) {
            profiles.push_back(profile.take(losses));
          } else if (why.empty()) {
            why = profile.why_none();
          }
        }
        if (!profiles.empty()) return profiles;
        return input_error(
            "{}: a trace of HailoRT in which no frame came back{}{}; let the program run some "
            "inferences and end by itself",
            source.name(), losses.notes().empty() ? "" : ", and broken before its end", why);
      });
}

}  // namespace npuscope::hailo
