#include "fuzz/mutants.hpp"

#include <algorithm>
#include <array>

namespace npuscope::fuzz {

namespace {

std::size_t pick(std::mt19937_64& random, std::size_t count) {
  return count == 0 ? 0 : std::size_t(random() % count);
}

void change_bytes(std::string& bytes, std::string_view other, std::mt19937_64& random) {
  static const std::array<std::string, 13> words{"9223372036854775807",
                                                 "-9223372036854775808",
                                                 "-1",
                                                 "18446744073709551615",
                                                 "1e308",
                                                 "NaN",
                                                 "null",
                                                 "{}",
                                                 "[",
                                                 "\"",
                                                 "\\u0000",
                                                 std::string(8, '\xff'),
                                                 std::string(4, '\0')};
  const std::size_t at = pick(random, bytes.size() + 1);
  const std::size_t length = pick(random, std::min<std::size_t>(bytes.size() - at, 64) + 1);
  switch (pick(random, 7)) {
    case 0: bytes.insert(at, words[pick(random, words.size())]); break;
    case 1: bytes.replace(at, length, words[pick(random, words.size())]); break;
    case 2: bytes.erase(at, length); break;
    case 3: bytes.insert(at, bytes.substr(at, length)); break;
    case 4: bytes.resize(at); break;
    case 5: bytes.replace(at, length, other.substr(pick(random, other.size() + 1), length)); break;
    default:
      if (at < bytes.size()) bytes[at] = char(bytes[at] ^ (1 << pick(random, 8)));
  }
}

}  // namespace

std::string mutant_of_bytes(std::string_view bytes, std::string_view other,
                            std::mt19937_64& random) {
  std::string made(bytes);
  const std::size_t changes = 1 + pick(random, 4);
  for (std::size_t i = 0; i < changes; ++i) change_bytes(made, other, random);
  return made;
}

std::string mutant(std::string_view bytes, std::string_view other, std::mt19937_64& random) {
  // One in four is of bytes, so that what no form allows is tried as well.
  if (pick(random, 4) == 0) return mutant_of_bytes(bytes, other, random);
  for (const auto structured : {mutant_of_json, mutant_of_protobuf}) {
    if (std::string made = structured(bytes, other, random); !made.empty()) return made;
    if (bytes.size() < 2) continue;
    if (std::string made = structured(bytes.substr(1),
                                      other.substr(std::min<std::size_t>(other.size(), 1)), random);
        !made.empty()) {
      return made.insert(0, 1, bytes[0]);
    }
  }
  return mutant_of_bytes(bytes, other, random);
}

}  // namespace npuscope::fuzz
