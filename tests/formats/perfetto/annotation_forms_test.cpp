// Annotations of events that repeat those of the event before are read by their form. The twin:
// each event in a trace of its own, in which there is nothing to repeat.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "base/field_reader.hpp"
#include "choices.hpp"
#include "formats/perfetto/profile_text.hpp"
#include "formats/perfetto/trace_builder.hpp"
#include "formats/perfetto/varint_text.hpp"

namespace npuscope::perfetto::annotation_forms_test {
namespace {

using npuscope::test::Choices;
using test::Message;
using test::TraceBuilder;
using test::varint;

// How one annotation is written, but for its value.
struct Writing {
  unsigned name = 0, field = 0, bytes = 0, ending = 0;
};

Writing random_writing(Choices& choices) {
  Writing writing;
  writing.name = choices.below(10) < 7 ? choices.below(3) : choices.below(6);
  writing.field = choices.below(8);
  writing.bytes = choices.below(11);
  writing.ending = choices.below(12);
  return writing;
}

std::string annotation_of(const Writing& writing, Choices& choices) {
  const std::string names[] = {"\x08\x01", "\x08\x02", "\x08\x03", "\x52\x01x", "\x08\x09", ""};
  std::string text = names[writing.name];
  if (writing.name == 5) text = "\x08" + varint(1, 2);
  std::uint64_t value = choices.below(1 << 30);
  value |= std::uint64_t(choices.below(1 << 30)) << 34;
  const std::uint64_t kept = value >> choices.below(64);
  switch (writing.field) {
    case 0: text += "\x10" + varint(kept, writing.bytes); break;
    case 1: text += "\x18" + varint(kept, writing.bytes); break;
    case 2: text += "\x20" + varint(kept, writing.bytes); break;
    case 3: text += "\x38" + varint(kept); break;
    case 4:
      text += "\x29" + std::string(reinterpret_cast<const char*>(&value), sizeof value);
      break;
    case 5: text += "\x88\x01" + varint(1 + choices.below(40) / 18); break;
    case 6: text += "\x32\x02hi"; break;
    default: text += "\x20" + varint(choices.below(300)); break;
  }
  switch (writing.ending) {
    case 0: text += "\x20\x07"; break;  // another value
    case 1: text += "\x08\x02"; break;  // another name
    case 2:
      if (choices.below(4) == 0) text += '\x80';  // broken
      break;
    default: break;
  }
  return text;
}

void add_names(TraceBuilder& trace, const std::vector<std::string>& names, int flags) {
  trace.packet([&](Message& packet) {
    packet.add_uint32(10, 1);
    packet.add_uint32(13, std::uint32_t(flags));
    test::message(packet, 12, [&](Message& interned) {
      const auto add = [&](std::uint32_t field, std::uint64_t iid, const std::string& name) {
        test::message(interned, field, [&](Message& entry) {
          entry.add_uint64(1, iid);
          entry.add_string(2, name);
        });
      };
      for (std::size_t i = 0; i < names.size(); ++i) add(3, i + 1, names[i]);
      add(29, 1, "DDR");
      add(29, 2, "VTCM");
    });
  });
}

void add_event(TraceBuilder& trace, std::uint64_t time, const std::vector<std::string>& texts) {
  trace.event(time, 5, 3, [&](Message& event) {
    for (const std::string& text : texts) event.add_message(4, text);
  });
}

// The arguments of each row, by its time.
std::map<std::int64_t, std::string> arguments_of(const TraceBuilder& trace) {
  const Profile profile = test::read(trace.bytes());
  std::map<std::int64_t, std::string> rows;
  const Spans& spans = profile.spans;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    std::string& text = rows[spans.start[row]];
    for (std::size_t i = 0; i < spans.arguments.count(row); ++i) {
      const Argument argument = spans.arguments.at(row, i);
      const bool is_text = argument.key.type == ArgumentType::text;
      text += fmt::format("{} {} {}\n", profile.text(argument.key.name), int(argument.key.type),
                          is_text ? std::string(profile.text(argument.text()))
                                  : fmt::format("{:x}", argument.bits));
    }
  }
  return rows;
}

TEST(PerfettoAnnotations, ReadTheSameByTheirFormAsAlone) {
  Choices choices(11u);
  std::uint64_t rows = 0;
  for (int round = 0; round < 100; ++round) {
    TraceBuilder all, names_so_far;
    std::map<std::int64_t, std::string> alone;
    const auto define = [&](const std::vector<std::string>& names, int flags) {
      add_names(all, names, flags);
      add_names(names_so_far, names, flags);
    };
    define({"cycles", "bytes", "memory"}, 1);
    std::vector<Writing> writings;
    for (std::uint64_t time = 1; time <= 40; ++time) {
      if (choices.below(20) == 0) define({choices.below(2) == 0 ? "bytes" : "other"}, 2);
      if (choices.below(30) == 0) define({"a", "b", "c"}, 1);
      if (choices.below(3) == 0 || writings.empty()) {
        writings.resize(1 + choices.below(4));
        for (Writing& writing : writings) writing = random_writing(choices);
      }
      std::vector<std::string> texts;
      for (const Writing& writing : writings) texts.push_back(annotation_of(writing, choices));
      add_event(all, time, texts);
      TraceBuilder one = names_so_far;
      add_event(one, time, texts);
      alone.merge(arguments_of(one));
    }
    ASSERT_EQ(arguments_of(all), alone) << "round " << round;
    rows += alone.size();
  }
  EXPECT_GT(rows, 3000u);
}

TEST(PerfettoFields, ReadNumbersLikeProtozero) {
  Choices choices(3u);
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (unsigned i = choices.below(14); i > 0; --i) {
      text += char(choices.below(4) == 0 ? choices.below(0x80) : 0x80 + choices.below(0x80));
    }
    const auto read = [&](auto&& take) -> std::string {
      try {
        return take();
      } catch (const protozero::exception& broken) {
        return broken.what();
      }
    };
    const std::string by_library = read([&] {
      const char* at = text.data();
      const std::uint64_t value = protozero::decode_varint(&at, text.data() + text.size());
      return fmt::format("{} {}", value, at - text.data());
    });
    const std::string by_reader = read([&] {
      FieldReader reader(text);
      const std::uint64_t value = reader.get_uint64();
      return fmt::format("{} {}", value, text.size() - reader.bytes_left());
    });
    ASSERT_EQ(by_reader, by_library);
  }
}

}  // namespace
}  // namespace npuscope::perfetto::annotation_forms_test
