#include "npu/targets/nsp/compile/pmu_event_list.hpp"

#include <string_view>

#include "base/numbers.hpp"
#include "profile/pmu_events.hpp"

namespace npuscope::npu::nsp {
namespace {

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

Result<std::vector<std::uint32_t>> parse_pmu_events(std::string_view list) {
  std::vector<std::uint32_t> codes;
  for (std::string_view part : split(list)) {
    if (const PmuEventInfo* known = find_pmu_event(part)) {
      codes.push_back(known->code);
      continue;
    }
    if (part.starts_with("0x") || part.starts_with("0X")) part.remove_prefix(2);
    const auto code = parse_number<std::uint32_t>(part, 16);
    if (!code) {
      return usage_error(
          "-aic-pmu-events={}: '{}' is neither the name nor the hexadecimal code of an event", list,
          part);
    }
    codes.push_back(*code);
  }
  if (codes.size() > 8) {
    return usage_error("-aic-pmu-events={}: {} events; the hardware counts at most 8 at once", list,
                       codes.size());
  }
  return codes;
}

}  // namespace npuscope::npu::nsp
