#include "formats/qaic/stats/stats_buffer.hpp"

namespace npuscope::qaic {
namespace {

constexpr std::uint64_t header_bytes = 32;

// Which sections a buffer of this level has: write_stats_buffer and stats_buffer_bytes must agree.
bool records_ports_and_ops(const StatsIdentity& identity) { return identity.stats_level >= 50; }
bool records_op_pmu(const StatsIdentity& identity) {
  return identity.stats_level >= 100 && identity.pmu_counters > 0;
}

std::uint64_t thread_count(const StatsIdentity& identity) {
  return std::uint64_t{identity.cores} * identity.threads_per_core;
}

// Every thread has its section, also one without records, so that a missing section means damage.
template <class Record>
void add_per_thread(SectionWriter& writer, std::uint32_t kind, std::uint64_t threads,
                    const std::vector<std::vector<Record>>& records) {
  for (std::uint64_t key = 0; key < threads; ++key) {
    const auto section =
        key < records.size() ? std::span<const Record>(records[key]) : std::span<const Record>();
    writer.add<Record>(kind, std::uint32_t(key), section);
  }
}

}  // namespace

std::vector<std::byte> write_stats_buffer(const StatsBuffer& buffer) {
  SectionWriter writer(stats_magic, stats_version);
  writer.add<StatsIdentity>(stats_identity, 0, std::span(&buffer.identity, 1));
  writer.add_text(stats_network, 0, buffer.network);
  writer.add<StatsThread>(stats_threads, 0, buffer.threads);
  if (!buffer.cores.empty()) writer.add<StatsCore>(stats_cores, 0, buffer.cores);
  const std::uint64_t threads = thread_count(buffer.identity);
  if (records_ports_and_ops(buffer.identity)) {
    writer.add<StatsPort>(stats_ports, 0, buffer.ports);
    add_per_thread(writer, stats_ops, threads, buffer.ops);
  }
  if (records_op_pmu(buffer.identity)) {
    add_per_thread(writer, stats_op_pmu, threads, buffer.op_pmu);
  }
  return writer.finish();
}

std::uint64_t stats_buffer_bytes(const StatsIdentity& identity, bool ddr_stats,
                                 std::uint64_t port_records, std::uint64_t op_records,
                                 std::string_view network) {
  const std::uint64_t threads = thread_count(identity);
  std::uint64_t sections = 3;  // identity, network, threads
  std::uint64_t payload =
      sizeof(StatsIdentity) + (network.size() + 7) / 8 * 8 + threads * sizeof(StatsThread);
  if (ddr_stats) {
    sections += 1;
    payload += identity.cores * sizeof(StatsCore);
  }
  if (records_ports_and_ops(identity)) {
    sections += 1 + threads;
    payload += port_records * sizeof(StatsPort) + op_records * sizeof(StatsOp);
  }
  if (records_op_pmu(identity)) {
    sections += threads;
    payload += op_records * sizeof(StatsOpPmu);
  }
  return header_bytes + sections * sizeof(SectionEntry) + payload;
}

}  // namespace npuscope::qaic
