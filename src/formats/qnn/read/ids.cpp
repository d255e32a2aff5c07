#include "formats/qnn/read/ids.hpp"

#include "base/numbers.hpp"

namespace npuscope::qnn {

std::optional<std::uint64_t> parse_id(std::string_view text) {
  if (!text.starts_with("0x") && !text.starts_with("0X")) return std::nullopt;
  return parse_number<std::uint64_t>(text.substr(2), 16);
}

}  // namespace npuscope::qnn
