#include "formats/qaic/qpc/qpc_contents.hpp"

#include <gmock/gmock.h>

#include <functional>

#include "formats/qaic/damage.hpp"
#include "formats/qaic/qpc/sample_qpc.hpp"
#include "formats/qaic/qpc/schematic.hpp"

namespace npuscope::qaic::qpc_validation_test {
namespace {

using test::constants_descriptor;
using test::sample_descriptor;
using test::sample_program;
using test::sample_segments;
using test::text_segment;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using Segments = std::vector<QpcSegmentSource>;

QpcValidation validation_of(const Segments& segments) {
  return validate_qpc(*write_qpc(segments), "a.qpc");
}

// "check: message" of the findings that are not ok.
std::vector<std::string> faults(const QpcValidation& validation) {
  std::vector<std::string> out;
  for (const QpcFinding& finding : validation.findings) {
    if (finding.verdict != QpcVerdict::ok) out.push_back(finding.check + ": " + finding.message);
  }
  return out;
}

std::vector<std::string> faults_with_descriptor(
    const std::function<void(NetworkDescriptor&)>& change) {
  Segments segments = sample_segments();
  NetworkDescriptor network = sample_descriptor();
  change(network);
  segments[1].bytes = write_network_descriptor(network);
  return faults(validation_of(segments));
}

std::vector<std::string> faults_with_program(const std::function<void(Program&)>& change) {
  Segments segments = sample_segments();
  Program program = sample_program();
  change(program);
  segments[2].bytes = write_program(program);
  return faults(validation_of(segments));
}

TEST(QpcValidation, FindsNothingWrongWithASoundProgram) {
  const QpcValidation validation = validation_of(sample_segments());
  EXPECT_TRUE(validation.valid());
  EXPECT_THAT(faults(validation), IsEmpty());
  ASSERT_THAT(validation.programs, SizeIs(1));
  EXPECT_EQ(validation.programs[0].nsps, 1u);
}

TEST(QpcValidation, CoversEveryDevice) {
  const QpcValidation validation = validate_qpc(test::multi_device_qpc(), "a.qpc");
  EXPECT_THAT(faults(validation), IsEmpty());
  ASSERT_THAT(validation.programs, SizeIs(2));
  EXPECT_EQ(validation.programs[1].container, "QAicGraph_slice01");
}

TEST(QpcValidation, MissesRequiredSegments) {
  EXPECT_THAT(faults(validation_of({})),
              ElementsAre("segments: networkdesc.bin is missing",
                          "segments: network.elf is missing, and so is npuscope.program.bin"));
  EXPECT_FALSE(validation_of({}).valid());
  const Segments vendor{text_segment("network.elf",
                                     "\x7f"
                                     "ELF..."),
                        sample_segments()[1]};
  EXPECT_THAT(faults(validation_of(vendor)), IsEmpty());
  const Segments no_elf{text_segment("network.elf", "MZ"), sample_segments()[1]};
  EXPECT_THAT(faults(validation_of(no_elf)),
              ElementsAre("segments: network.elf is not an ELF file"));
}

TEST(QpcValidation, WantsConstantsAndTheirSizesTogether) {
  const auto faults_with = [](const Segments& constants, bool vendor) {
    Segments segments = constants;
    segments.push_back(sample_segments()[1]);
    segments.push_back(vendor ? text_segment("network.elf",
                                             "\x7f"
                                             "ELF...")
                              : sample_segments()[2]);
    return faults(validation_of(segments));
  };
  const QpcSegmentSource sizes{"constantsdesc.bin", constants_descriptor(5, 3), 0};
  QpcSegmentSource constants = text_segment("constants.bin", "STATCdyn");
  constants.offset = 5;
  EXPECT_THAT(faults_with({sizes, constants}, true), IsEmpty());
  EXPECT_THAT(faults_with({constants}, true),
              ElementsAre("constants: constantsdesc.bin is missing"));
  EXPECT_THAT(faults_with({sizes}, true), ElementsAre("constants: constants.bin is missing"));
  EXPECT_THAT(faults_with({sizes}, false), IsEmpty()) << "npuscope keeps sizes only";
  EXPECT_THAT(faults_with({text_segment("constantsdesc.bin", "12345"), constants}, true),
              ElementsAre("constants: constantsdesc.bin has 5 bytes, expected 24"));
  constants.offset = 8;
  EXPECT_THAT(faults_with({sizes, constants}, true),
              ElementsAre("constants: the container says that static constants end at byte 8, "
                          "constantsdesc.bin says 5"));
  constants.bytes.pop_back();
  EXPECT_THAT(faults_with({sizes, constants}, true),
              ElementsAre("constants: constantsdesc.bin says 5 static and 3 dynamic bytes, but "
                          "constants.bin has 7"));
  const QpcSegmentSource wild{"constantsdesc.bin", constants_descriptor(~std::uint64_t{0}, 8), 0};
  EXPECT_THAT(faults_with({wild, constants}, true), SizeIs(1));
}

TEST(QpcValidation, LooksIntoTheDescriptor) {
  using Network = NetworkDescriptor;
  EXPECT_THAT(faults_with_descriptor([](Network& n) { n.major_version = 8; }),
              ElementsAre("descriptor: version 8.0; 9.x is known"));
  EXPECT_THAT(faults_with_descriptor([](Network& n) { n.thread_groups.pop_back(); }),
              ElementsAre("descriptor: 6 threads but thread groups for 5"));
  EXPECT_THAT(faults_with_descriptor([](Network& n) { n.thread_groups[5] = 3; }),
              ElementsAre("descriptor: a thread is in group 3, but 3 groups have names"));
  EXPECT_THAT(faults_with_descriptor([](Network& n) { n.stats.buffer_index = 3; }),
              ElementsAre("descriptor: statistics lie in DMA buffer 3, but there are 3"));
  Segments segments = sample_segments();
  segments[1] = text_segment("networkdesc.bin", "NWDESC");
  EXPECT_THAT(faults(validation_of(segments)),
              ElementsAre(HasSubstr("descriptor: a.qpc/networkdesc.bin: network descriptor is "
                                    "broken at byte 0 of 6")));
}

TEST(QpcValidation, LooksIntoTheProgram) {
  Segments segments = sample_segments();
  segments[2].bytes.back() ^= std::byte{1};
  EXPECT_THAT(faults(validation_of(segments)),
              ElementsAre(HasSubstr("program: a.qpc/npuscope.program.bin: checksum of section")));
  EXPECT_THAT(faults_with_program([](Program& p) {
                p.waits[1] = {0, 2};
              }),
              ElementsAre(HasSubstr("the program deadlocks")));
}

TEST(QpcValidation, ComparesDescriptorAndProgram) {
  using Network = NetworkDescriptor;
  EXPECT_THAT(faults_with_descriptor([](Network& n) { n.stats.ops[0][0].pop_back(); }),
              ElementsAre("ops: descriptor and program differ in 1 of 3 queues, first core 0 HVX: "
                          "1 op in the descriptor, 2 in the program"));
  EXPECT_THAT(faults_with_descriptor([](Network& n) { n.stats.ops[0].pop_back(); }),
              ElementsAre("ops: descriptor and program differ in 1 of 3 queues, first core 0 "
                          "DMAIssue: 0 ops in the descriptor, 1 in the program"));
  EXPECT_THAT(faults_with_descriptor(
                  [](Network& n) { n.stats.ops[0][1][0].kind = n.stats.texts.intern("other"); }),
              ElementsAre("ops: descriptor and program differ in 1 of 3 queues, first core 0 HMX "
                          "op 0: other in the descriptor, aicconvolutiond32 in the program"));
  EXPECT_THAT(faults_with_descriptor([](Network& n) {
                n.stats.ops[0][1][0].kind = n.stats.texts.intern("aicconvolutiond32 ");
              }),
              IsEmpty())
      << "elementwise kinds end with a blank";
  EXPECT_THAT(faults_with_program([](Program& p) { p.stats_level = 100; }),
              ElementsAre(HasSubstr("ops: descriptor and program differ: network QAicGraph and "
                                    "QAicGraph, cores 1 and 1, threads 6 and 6, statistics level "
                                    "70 and 100")));
  EXPECT_THAT(faults_with_descriptor([](Network& n) { n.has_stats = false; }),
              ElementsAre(HasSubstr("differ in 3 of 3 queues")));
}

std::vector<std::string> faults_with_schematic(const std::vector<std::byte>& bytes) {
  Segments segments = sample_segments();
  QpcSegmentSource segment = segments[2];
  segment.name = segment_schematic;
  segment.bytes = bytes;
  segments.push_back(segment);
  return faults(validation_of(segments));
}

TEST(QpcValidation, LooksIntoTheSchematic) {
  Schematic schematic;
  schematic.program_fingerprint = fingerprint(sample_program());
  schematic.texts = {"Input"};
  schematic.nodes = {{.name = 0}};
  EXPECT_THAT(faults_with_schematic(write_schematic(schematic)), IsEmpty());
  std::vector<std::byte> damaged = write_schematic(schematic);
  damaged.resize(damaged.size() / 2);
  EXPECT_THAT(faults_with_schematic(damaged), ElementsAre(HasSubstr("schematic: a.qpc/")));
  schematic.program_fingerprint += 1;
  EXPECT_THAT(faults_with_schematic(write_schematic(schematic)),
              ElementsAre(HasSubstr("schematic: npuscope.schematic.bin is of a program with")));
}

TEST(QpcValidation, NamesBrokenContainers) {
  const QpcValidation none = validate_qpc(as_byte_span("text"), "a.qpc");
  EXPECT_FALSE(none.valid());
  EXPECT_THAT(faults(none), ElementsAre(HasSubstr("container: a.qpc: not a QPC")));
  auto inner = test::sample_qpc();
  inner.pop_back();
  const QpcValidation nested = validation_of({{"bad", inner, 0}, {"good", test::sample_qpc(), 0}});
  EXPECT_FALSE(nested.valid());
  EXPECT_THAT(faults(nested), ElementsAre(HasSubstr("container: a.qpc/bad: has")));
  EXPECT_THAT(nested.programs, SizeIs(1)) << "the good one is still checked";
}

TEST(QpcValidation, OfTruncatedFilesIsAlwaysAnError) {
  test::for_each_truncation(test::sample_qpc(), [](const auto& bytes, std::size_t size) {
    EXPECT_FALSE(validate_qpc(bytes, "a.qpc").valid()) << size << " bytes";
  });
}

TEST(QpcValidation, OfDamagedFilesAlwaysHasFindings) {
  test::for_each_damaged_byte(test::multi_device_qpc(), [](const auto& bytes, std::size_t at) {
    EXPECT_THAT(validate_qpc(bytes, "a.qpc").findings, testing::Not(IsEmpty())) << "byte " << at;
  });
}

}  // namespace
}  // namespace npuscope::qaic::qpc_validation_test
