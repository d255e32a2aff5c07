// What a generic profile makes of marks: instants, asynchronous events as spans, counters.
#pragma once

#include <cstdint>

#include "formats/chrome/events.hpp"
#include "formats/chrome/pair_table.hpp"
#include "formats/chrome/profile/unit_table.hpp"
#include "formats/chrome/shape_table.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::chrome {

// An op for each distinct name and category.
class OpTable {
 public:
  explicit OpTable(Profile& profile) : profile_(profile) {}
  OpId op(StringId name, StringId category);

 private:
  Profile& profile_;
  PairTable pairs_;
};

// Adds rows behind those of the slices. `shapes` numbers the shapes of the spans' arguments.
void add_mark_rows(const Events& events, const UnitTable& units, OpTable& ops, ShapeTable& shapes,
                   Profile& profile);

}  // namespace npuscope::chrome
