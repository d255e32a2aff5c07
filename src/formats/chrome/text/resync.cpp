#include "formats/chrome/text/resync.hpp"

namespace npuscope::chrome {
namespace {

constexpr std::uint64_t longest_gap = 4096;

}  // namespace

std::optional<std::uint64_t> Resync::look(std::string_view bytes, std::uint64_t offset,
                                          std::uint64_t earliest) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (state_ == State::nothing) i = bytes.find('}', i);
    if (i == std::string_view::npos) break;
    switch (bytes[i]) {
      case ' ':
      case '\n':
      case '\r':
      case '\t': break;
      case '}': state_ = State::closed; break;
      case ',': state_ = state_ == State::closed ? State::comma : State::nothing; break;
      case '{':
        state_ = state_ == State::comma ? State::brace : State::nothing;
        brace_ = offset + i;
        break;
      case '"':
        if (state_ == State::brace && brace_ >= earliest) {
          state_ = State::nothing;
          return brace_;
        }
        [[fallthrough]];
      default: state_ = State::nothing;
    }
  }
  // White space without end is no reason to keep it all.
  if (state_ == State::brace && offset + bytes.size() - brace_ > longest_gap) {
    state_ = State::nothing;
  }
  return std::nullopt;
}

std::uint64_t Resync::step_back(std::uint64_t end) {
  if (state_ != State::brace) return end;
  state_ = State::comma;
  return brace_;
}

}  // namespace npuscope::chrome
