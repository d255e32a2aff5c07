#include "base/near_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/text.hpp"

namespace npuscope {
namespace {

constexpr std::size_t longest_compared = 200;
constexpr std::size_t max_compared = 20'000;

// Edits that turn one text into the other.
std::size_t distance_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

bool contains(std::string_view name, std::string_view text) {
  const auto same = [](char a, char b) { return small_letter(a) == small_letter(b); };
  return !text.empty() &&
         std::search(name.begin(), name.end(), text.begin(), text.end(), same) != name.end();
}

}  // namespace

std::string nearest_names(const std::vector<std::string_view>& names, std::string_view text,
                          std::size_t max) {
  std::vector<std::pair<std::size_t, std::size_t>> near;  // distance, place
  for (std::size_t i = 0; i < std::min(names.size(), max_compared); ++i) {
    const std::string_view wanted = text.substr(0, longest_compared);
    const std::string_view name = names[i].substr(0, longest_compared);
    near.push_back({contains(name, wanted) ? 0 : distance_between(wanted, name), i});
  }
  const auto last = near.begin() + std::ptrdiff_t(std::min(max, near.size()));
  std::partial_sort(near.begin(), last, near.end());
  std::string list;
  for (auto it = near.begin(); it != last; ++it) {
    list += fmt::format("{}'{}'", list.empty() ? "" : ", ", names[it->second]);
  }
  return list;
}

std::optional<std::string_view> likely_name(const std::vector<std::string_view>& names,
                                            std::string_view text) {
  constexpr std::size_t max_edits = 3;
  std::optional<std::string_view> nearest;
  const std::string_view wanted = text.substr(0, longest_compared);
  std::size_t limit = std::min(max_edits, wanted.size() / 2) + 1;
  for (const std::string_view name : names) {
    const std::size_t distance = distance_between(wanted, name.substr(0, longest_compared));
    if (distance >= limit) continue;
    limit = distance;
    nearest = name;
  }
  return nearest;
}

std::string did_you_mean(const std::vector<std::string_view>& names, std::string_view text) {
  const auto name = likely_name(names, text);
  return name ? fmt::format(" (did you mean '{}'?)", *name) : std::string();
}

std::string did_you_mean(std::string_view list, std::string_view text) {
  std::vector<std::string_view> names;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(", "), list.size());
    names.push_back(list.substr(0, end));
    list.remove_prefix(std::min(list.size(), end + 2));
  }
  return did_you_mean(names, text);
}

}  // namespace npuscope
