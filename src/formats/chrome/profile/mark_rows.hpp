// What a generic profile makes of marks: instants, asynchronous events as spans, counters.
#pragma once

#include <array>
#include <cstdint>

#include "formats/chrome/events.hpp"
#include "formats/chrome/numbering.hpp"
#include "formats/chrome/profile/lanes.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::chrome {

// An op for each distinct name and category.
class OpTable {
 public:
  explicit OpTable(Profile& profile) : profile_(profile) {
    // No name: one that no slot but its own could have.
    recent_.fill({StringId(1), {}, {}});
    recent_[1] = {};
  }
  // Those that came lately are found by their name.
  OpId op(StringId name, StringId category) {
    Recent& recent = recent_[std::uint32_t(name) % recent_.size()];
    if (recent.name != name || recent.category != category) {
      recent = {name, category, new_op(name, category)};
    }
    return recent.op;
  }

 private:
  struct Recent {
    StringId name{};
    StringId category{};
    OpId op{};
  };
  OpId new_op(StringId name, StringId category);

  Profile& profile_;
  PairTable pairs_;
  std::array<Recent, 1024> recent_;
};

// Adds rows behind those of the slices. `shapes` numbers the shapes of the spans' arguments.
void add_mark_rows(const Events& events, const UnitTable& units, OpTable& ops, ShapeTable& shapes,
                   Profile& profile);

}  // namespace npuscope::chrome
