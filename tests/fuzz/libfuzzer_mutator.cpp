// libFuzzer's own mutants, and by turns those of mutants.hpp.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "fuzz/mutants.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* bytes, std::size_t size, std::size_t limit);

namespace {

std::string_view text_of(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

std::size_t put(const std::string& made, std::uint8_t* out, std::size_t limit) {
  const std::size_t size = std::min(made.size(), limit);
  std::memcpy(out, made.data(), size);
  return size;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* bytes, std::size_t size,
                                               std::size_t limit, unsigned seed) {
  if (seed % 2 == 0) return LLVMFuzzerMutate(bytes, size, limit);
  std::mt19937_64 random(seed);
  const std::string input(text_of(bytes, size));
  return put(npuscope::fuzz::mutant(input, input, random), bytes, limit);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* first, std::size_t first_size,
                                                 const std::uint8_t* second,
                                                 std::size_t second_size, std::uint8_t* out,
                                                 std::size_t limit, unsigned seed) {
  std::mt19937_64 random(seed);
  const std::string made =
      npuscope::fuzz::mutant(text_of(first, first_size), text_of(second, second_size), random);
  return put(made, out, limit);
}
