#include "npuscope/profile/arguments.hpp"

namespace npuscope {

std::optional<double> Argument::as_number() const {
  switch (key.type) {
    case ArgumentType::integer: return double(integer());
    case ArgumentType::unsigned_integer: return double(unsigned_integer());
    case ArgumentType::number: return number();
    default: return std::nullopt;
  }
}

std::optional<Argument> Arguments::find(std::size_t row, StringId name) const {
  for (std::size_t place = 0; place < count(row); ++place) {
    if (shapes[shape[row]][place].name == name) return at(row, place);
  }
  return std::nullopt;
}

}  // namespace npuscope
