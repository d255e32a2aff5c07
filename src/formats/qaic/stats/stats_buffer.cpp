#include "formats/qaic/stats/stats_buffer.hpp"

namespace npuscope::qaic {
namespace {

constexpr std::uint64_t header_bytes = 32;

// Which sections a buffer of this level has: its writer and stats_buffer_bytes must agree.
bool records_ports_and_ops(const StatsIdentity& identity) { return identity.stats_level >= 50; }
bool records_op_pmu(const StatsIdentity& identity) {
  return identity.stats_level >= 100 && identity.pmu_counters > 0;
}

std::uint64_t thread_count(const StatsIdentity& identity) {
  return std::uint64_t{identity.cores} * identity.threads_per_core;
}

template <class Record>
std::span<Record> only_one(const std::vector<std::span<Record>>& rooms) {
  return rooms.empty() ? std::span<Record>() : rooms.front();
}

}  // namespace

StatsBufferWriter::StatsBufferWriter(const StatsIdentity& identity, std::string_view network,
                                     bool ddr_stats, std::uint64_t ports,
                                     std::span<const std::uint64_t> ops)
    : sections_(stats_magic, stats_version) {
  sections_.add<StatsIdentity>(stats_identity, 0, std::span(&identity, 1));
  sections_.add_text(stats_network, 0, network);
  sections_.add_room<StatsThread>(stats_threads, 0, thread_count(identity));
  if (ddr_stats) sections_.add_room<StatsCore>(stats_cores, 0, identity.cores);
  // Every thread has its section, also one without records, so that a missing section means damage.
  const auto add_per_thread = [&]<class Record>(std::uint32_t kind) {
    for (std::uint32_t key = 0; key < ops.size(); ++key) {
      sections_.add_room<Record>(kind, key, ops[key]);
    }
  };
  if (records_ports_and_ops(identity)) {
    sections_.add_room<StatsPort>(stats_ports, 0, ports);
    add_per_thread.operator()<StatsOp>(stats_ops);
  }
  if (records_op_pmu(identity)) add_per_thread.operator()<StatsOpPmu>(stats_op_pmu);
  sections_.place(buffer_);
  records_.threads = only_one(sections_.rooms<StatsThread>(stats_threads, buffer_));
  records_.cores = only_one(sections_.rooms<StatsCore>(stats_cores, buffer_));
  records_.ports = only_one(sections_.rooms<StatsPort>(stats_ports, buffer_));
  records_.ops = sections_.rooms<StatsOp>(stats_ops, buffer_);
  records_.op_pmu = sections_.rooms<StatsOpPmu>(stats_op_pmu, buffer_);
}

std::vector<std::byte> StatsBufferWriter::take() {
  sections_.seal(buffer_);
  return std::move(buffer_);
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
