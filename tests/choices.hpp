// What a generator of random cases decides by: a seed, or a fuzzer's bytes, of which each decision
// takes one. Behind the last byte every decision is the first of its choices, so that a generator
// whose first choices end comes to its end.
//
//   Choices choices(7u);
//   if (choices.below(3) == 0) …
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <utility>

namespace npuscope::test {

class Choices {
 public:
  explicit Choices(unsigned seed) : random_(seed) {}
  explicit Choices(std::string bytes) : bytes_(std::move(bytes)), is_random_(false) {}

  std::uint32_t operator()() {
    if (is_random_) return std::uint32_t(random_());
    // All four bytes: remainders of small divisors depend on all of them.
    return at_ < bytes_.size() ? std::uint8_t(bytes_[at_++]) * 0x0101'0101u : 0;
  }
  std::uint32_t below(std::uint32_t limit) { return (*this)() % limit; }

  // The standard's asks again and again until it likes a number, for ever when the bytes are used
  // up.
  void shuffle(auto& list) {
    for (std::size_t i = list.size(); i > 1; --i) {
      std::swap(list[i - 1], list[below(std::uint32_t(i))]);
    }
  }

 private:
  std::mt19937 random_;
  std::string bytes_;
  std::size_t at_ = 0;
  bool is_random_ = true;
};

}  // namespace npuscope::test
