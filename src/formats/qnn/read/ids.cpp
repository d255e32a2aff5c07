#include "formats/qnn/read/ids.hpp"

#include <charconv>

namespace npuscope::qnn {

std::optional<std::uint64_t> parse_id(std::string_view text) {
  if (!text.starts_with("0x") && !text.starts_with("0X")) return std::nullopt;
  text.remove_prefix(2);
  std::uint64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id, 16);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return id;
}

}  // namespace npuscope::qnn
