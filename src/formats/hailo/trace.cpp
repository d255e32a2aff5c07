#include "formats/hailo/trace.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "base/field_reader.hpp"
#include "base/text.hpp"

namespace npuscope::hailo {
namespace {

// Fields of ProtoProfiler, ProtoProfilerTopHeader and ProtoTraceMessage.
constexpr std::uint32_t header_field = 1, event_field = 2, header_date = 2, header_version = 3;
enum class What : std::uint8_t {
  setting = 1,
  stream,
  network,
  device,
  activate,
  enqueue,
  dequeue,
  decision,
  deactivate,
  program,
};

// All events have their time first; of the others each kind has some, by these numbers.
struct Event {
  std::int64_t time_ns = 0;
  std::int32_t handle = 0;
  std::string_view text[6];      // by field
  std::uint64_t number[7] = {};  // by field
  double duration_ms = 0;
  bool has[7] = {};

  explicit Event(std::string_view bytes) {
    FieldReader reader(bytes);
    while (reader.next()) {
      const std::uint32_t field = reader.tag();
      const auto wire = reader.wire_type();
      if (field >= std::size(has) || field == 0) {
        reader.skip();
      } else if (wire == protozero::pbf_wire_type::varint) {
        number[field] = reader.get_uint64();
        has[field] = true;
      } else if (wire == protozero::pbf_wire_type::length_delimited && field < std::size(text)) {
        text[field] = bytes_of(reader);
      } else if (wire == protozero::pbf_wire_type::fixed64) {
        duration_ms = std::bit_cast<double>(reader.get_fixed64());
      } else {
        reader.skip();
      }
    }
    constexpr std::uint64_t most = std::uint64_t{1} << 61;
    time_ns = std::int64_t(std::min(number[1], most));
    handle = std::int32_t(number[2]);
  }
};

constexpr std::size_t most_devices = 1024, most_networks = 4096, most_streams = 256;

class TraceReader {
 public:
  explicit TraceReader(CountedNotes& losses) : losses_(losses) {}

  Trace run(std::string_view bytes) {
    FieldReader reader(bytes);
    std::uint64_t at = 0;
    try {
      while (reader.next()) {
        at = bytes.size() - reader.bytes_left();
        switch (reader.tag_and_type()) {
          case bytes_field(header_field): add_header(bytes_of(reader)); break;
          case bytes_field(event_field): add_event(bytes_of(reader), at); break;
          default: reader.skip();
        }
      }
    } catch (const protozero::exception&) {
      losses_.add(Severity::error, at, "cut short or broken here; events before it are read");
    }
    return std::move(trace_);
  }

 private:
  void add_header(std::string_view bytes) {
    FieldReader reader(bytes);
    while (reader.next()) {
      if (reader.tag_and_type() == bytes_field(header_version)) {
        trace_.version = valid_utf8(bytes_of(reader));
      } else {
        reader.skip();
      }
    }
  }

  void add_event(std::string_view bytes, std::uint64_t at) {
    FieldReader reader(bytes);
    if (!reader.next() || reader.wire_type() != protozero::pbf_wire_type::length_delimited) return;
    const auto what = What(reader.tag());
    const std::string_view inside = bytes_of(reader);
    const Event event(inside);
    switch (what) {
      case What::program: return trace_.programs.push_back(valid_utf8(event.text[2]));
      case What::device: return add_device(event.text[2]);
      default: break;
    }
    Network* network = network_of(event.handle);
    if (network == nullptr) {
      return losses_.add(Severity::warning, at, "networks beyond the first 4,096; left out");
    }
    switch (what) {
      case What::setting: return add_setting(event, *network);
      case What::network:
        network->name = valid_utf8(event.text[3]);
        network->max_batch = std::uint32_t(event.number[4]);
        break;
      case What::activate: return add_switch(event, *network, true, at);
      case What::deactivate: return add_switch(event, *network, false, at);
      case What::enqueue:
      case What::dequeue: return add_frame(event, *network, what, at);
      case What::decision:
        network->by_threshold += event.number[3] != 0;
        network->by_timeout += event.number[4] != 0;
        network->by_idleness += event.number[5] != 0;
        break;
      default: break;  // streams are known by their frames
    }
  }

  void add_device(std::string_view info) {
    FieldReader reader(info);
    std::string id, chip;
    while (reader.next()) {
      if (reader.tag_and_type() == bytes_field(1)) {
        id = valid_utf8(bytes_of(reader));
      } else if (reader.tag_and_type() == bytes_field(2)) {
        chip = valid_utf8(bytes_of(reader));
      } else {
        reader.skip();
      }
    }
    if (trace_.chips.size() < most_devices) trace_.chips[id] = chip;
  }

  Network* network_of(std::int32_t handle) {
    const auto known = trace_.networks.find(handle);
    if (known != trace_.networks.end()) return &known->second;
    return trace_.networks.size() < most_networks ? &trace_.networks[handle] : nullptr;
  }

  static void add_setting(const Event& event, Network& network) {
    if (event.has[3]) network.settings["timeout in ms"] = std::int64_t(event.number[3]);
    if (event.has[4]) network.settings["threshold"] = std::int64_t(event.number[4]);
    if (event.has[5]) network.settings["priority"] = std::int64_t(event.number[5]);
  }

  void add_switch(const Event& event, Network& network, bool is_to, std::uint64_t at) {
    constexpr double most_ms = 1e9;
    const double ms = event.duration_ms;
    if (!(ms >= 0 && ms <= most_ms)) {
      return losses_.add(Severity::warning, at, "switches of an impossible duration; left out");
    }
    if (const auto device = device_of(event.text[3], at)) {
      network.switches.push_back({event.time_ns, std::llrint(ms * 1e6), *device, is_to});
    }
  }

  void add_frame(const Event& event, Network& network, What what, std::uint64_t at) {
    const bool is_input = event.number[5] == 0, is_enqueued = what == What::enqueue;
    const bool has_device = is_input != is_enqueued;
    std::vector<Stream>& streams = is_input ? network.inputs : network.outputs;
    auto stream = std::ranges::find(streams, event.text[4], &Stream::name);
    if (stream == streams.end()) {
      if (streams.size() >= most_streams) {
        return losses_.add(Severity::warning, at,
                           "streams of a network beyond the first 256; left out");
      }
      stream = streams.insert(stream, Stream{std::string(event.text[4]), {}, {}, {}});
    }
    if (has_device) {
      const auto device = device_of(event.text[3], at);
      if (!device) return;
      stream->devices.push_back(*device);
    }
    (is_enqueued ? stream->into_queue : stream->out_of_queue).push_back(event.time_ns);
  }

  std::optional<std::uint32_t> device_of(std::string_view id, std::uint64_t at) {
    if (const auto known = devices_.find(id); known != devices_.end()) return known->second;
    if (trace_.devices.size() >= most_devices) {
      losses_.add(Severity::warning, at, "events of devices beyond the first 1,024; left out");
      return std::nullopt;
    }
    const auto device = std::uint32_t(trace_.devices.size());
    trace_.devices.push_back(valid_utf8(id));
    devices_.emplace(id, device);
    return device;
  }

  CountedNotes& losses_;
  Trace trace_;
  std::map<std::string, std::uint32_t, std::less<>> devices_;  // by id
};

}  // namespace

bool looks_like_trace(std::string_view head) {
  try {
    FieldReader file(head);
    if (!file.next() || file.tag_and_type() != bytes_field(header_field)) return false;
    FieldReader reader(bytes_of(file));
    bool has_date = false;
    while (reader.next()) {
      if (reader.tag_and_type() == bytes_field(header_date)) {
        FieldReader date(bytes_of(reader));
        if (!date.next() || date.tag_and_type() != varint_field(1)) return false;
        const std::uint64_t year = date.get_uint64();
        has_date = year >= 1970 && year < 2200;  // 1970: a board without a clock
      } else if (reader.tag_and_type() == bytes_field(header_version)) {
        const std::string_view version = bytes_of(reader);
        return has_date && !version.empty() && is_digit(version.front()) &&
               version.find('.') != version.npos;
      } else {
        if (reader.tag() > header_version) return false;
        reader.skip();
      }
    }
  } catch (const protozero::exception&) {
  }
  return false;
}

Trace read_trace(std::string_view bytes, CountedNotes& losses) {
  return TraceReader(losses).run(bytes);
}

}  // namespace npuscope::hailo
