// What is learnt of the packets, events and annotations before must change nothing but speed. The
// twin: the same trace with every tag and length written in a byte more than it takes, which no
// form knows, so that all of it is read field by field.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <protozero/pbf_reader.hpp>

#include "formats/perfetto/fields.hpp"
#include "formats/perfetto/profile_text.hpp"
#include "formats/perfetto/random_profile.hpp"
#include "formats/perfetto/slow_twin.hpp"
#include "formats/perfetto/varint_text.hpp"
#include "npuscope/formats/perfetto/write.hpp"

namespace npuscope::perfetto::padded_twin_test {
namespace {

namespace fs = std::filesystem;

using test::varint;

std::string padded(std::uint32_t value) { return varint(value, varint(value).size() + 1); }

// `of_field`: what becomes of the bytes of a field.
template <class OfField>
std::string padded_message(std::string_view message, const OfField& of_field) {
  std::string text;
  protozero::pbf_reader reader(message.data(), message.size());
  while (reader.next()) {
    text += padded(reader.tag() << 3 | std::uint32_t(reader.wire_type()));
    const auto bits = [&](auto value) {
      text.append(reinterpret_cast<const char*>(&value), sizeof value);
    };
    switch (reader.wire_type()) {
      case protozero::pbf_wire_type::varint: text += varint(reader.get_uint64()); break;
      case protozero::pbf_wire_type::fixed64: bits(reader.get_fixed64()); break;
      case protozero::pbf_wire_type::fixed32: bits(reader.get_fixed32()); break;
      default: {
        const std::uint32_t tag = reader.tag();
        const auto view = reader.get_view();
        const std::string bytes = of_field(tag, std::string_view(view.data(), view.size()));
        text += padded(std::uint32_t(bytes.size())) + bytes;
      }
    }
  }
  return text;
}

std::string as_it_is(std::uint32_t, std::string_view bytes) { return std::string(bytes); }

std::string padded_event(std::string_view event) {
  return padded_message(event, [](std::uint32_t field, std::string_view bytes) {
    const bool is_annotation = field == event_field::debug_annotations;
    return is_annotation ? padded_message(bytes, as_it_is) : std::string(bytes);
  });
}

// None where it is not a trace from its first byte to its last.
std::optional<std::string> padded_trace(std::string_view trace) {
  try {
    std::string text;
    protozero::pbf_reader packets(trace.data(), trace.size());
    while (packets.next()) {
      if (packets.tag() != 1) return std::nullopt;
      const auto view = packets.get_view();
      const std::string packet = padded_message(
          {view.data(), view.size()}, [](std::uint32_t field, std::string_view bytes) {
            return field == packet_field::track_event ? padded_event(bytes) : std::string(bytes);
          });
      text += '\x0A' + padded(std::uint32_t(packet.size())) + packet;
    }
    return text;
  } catch (const protozero::exception&) {
    return std::nullopt;
  }
}

// All but where in the file notes point to.
std::string text_of_all(Profile profile) {
  std::map<std::pair<std::string, std::uint64_t>, int> notes;
  for (const Note& note : profile.notes) notes[{note.message, note.count}] += 1;
  profile.notes.clear();
  std::string text = test::text_of(profile);
  for (const auto& [note, count] : notes) text += note.first + std::to_string(note.second) + "\n";
  return text;
}

void expect_same_when_padded(std::string_view trace, const std::string& what) {
  const auto padded = padded_trace(trace);
  ASSERT_TRUE(padded) << what;
  ASSERT_GT(padded->size(), trace.size()) << what;
  ASSERT_EQ(text_of_all(test::read(trace)), text_of_all(test::read(*padded))) << what;
}

TEST(PaddedTwin, OfRandomProfilesWritten) {
  for (std::uint32_t seed = 1; seed < 60; ++seed) {
    test::RandomProfileOptions options;
    options.seed = seed;
    options.overlap = seed % 3 == 0;
    options.accelerator = seed % 2 == 0;
    const Profile profile = test::random_profile(options);
    std::string trace;
    const Profile* profiles[] = {&profile};
    write_trace(profiles, [&](std::string_view piece) { trace += piece; });
    expect_same_when_padded(trace, "seed " + std::to_string(seed));
  }
}

TEST(PaddedTwin, OfRandomTraces) {
  test::Choices choices(11u);
  for (int round = 0; round < 500; ++round) {
    const std::string trace = round % 2 == 0 ? test::random_trace(choices, choices.below(30))
                                             : test::random_trace_with_names(choices);
    if (!trace.empty()) expect_same_when_padded(trace, "round " + std::to_string(round));
  }
}

TEST(PaddedTwin, OfPerfettosOwnTestTraces) {
  int traces = 0;
  for (const auto& entry :
       fs::directory_iterator(fs::path(NPUSCOPE_TEST_DATA) / "perfetto_cases")) {
    if (entry.path().extension() != ".pb") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string trace{std::istreambuf_iterator<char>(file), {}};
    if (!padded_trace(trace)) continue;
    expect_same_when_padded(trace, entry.path().filename());
    traces += 1;
  }
  EXPECT_GT(traces, 30);
}

}  // namespace
}  // namespace npuscope::perfetto::padded_twin_test
