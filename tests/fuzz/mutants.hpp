// Mutants of an input. Bytes alone rarely get past the first check of a file of nested lengths or
// brackets: where an input is JSON or protobuf, most of its mutants are too, with members and
// fields that are left out, doubled, swapped, of another type, or from another input.
//
//   std::mt19937_64 random(1);
//   mutant(R"({"ts": 1, "dur": 2})", R"([{"ph": "X"}])", random);   // {"ts": [{"ph": "X"}], "dur":
//   2}
//
// A letter that says what the rest is stays before it (targets `text`, `sets`, `twins`, `exports`).
#pragma once

#include <random>
#include <string>
#include <string_view>

namespace npuscope::fuzz {

std::string mutant(std::string_view bytes, std::string_view other, std::mt19937_64& random);

// The parts it is made of. The second and third are empty where the input is not of that form.
std::string mutant_of_bytes(std::string_view bytes, std::string_view other,
                            std::mt19937_64& random);
std::string mutant_of_json(std::string_view bytes, std::string_view other, std::mt19937_64& random);
std::string mutant_of_protobuf(std::string_view bytes, std::string_view other,
                               std::mt19937_64& random);

}  // namespace npuscope::fuzz
