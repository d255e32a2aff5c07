#include "formats/qaic/stats/stats_decoder.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <tuple>

#include "formats/qaic/stats/random_buffer.hpp"

namespace npuscope::qaic::stats_decoder_test {
namespace {

using test_support::make_random_case;
using test_support::RandomCase;
using test_support::RandomOptions;
using ::testing::HasSubstr;

const std::string file = "aic-inf-0-aiccyclecounts.bin";

StatsNetwork network_of(const RandomCase& random, bool dependencies = false) {
  auto network = StatsNetwork::create(random.descriptor, &random.program,
                                      {.label = "", .dependencies = dependencies});
  EXPECT_TRUE(network) << network.error().message;
  return std::move(*network);
}

Result<Profile> decode(const RandomCase& random) {
  return decode_stats_buffer(random.bytes(), file, network_of(random));
}

// A span as a person would write it down: engine, core, lane, kind, op name, start, duration,
// cycles.
using Row = std::tuple<Engine, std::uint32_t, std::uint32_t, SpanKind, std::string, std::int64_t,
                       std::int64_t, std::int64_t>;

std::vector<Row> thread_rows(const Profile& profile) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < profile.spans.size(); ++i) {
    if (profile.spans.op[i] == OpId::none) continue;
    const Unit& unit = profile.units[index_of(profile.spans.unit[i])];
    rows.emplace_back(unit.engine, unit.core, unit.lane, profile.spans.kind[i],
                      std::string(profile.text(profile.ops[index_of(profile.spans.op[i])].name)),
                      profile.spans.start[i], profile.spans.duration[i],
                      profile.spans.processor_cycles[i]);
  }
  return rows;
}

// The slow and obvious twin of the decoder, from the records themselves.
std::vector<Row> expected_rows(const RandomCase& random) {
  const Engine engines[] = {Engine::hvx, Engine::hvx, Engine::hvx,
                            Engine::hvx, Engine::hmx, Engine::dma_issue};
  std::vector<Row> rows;
  for (std::size_t key = 0; key < random.buffer.ops.size(); ++key) {
    const auto core = std::uint32_t(key / 6);
    const auto thread = std::uint32_t(key % 6);
    const auto& names = random.descriptor.stats.ops[core][random.descriptor.thread_groups[thread]];
    for (const StatsOp& op : random.buffer.ops[key]) {
      const std::string name(random.descriptor.stats.texts[names[op.position()].name]);
      const auto start = std::int64_t(op.start_ticks);
      const auto add = [&](Engine engine, SpanKind kind, std::int64_t from, std::int64_t ticks,
                           std::int64_t cycles) {
        rows.emplace_back(engine, core, thread, kind, name, from, ticks, cycles);
      };
      if (op.position_and_flags & StatsOp::synced) {
        add(engines[thread], SpanKind::sync, start - op.sync_ticks, op.sync_ticks, -1);
      }
      add(engines[thread], SpanKind::op, start, op.kernel_ticks, op.cycles);
      if (op.position_and_flags & StatsOp::barriered) {
        add(engines[thread], SpanKind::barrier, start + op.kernel_ticks, op.barrier_ticks, -1);
      }
      if (op.transfer_ticks > 0) {
        add(Engine::dma, SpanKind::transfer, start, op.transfer_ticks, -1);
      }
    }
  }
  return rows;
}

double measure_value(const Profile& profile, UnitId unit, const std::string& what) {
  for (const Measure& row : profile.measures) {
    if (row.subject == Measure::Subject::unit && row.subject_id == index_of(unit) &&
        profile.text(row.what) == what) {
      return row.value;
    }
  }
  return -1;
}

std::vector<std::string> note_texts(const Profile& profile) {
  std::vector<std::string> texts;
  for (const Note& note : profile.notes) texts.push_back(note.message);
  return texts;
}

TEST(StatsDecoder, EveryRecordBecomesItsSpansToTheTick) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto random = make_random_case({.seed = seed,
                                          .cores = std::uint32_t(1 + seed % 5),
                                          .ops_per_group = std::uint32_t(seed * 7 % 60)});
    const auto profile = decode(random);
    ASSERT_TRUE(profile) << profile.error().message;
    EXPECT_EQ(thread_rows(*profile), expected_rows(random)) << "seed " << seed;
    EXPECT_THAT(profile->notes, ::testing::IsEmpty());
  }
}

TEST(StatsDecoder, InferencesOfThreadsCoresAndTheDevice) {
  const auto random = make_random_case({.cores = 3});
  const auto profile = decode(random);
  ASSERT_TRUE(profile) << profile.error().message;
  const StatsNetwork network = network_of(random);
  const auto inference = [&](UnitId unit) {
    for (std::size_t i = 0; i < profile->spans.size(); ++i) {
      if (profile->spans.unit[i] == unit && profile->spans.kind[i] == SpanKind::inference) {
        EXPECT_EQ(profile->spans.instance[i], 213u);
        return std::tuple(profile->spans.start[i],
                          profile->spans.start[i] + profile->spans.duration[i],
                          profile->spans.processor_cycles[i]);
      }
    }
    return std::tuple<std::int64_t, std::int64_t, std::int64_t>(0, 0, 0);
  };
  std::int64_t first = INT64_MAX, last = 0;
  for (std::uint32_t core = 0; core < 3; ++core) {
    std::int64_t begin = INT64_MAX, end = 0, begin_cycles = INT64_MAX, end_cycles = 0;
    for (std::uint32_t thread = 0; thread < 6; ++thread) {
      const StatsThread& record = random.buffer.threads[core * 6 + thread];
      EXPECT_EQ(inference(network.thread_unit(core, thread)),
                std::tuple(std::int64_t(record.begin_ticks), std::int64_t(record.end_ticks),
                           std::int64_t(record.end_cycles - record.begin_cycles)));
      begin = std::min(begin, std::int64_t(record.begin_ticks));
      end = std::max(end, std::int64_t(record.end_ticks));
      begin_cycles = std::min(begin_cycles, std::int64_t(record.begin_cycles));
      end_cycles = std::max(end_cycles, std::int64_t(record.end_cycles));
    }
    EXPECT_EQ(inference(network.core_unit(core)),
              std::tuple(begin, end, end_cycles - begin_cycles));
    first = std::min(first, begin);
    last = std::max(last, end);
  }
  EXPECT_EQ(inference(network.device_unit()), std::tuple(first, last, std::int64_t{-1}));
}

TEST(StatsDecoder, ADoorbellIsATimeFromTheBeginNotTheTimersReading) {
  const auto random = make_random_case({});
  const auto profile = decode(random);
  ASSERT_TRUE(profile) << profile.error().message;
  std::uint64_t begin = ~std::uint64_t{0};
  for (const StatsThread& thread : random.buffer.threads) {
    begin = std::min(begin, thread.begin_ticks);
  }
  EXPECT_EQ(measure_value(*profile, network_of(random).thread_unit(1, 0),
                          "port 100 doorbell after begin"),
            9803252406782.0 - double(begin));
}

TEST(StatsDecoder, PortsCountersAndTraffic) {
  const auto random = make_random_case({.pmu_counters = 2, .ddr_stats = true});
  const auto profile = decode(random);
  ASSERT_TRUE(profile) << profile.error().message;
  const StatsNetwork network = network_of(random);
  EXPECT_EQ(profile_measure(*profile, measure::stats_level), 70);
  EXPECT_EQ(profile_measure(*profile, measure::stats_batch_size), 8);
  EXPECT_EQ(profile_measure(*profile, measure::inference), 213);
  for (const StatsPort& port : random.buffer.ports) {
    EXPECT_EQ(measure_value(*profile, network.thread_unit(port.core, port.thread),
                            measure::port_wait(port.port)),
              double(port.wait_ticks));
  }
  for (std::uint32_t core = 0; core < 2; ++core) {
    EXPECT_EQ(measure_value(*profile, network.core_unit(core), "ddr read bytes"),
              double(random.buffer.cores[core].ddr_read_bytes));
    EXPECT_EQ(measure_value(*profile, network.thread_unit(core, 4), "pmu 0x40"),
              double(random.buffer.threads[core * 6 + 4].pmu[1]));
  }
}

TEST(StatsDecoder, LevelHundredCountsPerOperator) {
  const auto random =
      make_random_case({.ops_per_group = 11, .stats_level = 100, .pmu_counters = 3});
  const auto profile = decode(random);
  ASSERT_TRUE(profile) << profile.error().message;
  std::size_t counted = 0;
  for (const Measure& row : profile->measures) {
    if (row.subject != Measure::Subject::span) continue;
    const std::size_t span = row.subject_id;
    const Unit& unit = profile->units[index_of(profile->spans.unit[span])];
    const Op& op = profile->ops[index_of(profile->spans.op[span])];
    const auto& record = random.buffer.op_pmu[unit.core * 6 + unit.lane][op.position];
    EXPECT_EQ(profile->text(row.what), measure::pmu(0x3f + counted % 3));
    EXPECT_EQ(row.value, double(record.counts[counted % 3]));
    counted += 1;
  }
  EXPECT_EQ(counted, 2u * 6 * 11 * 3);
}

// A thread that counted beyond 32 bits: its operators' counts say how often the counter came round.
TEST(StatsDecoder, CountersThatWrappedAreUnwrappedByTheOperators) {
  auto random =
      make_random_case({.cores = 1, .ops_per_group = 5, .stats_level = 100, .pmu_counters = 2});
  const std::size_t thread = 4;  // HMX
  auto& records = random.buffer.op_pmu[thread];
  ASSERT_GE(records.size(), 5u);
  std::uint64_t sum = 0;
  for (auto& record : records) {
    record.counts[0] = 3'000'000'000u;
    sum += record.counts[0];
    record.counts[1] = 7;
  }
  random.buffer.threads[thread].pmu[0] = std::uint32_t(sum + 1'000);  // it counts between them too
  random.buffer.threads[thread].pmu[1] = 50;
  const StatsNetwork network = network_of(random);
  const auto profile = decode(random);
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(measure_value(*profile, network.thread_unit(0, thread), "pmu PROCESSOR_CYCLES"),
            double(sum + 1000));
  EXPECT_EQ(measure_value(*profile, network.thread_unit(0, thread), "pmu 0x40"), 50.0);
  EXPECT_TRUE(std::any_of(profile->notes.begin(), profile->notes.end(), [](const Note& note) {
    return note.message.starts_with("32-bit counters of threads had wrapped");
  }));
}

TEST(StatsDecoder, WarnsOfCountersThatMayHaveWrapped) {
  for (const std::uint32_t level : {70u, 100u}) {
    for (const std::uint64_t cycles : {(1ull << 32) - 1, 1ull << 32}) {
      auto random = make_random_case({.cores = 1, .stats_level = level, .pmu_counters = 1});
      for (auto& thread : random.buffer.threads) {
        thread.end_cycles = thread.begin_cycles + cycles;
        thread.pmu[0] = ~0u;  // beyond what its operators counted
      }
      const auto profile = decode(random);
      ASSERT_TRUE(profile) << profile.error().message;
      const bool warned =
          std::any_of(profile->notes.begin(), profile->notes.end(), [](const Note& note) {
            return note.message.find("may have wrapped") != std::string::npos;
          });
      EXPECT_EQ(warned, level < 100 && cycles >> 32 != 0) << level << " " << cycles;
    }
  }
}

TEST(StatsDecoder, DependenciesOnRequest) {
  const auto random = make_random_case({.seed = 4});
  EXPECT_THAT(network_of(random).profile().edges, ::testing::IsEmpty());
  const StatsNetwork network = network_of(random, true);
  const auto& edges = network.profile().edges;
  ASSERT_EQ(edges.size(), random.program.dependencies.size());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    EXPECT_EQ(index_of(edges[i].from), random.program.dependencies[i].task);
    EXPECT_EQ(edges[i].kind == EdgeKind::reuse, random.program.dependencies[i].kind == 1);
  }
}

TEST(StatsDecoder, Level40HasTimesButNoOperators) {
  const auto profile = decode(make_random_case({.stats_level = 40}));
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->spans.size(), 2u * 6 * 2 + 2 + 1);  // inference, activation; cores; device
  const auto trace = check_trace_level(*profile, file);
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().message,
            file +
                ": compiled with -stats-level=40, which records no operators; compile with "
                "-stats-level=70 or more for a trace");
}

struct Refused {
  std::string what;
  std::vector<std::byte> bytes;
  std::string message;
};

TEST(StatsDecoder, SaysWhyABufferCannotBeUsed) {
  const auto random = make_random_case({});
  const auto other = make_random_case({.seed = 2});
  const auto whole = random.bytes();
  auto version = whole;
  version[8] = std::byte{9};
  const std::vector<Refused> refused{
      {"empty", {}, ": empty;"},
      {"zero", std::vector<std::byte>(4096), ": all zero: the device never wrote it"},
      {"text", std::vector<std::byte>(4096, std::byte{'x'}), ": not a statistics buffer"},
      {"short", {whole.begin(), whole.begin() + 20}, ": truncated at byte 20"},
      {"truncated", {whole.begin(), whole.end() - 1}, "copy the file again"},
      {"version", version, ": has layout version 9.0"},
      {"other program", other.bytes(), ": was written by another program (fingerprint "},
  };
  for (const Refused& buffer : refused) {
    const auto profile = decode_stats_buffer(buffer.bytes, file, network_of(random));
    ASSERT_FALSE(profile) << buffer.what;
    EXPECT_EQ(profile.error().kind, ErrorKind::input);
    EXPECT_THAT(profile.error().message, ::testing::StartsWith(file)) << buffer.what;
    EXPECT_THAT(profile.error().message, HasSubstr(buffer.message)) << buffer.what;
  }
}

TEST(StatsDecoder, ADamagedSectionCostsOnlyItself) {
  const auto random = make_random_case({});
  auto bytes = random.bytes();
  const auto reader = SectionReader::open(bytes, stats_magic, stats_version.major, "buffer");
  const SectionEntry damaged = *reader->find(stats_ops, 7);
  bytes[damaged.offset + 100] ^= std::byte{1};
  const auto profile = decode_stats_buffer(bytes, file, network_of(random));
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_TRUE(is_partial(*profile));
  ASSERT_EQ(profile->notes.size(), 1u);
  EXPECT_THAT(profile->notes[0].message, HasSubstr("core 1 thread 1's operators is damaged"));
  EXPECT_EQ(profile->notes[0].file, file);
  EXPECT_EQ(profile->notes[0].offset, damaged.offset);
  EXPECT_EQ(profile->notes[0].count, damaged.count);
  auto expected = expected_rows(random);
  std::erase_if(expected,
                [](const Row& row) { return std::get<1>(row) == 1 && std::get<2>(row) == 1; });
  EXPECT_EQ(thread_rows(*profile), expected);
}

TEST(StatsDecoder, BadRecordsAreCountedLocatedAndLeftOut) {
  auto random = make_random_case({.seed = 6});
  auto& ops = random.buffer.ops[4];
  const RandomCase before = random;
  ops[2] = StatsOp{};
  ops[3].position_and_flags ^= 1;
  ops[4].position_and_flags &= ~StatsOp::written;
  ops[5].start_ticks -= 100000;
  ops[6].start_ticks = random.buffer.threads[4].end_ticks + 1;
  const auto profile = decode(random);
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_THAT(
      note_texts(*profile),
      ::testing::ElementsAre(
          "2 of 20 operator records of core 0 thread 4 were never written; left out",
          "1 of 20 operator records of core 0 thread 4 are out of place (their position is "
          "not their index); left out",
          "1 of 20 operator records of core 0 thread 4 end after their thread does; left out",
          "1 of 20 operator records of core 0 thread 4 begin before their predecessor has "
          "ended; left out"));
  const auto reader = SectionReader::open(random.bytes(), stats_magic, 1, "buffer");
  EXPECT_EQ(profile->notes[0].offset, reader->find(stats_ops, 4)->offset + 2 * sizeof(StatsOp));
  EXPECT_EQ(profile->notes[0].count, 2u);
  RandomCase rest = before;
  rest.buffer.ops[4].erase(rest.buffer.ops[4].begin() + 2, rest.buffer.ops[4].begin() + 7);
  EXPECT_EQ(thread_rows(*profile), expected_rows(rest));
}

// Every byte of a small buffer, damaged in several ways: an error, or a profile that is either
// whole or says what is missing; never a crash, and never silence.
TEST(StatsDecoder, AnyDamagedByteIsNoticed) {
  const auto random = make_random_case(
      {.cores = 1, .ops_per_group = 3, .stats_level = 100, .pmu_counters = 1, .ddr_stats = true});
  const auto whole = random.bytes();
  const StatsNetwork network = network_of(random);
  std::size_t unnoticed = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const unsigned flip : {0x01u, 0x80u, 0xffu}) {
      auto bytes = whole;
      bytes[i] ^= std::byte(flip);
      const auto profile = decode_stats_buffer(bytes, file, network);
      if (profile && !is_partial(*profile)) unnoticed += 1;
    }
    const auto truncated = decode_stats_buffer(ByteSpan(whole).first(i), file, network);
    EXPECT_FALSE(truncated) << "first " << i << " bytes";
  }
  // Bytes of the network's name (9, padded to 16) are not part of what is decoded; neither is the
  // checksum of that section, which the table's own covers.
  EXPECT_LE(unnoticed, 16u * 3);
}

// Hostile values with right checksums, which damage by chance would not give.
TEST(StatsDecoder, AbsurdValuesWithRightChecksums) {
  for (const std::uint64_t absurd : {std::uint64_t{0}, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    auto random = make_random_case({.cores = 2});
    random.buffer.threads[0].begin_ticks = absurd;
    random.buffer.threads[1].end_ticks = absurd;
    random.buffer.threads[2].activation_ticks = absurd;
    random.buffer.ops[3][4].start_ticks = absurd;
    random.buffer.ops[5][4].transfer_ticks = std::uint32_t(absurd);
    random.buffer.ports[0].wait_ticks = absurd;
    random.buffer.ports[1].thread = std::uint16_t(absurd);
    random.buffer.identity.utimer_khz = std::uint32_t(absurd);
    random.buffer.identity.pmu_counters = std::uint32_t(absurd);
    const auto profile = decode(random);
    ASSERT_TRUE(profile) << profile.error().message;
    EXPECT_TRUE(is_partial(*profile));
    EXPECT_EQ(profile->clocks[0].rate, aic_utimer);
  }
}

// Sections of `random` without those that `drop` takes, and with one of a kind from the future.
template <class Drop>
std::vector<std::byte> resectioned(const RandomCase& random, bool add_unknown, Drop drop) {
  const auto bytes = random.bytes();
  const auto reader = SectionReader::open(bytes, stats_magic, stats_version.major, "buffer");
  SectionWriter writer(stats_magic, stats_version);
  for (const SectionEntry& entry : reader->entries()) {
    if (drop(entry)) continue;
    const ByteSpan records = reader->bytes(entry);
    const auto add = [&]<std::size_t size>() {
      using Record = std::array<std::byte, size>;
      if (entry.record_size != size) return;
      writer.add<Record>(entry.kind, entry.key,
                         std::span(reinterpret_cast<const Record*>(records.data()), entry.count));
    };
    add.template operator()<1>();
    add.template operator()<16>();
    add.template operator()<24>();
    add.template operator()<32>();
    add.template operator()<80>();
    add.template operator()<88>();
  }
  if (add_unknown) writer.add_text(99, 0, "from the future");
  return writer.finish();
}

TEST(StatsDecoder, OperatorCountersThatAreMissingWentUnnoticed) {
  const auto random = make_random_case({.cores = 1, .stats_level = 100, .pmu_counters = 2});
  const auto bytes = resectioned(random, false, [](const SectionEntry& entry) {
    return entry.kind == stats_op_pmu && entry.key == 3;
  });
  const auto profile = decode_stats_buffer(bytes, file, network_of(random));
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_THAT(
      note_texts(*profile),
      ::testing::ElementsAre("the section of core 0 thread 3's operator counters is missing"));
  EXPECT_TRUE(is_partial(*profile));
}

TEST(StatsDecoder, SectionsFromTheFutureAreNamed) {
  const auto random = make_random_case({});
  const auto bytes = resectioned(random, true, [](const SectionEntry&) { return false; });
  const auto profile = decode_stats_buffer(bytes, file, network_of(random));
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_THAT(note_texts(*profile),
              ::testing::ElementsAre("the section of kind 99 key 0 is not known; left out"));
  EXPECT_FALSE(is_partial(*profile));
  EXPECT_EQ(thread_rows(*profile), expected_rows(random));
}

// 2^56 ticks of a timer of 1 MHz are more nanoseconds than 64 bits hold, which overflowed in
// traces; cycles of 2^63 became negative.
TEST(StatsDecoder, TimesThatOverflowInNanosecondsAreLeftOut) {
  auto random = make_random_case({.cores = 1});
  random.buffer.identity.utimer_khz = 1000;
  const std::uint64_t last = 2'000'000'000'000'000;  // 63 years
  random.buffer.threads[0].end_ticks = last;
  random.buffer.threads[1].end_ticks = last + 1;
  random.buffer.threads[2].activation_cycles = std::uint64_t{1} << 63;
  random.buffer.threads[3].end_cycles = std::uint64_t{1} << 63;
  random.buffer.threads[4].activation_ticks = last + 1;
  const auto profile = decode(random);
  ASSERT_TRUE(profile) << profile.error().message;
  std::vector<std::uint32_t> whole;
  for (std::size_t i = 0; i < profile->spans.size(); ++i) {
    if (profile->spans.kind[i] == SpanKind::activation) {
      whole.push_back(profile->units[index_of(profile->spans.unit[i])].lane);
    }
    EXPECT_LE(profile->spans.start[i] + profile->spans.duration[i], std::int64_t(last));
  }
  EXPECT_THAT(whole, ::testing::ElementsAre(0u, 5u));
}

TEST(StatsDecoder, NamesOfMeasuresTellTheirNumbers) {
  for (const std::uint32_t number : {0u, 100u, 0x3fu, 0xffffffffu}) {
    EXPECT_EQ(measure::port_of_wait(measure::port_wait(number)), number);
    EXPECT_EQ(measure::event_of_pmu(measure::pmu(number)), number);
  }
  for (const std::string other :
       {"", "port ", "port  wait", "port 1 doorbell after begin", "port -1 wait", "port 1x wait",
        "pmu 0x", "pmu 0x1g", "pmu 0x100000000"}) {
    EXPECT_FALSE(measure::port_of_wait(other)) << other;
    EXPECT_FALSE(measure::event_of_pmu(other)) << other;
  }
}

TEST(StatsNetwork, RefusesContradictions) {
  const auto random = make_random_case({});
  const auto refuse = [&](auto change) {
    NetworkDescriptor descriptor = random.descriptor;
    change(descriptor);
    const auto network = StatsNetwork::create(descriptor, &random.program);
    return network ? std::string("accepted") : network.error().message;
  };
  EXPECT_THAT(refuse([](auto& d) { d.has_stats = false; }), HasSubstr("without statistics"));
  EXPECT_EQ(refuse([](auto& d) { d.num_cores = 0xffffffff; }),
            "network QAicGraph: 4294967295 cores of 6 threads cannot be; its networkdesc.bin is "
            "broken");
  EXPECT_THAT(refuse([](auto& d) { d.num_threads = 5; }), HasSubstr("thread groups for 6"));
  EXPECT_THAT(refuse([](auto& d) { d.thread_groups[0] = 9; }),
              HasSubstr("a thread is in group 9, but 3 groups have names"));
  EXPECT_THAT(refuse([](auto& d) { d.stats.ops.pop_back(); }),
              HasSubstr("ops of 1 cores are named, but the network has 2"));
  EXPECT_THAT(refuse([](auto& d) { d.stats.ops[1].emplace_back(); }),
              HasSubstr("ops of 4 thread groups are named, but there are 3"));
  EXPECT_THAT(refuse([](auto& d) { d.stats.ops[1][0][2].output_size = ~std::uint64_t{0}; }),
              HasSubstr("has an output of 18446744073709551615 bytes"));
  EXPECT_THAT(refuse([](auto& d) { d.stats.ops[1][0].pop_back(); }),
              HasSubstr("core 1 HVX lists 19 operators but the program records 20"));
}

TEST(StatsDecoder, WithoutAProgramTheDescriptorIsEnough) {
  const auto random = make_random_case({});
  const auto network = StatsNetwork::create(random.descriptor, nullptr);
  ASSERT_TRUE(network) << network.error().message;
  const auto profile = decode_stats_buffer(random.bytes(), file, *network);
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(thread_rows(*profile), expected_rows(random));
}

}  // namespace
}  // namespace npuscope::qaic::stats_decoder_test
