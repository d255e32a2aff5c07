// Track events that are read by the form of others, against the decoder of any event. What has a
// form must be read the same; what has not is left to that decoder.
#include "formats/perfetto/read/track_event.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <protozero/exception.hpp>
#include <string>
#include <vector>

#include "choices.hpp"
#include "formats/perfetto/varint_text.hpp"

namespace npuscope::perfetto::event_forms_test {
namespace {

using npuscope::test::Choices;
using test::varint;

std::string number(std::uint32_t field, std::uint64_t value) {
  return varint(field << 3) + varint(value);
}

std::string bytes_in(std::uint32_t field, const std::string& text) {
  return varint(field << 3 | 2) + varint(text.size()) + text;
}

std::uint64_t random_number(Choices& choices) {
  const std::uint64_t value = choices.below(1 << 30) | std::uint64_t(choices.below(1 << 30)) << 34;
  return value >> choices.below(64);
}

std::string random_field(unsigned which, Choices& choices) {
  switch (which) {
    case 0: return number(event_field::type, choices.below(6));
    case 1: return number(event_field::track_uuid, random_number(choices));
    case 2: return number(event_field::category_iids, random_number(choices));
    case 3: return number(event_field::name_iid, random_number(choices));
    case 4: return bytes_in(event_field::name, std::string(choices.below(20), 'n'));
    case 5: return number(event_field::counter_value, random_number(choices));
    case 6: {
      const std::uint64_t bits = random_number(choices);
      return varint(event_field::double_counter_value << 3 | 1) +
             std::string(reinterpret_cast<const char*>(&bits), sizeof bits);
    }
    case 7:
    case 8: return bytes_in(event_field::debug_annotations, std::string(choices.below(9), 'a'));
    case 9: return bytes_in(event_field::categories, "c");
    case 10: return number(event_field::correlation_id, 5);
    default: return bytes_in(event_field::legacy_event, "\x10\x42");
  }
}

// The fields of a writer's events, in its order; most are a few of the usual ones.
std::vector<unsigned> random_writing(Choices& choices) {
  std::vector<unsigned> fields;
  const std::size_t count = choices.below(6);
  for (std::size_t i = 0; i < count; ++i) {
    fields.push_back(choices.below(choices.below(8) == 0 ? 12 : 7));
  }
  for (unsigned i = choices.below(4); i > 0; --i) fields.push_back(7);
  return fields;
}

std::optional<TrackEvent> decode_any(const std::string& message) {
  TrackEvent event;
  try {
    event.decode(message);
  } catch (const protozero::exception&) {
    return std::nullopt;
  }
  return event;
}

void expect_same(const TrackEvent& event, const TrackEvent& expected) {
  ASSERT_TRUE(event.is_plain() && expected.is_plain());
  ASSERT_EQ(event.type, expected.type);
  ASSERT_EQ(event.present.track_uuid, expected.present.track_uuid);
  ASSERT_EQ(event.present.name_iid, expected.present.name_iid);
  ASSERT_EQ(event.present.counter, expected.present.counter);
  ASSERT_EQ(event.present.double_counter, expected.present.double_counter);
  if (event.present.track_uuid) {
    ASSERT_EQ(event.track_uuid, expected.track_uuid);
  }
  if (event.present.name_iid) {
    ASSERT_EQ(event.name_iid, expected.name_iid);
  }
  if (event.present.counter) {
    ASSERT_EQ(event.counter, expected.counter);
  }
  if (event.present.double_counter) {
    ASSERT_EQ(std::bit_cast<std::uint64_t>(event.double_counter),
              std::bit_cast<std::uint64_t>(expected.double_counter));
  }
  ASSERT_EQ(event.name.data(), expected.name.data());
  ASSERT_EQ(event.name.size(), expected.name.size());
  ASSERT_EQ(event.category_iids, expected.category_iids);
}

TEST(EventForms, ReadTheSameAsTheDecoderOfAnyEvent) {
  std::size_t tried = 0, read = 0, with_annotations = 0;
  for (std::uint64_t seed = 0; seed < 4'000; ++seed) {
    Choices choices(seed);
    std::vector<std::vector<unsigned>> writings(1 + choices.below(3));
    for (auto& writing : writings) writing = random_writing(choices);
    EventForms forms;
    TrackEvent event;  // one for all, as in the reader
    for (int i = 0; i < 24; ++i) {
      std::string bytes;
      for (const unsigned field : writings[choices.below(unsigned(writings.size()))]) {
        bytes += random_field(field, choices);
      }
      if (!bytes.empty() && choices.below(5) == 0) {
        bytes[choices.below(unsigned(bytes.size()))] ^= char(1 << choices.below(8));
      }
      // In memory of its own size, so that reading beyond it is noticed.
      const std::string exactly(bytes.data(), bytes.size());
      const std::optional<TrackEvent> expected = decode_any(exactly);
      bool has_form = false;
      tried += 1;
      try {
        has_form = forms.decode(exactly, event);
        if (!has_form) {
          event.decode(exactly);
          forms.learn(exactly, event);
        }
      } catch (const protozero::exception&) {
        ASSERT_FALSE(expected) << seed;
        continue;
      }
      if (has_form && !event.annotations.empty()) {
        // What follows is not looked at: it may be anything that begins as annotations do.
        ASSERT_EQ(event.annotations[0], char(event_field::debug_annotations << 3 | 2));
        ASSERT_EQ(event.annotations.end(), std::string_view(exactly).end());
        if (!expected || expected->annotations.size() != event.annotations.size()) continue;
        with_annotations += 1;
      }
      ASSERT_TRUE(expected) << seed;
      if (!has_form && !expected->is_plain()) continue;
      expect_same(event, *expected);
      ASSERT_EQ(event.annotations, expected->annotations) << seed;
      read += has_form;
    }
  }
  EXPECT_GT(read, tried / 4);
  EXPECT_GT(with_annotations, tried / 16);
}

}  // namespace
}  // namespace npuscope::perfetto::event_forms_test
