// Mutants of protobuf without a schema: a field of bytes that is itself a message is taken for one.
// Lengths are written anew, so that a change deep within leaves all around it whole.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "fuzz/mutants.hpp"

namespace npuscope::fuzz {

namespace {

enum WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes_field = 2, fixed32 = 5 };

struct Field {
  std::uint64_t number = 0;
  std::uint8_t type = varint;
  std::uint64_t value = 0;     // varint
  std::string bytes;           // fixed64, fixed32, bytes that are no message
  std::vector<Field> message;  // bytes that are one
};
using Message = std::vector<Field>;

std::optional<std::uint64_t> read_varint(std::string_view& text) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64 && !text.empty(); shift += 7) {
    const auto byte = std::uint8_t(text.front());
    text.remove_prefix(1);
    value |= std::uint64_t(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return {};
}

std::optional<Message> read_message(std::string_view text, int depth = 0) {
  Message message;
  while (!text.empty()) {
    const auto tag = read_varint(text);
    if (!tag || *tag >> 3 == 0 || *tag >> 3 >= (1u << 29)) return {};
    Field field{*tag >> 3, std::uint8_t(*tag & 7), 0, {}, {}};
    std::size_t size = field.type == fixed64 ? 8 : 4;
    if (field.type == varint || field.type == bytes_field) {
      const auto value = read_varint(text);
      if (!value) return {};
      field.value = *value;
      size = field.type == varint ? 0 : std::size_t(*value);
    } else if (field.type != fixed64 && field.type != fixed32) {
      return {};
    }
    if (size > text.size()) return {};
    const std::string_view content = text.substr(0, size);
    text.remove_prefix(size);
    if (field.type == bytes_field && !content.empty() && depth < 20) {
      if (auto inner = read_message(content, depth + 1)) field.message = std::move(*inner);
    }
    if (field.message.empty()) field.bytes = content;
    message.push_back(std::move(field));
  }
  return message;
}

void write_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += char(value | 0x80);
  out += char(value);
}

std::string written(const Message& message) {
  std::string out;
  for (const Field& field : message) {
    write_varint(out, field.number << 3 | field.type);
    const std::string content = field.message.empty() ? field.bytes : written(field.message);
    if (field.type == varint) write_varint(out, field.value);
    if (field.type == bytes_field) write_varint(out, content.size());
    if (field.type != varint) out += content;
  }
  return out;
}

// Every message within one that has fields, itself first.
std::vector<Message*> messages_of(Message& message) {
  std::vector<Message*> all{&message};
  for (Field& field : message) {
    if (field.message.empty()) continue;
    for (Message* inner : messages_of(field.message)) all.push_back(inner);
  }
  return all;
}

constexpr std::array<std::uint64_t, 12> numbers{0,
                                                1,
                                                2,
                                                127,
                                                255,
                                                65'536,
                                                0x7fff'ffff,
                                                0x8000'0000,
                                                0xffff'ffff,
                                                0x7fff'ffff'ffff'ffff,
                                                0x8000'0000'0000'0000,
                                                0xffff'ffff'ffff'ffff};

class Change {
 public:
  Change(Message& whole, std::string_view other, std::mt19937_64& random)
      : whole_(whole), other_(other), random_(random) {}

  void make() {
    const auto messages = messages_of(whole_);
    Message& message = *messages[pick(messages.size())];
    if (message.empty()) return;
    const std::size_t at = pick(message.size());
    Field& field = message[at];
    switch (pick(7)) {
      case 0: message.erase(message.begin() + std::ptrdiff_t(at)); break;
      case 1: message.insert(message.begin() + std::ptrdiff_t(at), Field(field)); break;
      case 2: std::swap(field, message[pick(message.size())]); break;
      case 3: replace_by_foreign(field); break;
      case 4: field.number = 1 + pick(40); break;
      case 5: field = Field{field.number, varint, numbers[pick(numbers.size())], {}, {}}; break;
      default: change_content(field);
    }
  }

 private:
  std::size_t pick(std::size_t count) { return std::size_t(random_() % count); }

  // A field of another input, at best one of the same number.
  void replace_by_foreign(Field& field) {
    auto other = read_message(other_);
    if (!other || other->empty()) return;
    std::vector<const Field*> same, any;
    for (const Message* message : messages_of(*other)) {
      for (const Field& each : *message) {
        any.push_back(&each);
        if (each.number == field.number && each.type == field.type) same.push_back(&each);
      }
    }
    field = *(same.empty() ? any[pick(any.size())] : same[pick(same.size())]);
  }

  void change_content(Field& field) {
    if (field.type == varint) {
      field.value ^= std::uint64_t{1} << pick(64);
    } else if (field.type == bytes_field && field.message.empty()) {
      field.bytes = mutant_of_bytes(field.bytes, other_, random_);
    } else if (!field.bytes.empty()) {
      field.bytes[pick(field.bytes.size())] ^= char(1 << pick(8));
    } else if (!field.message.empty()) {
      field.message.erase(field.message.begin() + std::ptrdiff_t(pick(field.message.size())));
    }
  }

  Message& whole_;
  std::string_view other_;
  std::mt19937_64& random_;
};

}  // namespace

std::string mutant_of_protobuf(std::string_view bytes, std::string_view other,
                               std::mt19937_64& random) {
  auto message = read_message(bytes);
  if (!message || message->empty()) return {};
  const std::size_t changes = 1 + random() % 3;
  for (std::size_t i = 0; i < changes; ++i) Change(*message, other, random).make();
  return written(*message);
}

}  // namespace npuscope::fuzz
