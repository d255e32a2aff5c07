#include "formats/ireeperf/dispatch_name.hpp"

#include "base/numbers.hpp"

namespace npuscope::ireeperf {
namespace {

constexpr std::string_view digits = "0123456789";

// Of "64x4096" all, of "1000xf32" what stands before the type, of "Dx64" with a dynamic extent all;
// nothing of a word that is none of these.
std::string_view extents_in(std::string_view word) {
  if (word.empty() || (digits.find(word.front()) == digits.npos && !word.starts_with("Dx")))
    return {};
  std::string_view extents = word.substr(0, word.find_first_not_of("0123456789xD"));
  const bool ends_in_type = extents.size() < word.size();
  if (ends_in_type && !extents.ends_with('x')) return {};
  while (extents.ends_with('x')) extents.remove_suffix(1);
  return extents;
}

std::optional<double> product_of(std::string_view extents) {
  double product = 1;
  while (!extents.empty()) {
    const auto extent = take_number<std::uint32_t>(extents);
    if (!extent) return std::nullopt;  // dynamic
    product *= *extent;
    if (extents.starts_with('x')) extents.remove_prefix(1);
  }
  return product;
}

bool is_product(std::string_view operation) {
  for (const std::string_view word : {"matmul", "conv", "mmt4d", "matvec", "vecmat"}) {
    if (operation.find(word) != operation.npos) return true;
  }
  return false;
}

}  // namespace

DispatchName dispatch_name(std::string_view name) {
  DispatchName of;
  constexpr std::string_view before = "dispatch_";
  const std::size_t at = name.find(before);
  if (at == name.npos) return of;
  std::string_view rest = name.substr(at + before.size());
  const std::size_t number = rest.find_first_not_of(digits);
  if (number == 0 || number == rest.npos || rest[number] != '_') return of;
  rest.remove_prefix(number + 1);
  for (std::size_t begin = 0; begin < rest.size();) {
    const std::size_t end = std::min(rest.find('_', begin), rest.size());
    const std::string_view word = rest.substr(begin, end - begin);
    const std::string_view extents = begin > 0 ? extents_in(word) : std::string_view();
    if (!extents.empty()) {
      of.operation = rest.substr(0, begin - 1);
      of.extents = extents;
      const std::string_view after = extents.size() < word.size()
                                         ? word.substr(extents.size() + 1)
                                         : rest.substr(std::min(end + 1, rest.size()));
      of.types = after.substr(0, after.find('_'));
      if (is_product(of.operation)) of.macs = product_of(of.extents);
      return of;
    }
    begin = end + 1;
  }
  of.operation = rest.substr(0, rest.find("_dispatch"));
  return of;
}

}  // namespace npuscope::ireeperf
