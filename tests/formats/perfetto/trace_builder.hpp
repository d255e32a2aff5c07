// Traces written by hand, field by field, with the numbers of the published .proto files and not
// with those of the code under test:
//
//   TraceBuilder trace;
//   trace.packet([](Message& packet) {
//     packet.add_uint64(8, 1000);                          // timestamp
//     message(packet, 11, [](Message& event) { … });       // track_event
//   });
#pragma once

#include <zlib.h>
#include <zstd.h>

#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>

namespace npuscope::perfetto::test {

using Message = protozero::pbf_writer;

template <class Fill>
void message(Message& parent, std::uint32_t field, Fill fill) {
  Message child(parent, field);
  fill(child);
}

class TraceBuilder {
 public:
  template <class Fill>
  TraceBuilder& packet(Fill fill) {
    Message trace(bytes_);
    Message child(trace, 1);
    fill(child);
    return *this;
  }

  // A track event at `time` on `track`: begin 1, end 2, instant 3, counter 4.
  template <class Fill>
  TraceBuilder& event(std::uint64_t time, std::uint64_t track, int type, Fill fill) {
    return packet([&](Message& packet) {
      packet.add_uint64(8, time);
      packet.add_uint32(10, 1);
      message(packet, 11, [&](Message& event) {
        event.add_enum(9, type);
        event.add_uint64(11, track);
        fill(event);
      });
    });
  }
  TraceBuilder& begin(std::uint64_t time, std::uint64_t track, std::string_view name) {
    return event(time, track, 1, [&](Message& e) { e.add_string(23, name.data(), name.size()); });
  }
  TraceBuilder& end(std::uint64_t time, std::uint64_t track) {
    return event(time, track, 2, [](Message&) {});
  }
  TraceBuilder& instant(std::uint64_t time, std::uint64_t track, std::string_view name) {
    return event(time, track, 3, [&](Message& e) { e.add_string(23, name.data(), name.size()); });
  }
  TraceBuilder& track(std::uint64_t uuid, std::string_view name, std::uint64_t parent = 0) {
    return packet([&](Message& packet) {
      message(packet, 60, [&](Message& track) {
        track.add_uint64(1, uuid);
        if (!name.empty()) track.add_string(2, name.data(), name.size());
        if (parent != 0) track.add_uint64(5, parent);
      });
    });
  }
  TraceBuilder& process(std::uint64_t uuid, int pid, std::string_view name) {
    return packet([&](Message& packet) {
      message(packet, 60, [&](Message& track) {
        track.add_uint64(1, uuid);
        message(track, 3, [&](Message& process) {
          process.add_int32(1, pid);
          process.add_string(6, name.data(), name.size());
        });
      });
    });
  }
  TraceBuilder& thread(std::uint64_t uuid, int pid, int tid, std::string_view name) {
    return packet([&](Message& packet) {
      message(packet, 60, [&](Message& track) {
        track.add_uint64(1, uuid);
        message(track, 4, [&](Message& thread) {
          thread.add_int32(1, pid);
          thread.add_int64(2, tid);
          thread.add_string(5, name.data(), name.size());
        });
      });
    });
  }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

inline std::string zlib_compressed(std::string_view text) {
  uLongf size = ::compressBound(uLong(text.size()));
  std::string out(size, '\0');
  ::compress(reinterpret_cast<Bytef*>(out.data()), &size,
             reinterpret_cast<const Bytef*>(text.data()), uLong(text.size()));
  out.resize(size);
  return out;
}

inline std::string zstd_compressed(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

}  // namespace npuscope::perfetto::test
