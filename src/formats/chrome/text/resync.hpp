// Where to go on behind a broken event: at the next { that follows a }, a comma and white space,
// and is followed by a string. In a sound event that only stands between objects of an array.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace npuscope::chrome {

class Resync {
 public:
  // Looks on in the next bytes, which begin at byte `offset` of the text; the place of the { once
  // it is found, if that is not before `earliest`.
  std::optional<std::uint64_t> look(std::string_view bytes, std::uint64_t offset,
                                    std::uint64_t earliest);
  // Steps back to the { of an unfinished pattern at the end of what was looked at, which then is to
  // be looked at again; else `end`.
  std::uint64_t step_back(std::uint64_t end);

 private:
  enum class State : std::uint8_t { nothing, closed, comma, brace };
  State state_ = State::nothing;
  std::uint64_t brace_ = 0;
};

}  // namespace npuscope::chrome
