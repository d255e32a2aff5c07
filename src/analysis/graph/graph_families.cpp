#include "analysis/graph/graph_families.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

namespace npuscope::analysis {
namespace {

constexpr std::uint8_t product = 1;

// The first word that a name contains decides.
constexpr std::array<std::pair<const char*, std::uint8_t>, 38> words{{
    {"conv", product},  {"matmul", product}, {"gemm", product}, {"fullyconnected", product},
    {"softmax", 2},     {"norm", 3},         {"pool", 4},       {"transpose", 5},
    {"permute", 5},     {"concat", 6},       {"split", 7},      {"slice", 7},
    {"gather", 8},      {"scatter", 9},      {"relu", 10},      {"max", 10},
    {"clip", 10},       {"gelu", 11},        {"erf", 12},       {"sigmoid", 13},
    {"silu", 13},       {"tanh", 14},        {"reduce", 15},    {"mean", 15},
    {"add", 16},        {"sub", 17},         {"mul", 18},       {"div", 19},
    {"sqrt", 20},       {"exp", 21},         {"pow", 22},       {"cast", 23},
    {"dequantize", 24}, {"quantize", 25},    {"resize", 26},    {"pad", 27},
    {"where", 28},      {"topk", 29},
}};

}  // namespace

std::uint8_t family_of(std::string_view kind) {
  std::string lower(kind);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
  for (const auto& [word, family] : words) {
    if (word != nullptr && lower.find(word) != lower.npos) return family;
  }
  return 0;
}

bool is_product(std::string_view kind) { return family_of(kind) == product; }

bool is_pointwise(std::string_view kind) {
  const std::uint8_t family = family_of(kind);
  return family == 3 || (family >= 10 && family <= 14) || (family >= 16 && family <= 25);
}

std::vector<std::int64_t> comparable_shape(std::span<const std::int64_t> extents) {
  std::vector<std::int64_t> comparable;
  std::ranges::copy_if(extents, std::back_inserter(comparable),
                       [](std::int64_t extent) { return extent > 1; });
  std::ranges::sort(comparable);
  return comparable;
}

}  // namespace npuscope::analysis
