// Identities that hold for every profile, and how often each was tried:
//
//   Tried tried("qnn/chain8 #0");
//   tried.equal("busy, waits and idle are the wall", busy + waiting + idle, wall, "HMX 256");
//   tried.broken()    "qnn/chain8 #0: busy, waits and idle are the wall: HMX 256: 60 and 64"
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "report/identities/samples.hpp"

namespace npuscope::report::identities {

class Tried {
 public:
  explicit Tried(std::string sample) : sample_(std::move(sample)) {}

  void holds(const std::string& identity, bool does, std::string_view detail = {}) {
    counts_[identity] += 1;
    if (!does && kept(identity))
      broken_.push_back(fmt::format("{}: {}: {}", sample_, identity, detail));
  }
  void equal(const std::string& identity, std::int64_t a, std::int64_t b,
             std::string_view detail = {}) {
    holds(identity, a == b, fmt::format("{}: {} and {}", detail, a, b));
  }
  // Sums of numbers that are no whole ones.
  void near(const std::string& identity, double a, double b, std::string_view detail = {}) {
    const double size = std::max(std::abs(a), std::abs(b));
    holds(identity, a == b || std::abs(a - b) <= 1e-9 * size,
          fmt::format("{}: {} and {}", detail, a, b));
  }
  void at_most(const std::string& identity, double a, double b, std::string_view detail = {}) {
    holds(identity, a <= b || a - b <= 1e-9 * std::abs(b),
          fmt::format("{}: {} and {}", detail, a, b));
  }
  void not_negative(const std::string& identity, double a, std::string_view detail = {}) {
    holds(identity, a >= 0, fmt::format("{}: {}", detail, a));
  }

  const std::vector<std::string>& broken() const { return broken_; }
  const std::map<std::string, std::size_t>& counts() const { return counts_; }

 private:
  // A few of each kind tell it.
  bool kept(const std::string& identity) { return ++kept_[identity] <= 3; }

  std::string sample_;
  std::map<std::string, std::size_t> counts_, kept_;
  std::vector<std::string> broken_;
};

// A pattern of this name alone.
inline std::string exactly(std::string_view name) {
  std::string pattern = "^";
  for (const char c : name) {
    const bool is_special = std::string_view("\\^$.|?*+()[]{}-").find(c) != std::string_view::npos;
    if (is_special) pattern += '\\';
    pattern += c;
  }
  return pattern + "$";
}

// Times and shares of one profile: parts add up, nothing is negative, nothing exceeds what it is
// of.
void try_times(const Sample& sample, Tried& tried);
void try_ops(const Sample& sample, Tried& tried);
void try_path(const Sample& sample, Tried& tried);
// Text, JSON, and the pages that print the same number.
void try_texts(const Sample& sample, Tried& tried);
void try_pages(const Sample& sample, Tried& tried);
// English of a text: "1 rules", "-0.0 %".
void try_words(const std::string& page, std::string_view text, Tried& tried);
// The profile against itself, and gates around its latency.
void try_comparison(const Sample& sample, Tried& tried);
void try_compared_ops(const Sample& sample, Tried& tried);
// Ops alone, and a window of everything.
void try_selection(const Sample& sample, Tried& tried);

}  // namespace npuscope::report::identities
