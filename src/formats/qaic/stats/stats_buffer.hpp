// The raw statistics buffer that a device writes at the end of an inference
// (aic-profiling-program-<P>-activation-<A>-inf-<I>-<Network>-aiccyclecounts.bin).
//
// The vendor's byte layout is not public. This one is npuscope's own, called so, and documented in
// docs/formats/stats-buffer.md: the frame of sections.hpp with magic "NPUSTATS" and the sections
// below.
//
// Times are absolute ticks of the 19.2 MHz UTIMER; cycles are those of the core's own clock.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/sections.hpp"

namespace npuscope::qaic {

inline constexpr std::string_view stats_magic = "NPUSTATS";
inline constexpr SectionVersion stats_version{1, 0};
inline constexpr std::uint32_t max_pmu_counters = 8;  // MAX_PMU_COUNTERS, nnc_pmu_inf.h

enum StatsSection : std::uint32_t {
  stats_identity = 1,  // 1 StatsIdentity
  stats_network = 2,   // text: the network's name
  stats_threads = 3,   // cores * threads StatsThread, core-major
  stats_cores = 4,     // cores StatsCore; only with -ddr-stats
  stats_ports = 5,     // StatsPort per core, thread and port; level >= 50
  stats_ops = 6,       // StatsOp of one thread; key = core * threads + thread; level >= 50
  stats_op_pmu = 7,    // StatsOpPmu, parallel to the thread's StatsOp; level >= 100, with counters
};

struct StatsIdentity {
  std::uint64_t program_fingerprint = 0;
  std::uint64_t inference = 0;   // number <I> of the file name
  std::uint32_t program = 0;     // <P>
  std::uint32_t activation = 0;  // <A>
  std::uint32_t device = 0;
  std::uint32_t stats_level = 0;
  std::uint32_t stats_batch_size = 1;
  std::uint32_t cores = 0;
  std::uint32_t threads_per_core = 0;  // HVX first, then HMX, then DMAIssue
  std::uint32_t pmu_counters = 0;      // events in use, 0 to 8
  std::uint32_t utimer_khz = 19200;
  std::uint32_t first_core = 0;  // physical number of the network's core 0
  std::array<std::uint32_t, max_pmu_counters> pmu_events{};
};
static_assert(sizeof(StatsIdentity) == 88);

// Level >= 40: one thread's inference and activation (set-up before the first inference).
struct StatsThread {
  std::uint64_t begin_ticks = 0;
  std::uint64_t end_ticks = 0;
  std::uint64_t begin_cycles = 0;  // the core's cycle counter
  std::uint64_t end_cycles = 0;
  std::uint64_t activation_ticks = 0;
  std::uint64_t activation_cycles = 0;
  std::array<std::uint32_t, max_pmu_counters> pmu{};  // 32-bit counters; they wrap
};
static_assert(sizeof(StatsThread) == 80);

struct StatsCore {
  std::uint64_t ddr_read_bytes = 0;
  std::uint64_t ddr_write_bytes = 0;
};

struct StatsPort {
  std::uint16_t core = 0;
  std::uint16_t thread = 0;
  std::uint32_t port = 0;            // 100 host input, 101 host output
  std::uint64_t wait_ticks = 0;      // waiting for the doorbell
  std::uint64_t doorbell_ticks = 0;  // absolute; when the (pipelined input) doorbell rang, 0: none
};
static_assert(sizeof(StatsPort) == 24);

// One task on one thread. The wait for semaphores is [start - sync, start), the kernel
// [start, start + kernel), the barrier [start + kernel, start + kernel + barrier); an asynchronous
// transfer is [start, start + transfer).
//
//   |<- sync ->|<---- kernel ---->|<- barrier ->|
//              start
//              |<---- transfer (DMA) ------------------->|
struct StatsOp {
  std::uint64_t start_ticks = 0;
  std::uint32_t sync_ticks = 0;
  std::uint32_t kernel_ticks = 0;
  std::uint32_t barrier_ticks = 0;
  std::uint32_t transfer_ticks = 0;  // 0: not asynchronous
  std::uint32_t cycles = 0;          // processor cycles of the kernel
  std::uint32_t position_and_flags = 0;

  static constexpr std::uint32_t synced = 1u << 31;  // it waited on semaphores, 0 ticks or more
  static constexpr std::uint32_t barriered = 1u << 30;
  static constexpr std::uint32_t written = 1u << 29;  // set in every record that was written
  static constexpr std::uint32_t position_mask = written - 1;
  // Place among the recorded tasks of the thread's group, the descriptor's op position.
  std::uint32_t position() const { return position_and_flags & position_mask; }
};
static_assert(sizeof(StatsOp) == 32);

struct StatsOpPmu {
  std::array<std::uint32_t, max_pmu_counters> counts{};  // during the kernel
};

// A buffer whose records are written where they stand in the file, zeros until then. What the
// level does not record is empty.
struct StatsRecords {
  std::span<StatsThread> threads;
  std::span<StatsCore> cores;
  std::span<StatsPort> ports;
  std::vector<std::span<StatsOp>> ops;        // by core * threads_per_core + thread
  std::vector<std::span<StatsOpPmu>> op_pmu;  // as ops
};

class StatsBufferWriter {
 public:
  // `ops`: how many records each thread has.
  StatsBufferWriter(const StatsIdentity& identity, std::string_view network, bool ddr_stats,
                    std::uint64_t ports, std::span<const std::uint64_t> ops);

  // Its records point into its own buffer, which goes with it.
  StatsBufferWriter(StatsBufferWriter&&) = default;
  StatsBufferWriter& operator=(StatsBufferWriter&&) = default;

  const StatsRecords& records() const { return records_; }
  std::vector<std::byte> take();

 private:
  SectionWriter sections_;
  std::vector<std::byte> buffer_;
  StatsRecords records_;
};

// Size in bytes of the buffer of a program with these counts, without building it.
std::uint64_t stats_buffer_bytes(const StatsIdentity& identity, bool ddr_stats,
                                 std::uint64_t port_records, std::uint64_t op_records,
                                 std::string_view network);

}  // namespace npuscope::qaic
