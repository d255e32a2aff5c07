// Text of damaged traces: taken apart at what is sound, and mended where nobody can doubt what was
// meant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace npuscope::chrome {

// Where to go on behind a broken event: at the next { that follows a }, a comma and white space,
// and is followed by a string. In a sound event that only stands between objects of an array.
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

// Takes a damaged list of events apart, one JsonChecker run after the other: sound events, and the
// stretches between them that are not.
struct Piece {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool sound = false;
  bool mendable = false;  // sound once `mended`
};

struct CarefulSplit {
  std::vector<Piece> pieces;
  std::size_t end = 0;                  // of the last piece, or of what separates it from the next
  std::optional<std::size_t> list_end;  // of the ] that ends the list
  // Whether the last piece is broken and nothing after it looks like an event; `resync` then looks
  // on in what follows the text.
  bool lost = false;
  Resync resync;
};

// What follows `end` is an event without an end. The text is looked at once, however broken.
CarefulSplit split_carefully(std::string_view text);

// What writers of traces get wrong without a doubt of what they meant: control characters in
// strings as they are, and a comma before a closing bracket.
//
//   mended("{\"name\":\"a\nb\",\"args\":[1,]}")  // {"name":"a\u000ab","args":[1]}

// Of a value that a lenient JsonChecker passes. Escapes that JSON does not know stay.
std::string mended(std::string_view value);

}  // namespace npuscope::chrome
