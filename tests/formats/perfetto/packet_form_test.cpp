// Packets that are read by the form of another one, against a twin that reads field by field with
// protozero. What has the form must be read the same; what has not must be left alone.
#include "formats/perfetto/read/packet_form.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <protozero/pbf_reader.hpp>
#include <string>

#include "choices.hpp"
#include "formats/perfetto/varint_text.hpp"

namespace npuscope::perfetto::packet_form_test {
namespace {

using npuscope::test::Choices;
using test::varint;

std::string number(std::uint32_t field, std::uint64_t value, std::size_t bytes = 1) {
  return varint(field << 3) + varint(value, bytes);
}

std::string message(std::uint32_t field, const std::string& text, std::size_t bytes = 1) {
  return varint(field << 3 | 2) + varint(text.size(), bytes) + text;
}

// None where the bytes are no message.
std::optional<Packet> read_slowly(const std::string& bytes) {
  Packet packet;
  try {
    protozero::pbf_reader reader(bytes);
    while (reader.next()) {
      switch (reader.tag_and_type()) {
        case varint_field(packet_field::timestamp):
          packet.timestamp = reader.get_uint64();
          packet.has_timestamp = true;
          break;
        case varint_field(packet_field::sequence_id): packet.sequence = reader.get_uint32(); break;
        case varint_field(packet_field::timestamp_clock_id):
          packet.clock = reader.get_uint32();
          break;
        case varint_field(packet_field::sequence_flags): packet.flags |= reader.get_uint32(); break;
        case varint_field(packet_field::incremental_state_cleared):
          if (reader.get_uint64() != 0) packet.flags |= sequence_flag::cleared;
          break;
        case varint_field(packet_field::first_packet_on_sequence):
          packet.first_on_sequence = reader.get_uint64() != 0;
          break;
        case bytes_field(packet_field::track_event): {
          const auto view = reader.get_view();
          packet.track_event = {view.data(), view.size()};
          break;
        }
        case varint_field(packet_field::trusted_uid):
        case varint_field(packet_field::trusted_process): reader.skip(); break;
        default: packet.may_change_state = true; reader.skip();
      }
    }
  } catch (const protozero::exception&) {
    return std::nullopt;
  }
  return packet;
}

struct Writing {
  std::vector<unsigned> order;  // of fields
  std::size_t bytes_of_number = 1, bytes_of_length = 1;
};

Writing random_writing(Choices& choices) {
  Writing writing;
  if (choices.below(8) != 0) writing.order.push_back(0);
  const std::size_t fields = choices.below(5);
  for (std::size_t i = 0; i < fields; ++i) writing.order.push_back(1 + choices.below(9));
  writing.order.insert(writing.order.begin() + choices.below(unsigned(writing.order.size()) + 1),
                       10);
  writing.bytes_of_number = 1 + choices.below(20) / 18;
  writing.bytes_of_length = 1 + choices.below(20) / 18;
  return writing;
}

std::string packet_of(const Writing& writing, Choices& choices) {
  std::string bytes;
  for (const unsigned field : writing.order) {
    const std::uint64_t any = std::uint64_t(choices.below(1 << 30)) << 34 | choices.below(1 << 30);
    const std::size_t size = writing.bytes_of_number;
    switch (field) {
      case 0: bytes += number(packet_field::timestamp, any >> choices.below(64), size); break;
      case 1: bytes += number(packet_field::sequence_id, 1 + choices.below(9) / 8, size); break;
      case 2: bytes += number(packet_field::sequence_flags, 2, size); break;
      case 3: bytes += number(packet_field::timestamp_clock_id, 64, size); break;
      case 4: bytes += number(packet_field::trusted_uid, 1000, size); break;
      case 5: bytes += number(packet_field::trusted_process, 77, size); break;
      case 6:
        if (choices.below(3) == 0) bytes += number(packet_field::timestamp, 5, size);
        break;
      case 7:
        if (choices.below(3) == 0) bytes += number(packet_field::first_packet_on_sequence, 1);
        break;
      case 8:
        if (choices.below(3) == 0) bytes += message(packet_field::interned_data, "\x08\x01");
        break;
      case 9:
        if (choices.below(3) == 0) bytes += message(packet_field::track_event, "\x48\x02");
        break;
      default:
        bytes += message(packet_field::track_event,
                         std::string(choices.below(choices.below(9) == 0 ? 200 : 40), 'e'),
                         writing.bytes_of_length);
    }
  }
  return bytes;
}

TEST(PacketForm, ReadsTheSameAsFieldByField) {
  std::size_t read = 0, tried = 0;
  for (std::uint64_t seed = 0; seed < 4'000; ++seed) {
    Choices choices(seed);
    const Writing writing = random_writing(choices);
    const Writing other = random_writing(choices);
    PacketForm form;
    for (int i = 0; i < 12; ++i) {
      std::string bytes = packet_of(choices.below(6) == 0 ? other : writing, choices);
      if (!bytes.empty() && choices.below(4) == 0) {
        bytes[choices.below(unsigned(bytes.size()))] ^= char(1 << choices.below(8));
      }
      // In memory of its own size, so that reading beyond it is noticed.
      const std::string exactly(bytes.data(), bytes.size());
      const std::optional<Packet> expected = read_slowly(exactly);
      tried += 1;
      const Packet* const decoded = form.decode(exactly, tried);
      if (decoded == nullptr) {
        if (expected) form.learn(exactly, *expected);
        continue;
      }
      const Packet& packet = *decoded;
      read += 1;
      ASSERT_TRUE(expected) << seed;
      ASSERT_FALSE(expected->may_change_state) << seed;
      ASSERT_EQ(packet.offset, tried);
      ASSERT_EQ(packet.timestamp, expected->timestamp) << seed;
      ASSERT_TRUE(packet.has_timestamp && expected->has_timestamp);
      ASSERT_EQ(packet.sequence, expected->sequence) << seed;
      ASSERT_EQ(packet.clock, expected->clock) << seed;
      ASSERT_EQ(packet.flags, expected->flags) << seed;
      ASSERT_EQ(packet.first_on_sequence, expected->first_on_sequence) << seed;
      ASSERT_EQ(packet.track_event.data(), expected->track_event.data()) << seed;
      ASSERT_EQ(packet.track_event.size(), expected->track_event.size()) << seed;
      ASSERT_EQ(packet.rare, nullptr);
      ASSERT_TRUE(packet.interned.empty());
    }
  }
  EXPECT_GT(read, tried / 8);
}

}  // namespace
}  // namespace npuscope::perfetto::packet_form_test
