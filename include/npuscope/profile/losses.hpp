// What a writer could not say in its target format, counted: nothing is dropped in silence.
//
//   Losses losses;
//   losses.add("dependencies between ops", 120);
//   losses.add("dependencies between ops", 3);     // one entry of 123
//   losses.add("checks", 0);                        // no entry
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace npuscope {

struct Loss {
  std::string what;
  std::uint64_t count = 0;  // rows, or numbers
  bool operator==(const Loss&) const = default;
};

struct Losses {
  std::vector<Loss> entries;  // in the order of their first rows

  void add(std::string_view what, std::uint64_t count) {
    if (count == 0) return;
    const auto known = std::find_if(entries.begin(), entries.end(),
                                    [&](const Loss& loss) { return loss.what == what; });
    if (known != entries.end()) {
      known->count += count;
    } else {
      entries.push_back({std::string(what), count});
    }
  }
};

}  // namespace npuscope
