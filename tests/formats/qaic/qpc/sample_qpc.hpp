// Containers as npuscope compile writes them, small enough to check by hand.
#pragma once

#include <cstring>

#include "formats/qaic/qpc/network_descriptor.hpp"
#include "formats/qaic/qpc/qpc.hpp"
#include "formats/qaic/qpc/sample_program.hpp"

namespace npuscope::test {

// Describes sample_program().
inline qaic::NetworkDescriptor sample_descriptor() {
  qaic::NetworkDescriptor network;
  network.network_name = "QAicGraph";
  network.num_cores = 1;
  network.num_threads = 6;
  network.num_hvx_threads = 4;
  network.thread_groups = {0, 0, 0, 0, 1, 2};
  network.thread_group_names = {"HVX", "HMX", "DMAIssue"};
  network.dma_buffers = {{1000, 0}, {200, 1}, {4096, 1}};
  network.has_stats = true;
  network.stats.buffer_index = 2;
  network.stats.stats_level = 70;
  const auto op = [&](const std::string& kind) {
    qaic::OpNameKind out;
    out.name = network.stats.texts.intern("/" + kind);
    out.kind = network.stats.texts.intern(kind);
    return out;
  };
  network.stats.ops = {{{op("aicconverttod32"), op("aicsoftmax")},
                        {op("aicconvolutiond32")},
                        {op("aiccopytovtcm")}}};
  return network;
}

inline std::vector<std::byte> bytes_of_text(std::string_view text) {
  const ByteSpan bytes = as_byte_span(text);
  return {bytes.begin(), bytes.end()};
}

inline qaic::QpcSegmentSource text_segment(std::string name, std::string_view text) {
  return {std::move(name), bytes_of_text(text), 0};
}

inline std::vector<std::byte> constants_descriptor(std::uint64_t static_bytes,
                                                   std::uint64_t dynamic_bytes) {
  std::vector<std::byte> out(24);
  std::memcpy(out.data(), &static_bytes, sizeof static_bytes);
  std::memcpy(out.data() + 8, &dynamic_bytes, sizeof dynamic_bytes);
  return out;
}

inline std::vector<qaic::QpcSegmentSource> sample_segments() {
  return {{"constantsdesc.bin", constants_descriptor(5000, 0), 0},
          {"networkdesc.bin", qaic::write_network_descriptor(sample_descriptor()), 0},
          {"npuscope.program.bin", qaic::write_program(sample_program()), 0}};
}

inline std::vector<std::byte> sample_qpc() { return *qaic::write_qpc(sample_segments()); }

// Two devices with the sample on each.
inline std::vector<std::byte> multi_device_qpc() {
  return *qaic::write_qpc({{"QAicGraph_slice00", sample_qpc(), 0},
                           {"QAicGraph_slice01", sample_qpc(), 0},
                           text_segment("mdp_meta_info", "meta")});
}

}  // namespace npuscope::test
