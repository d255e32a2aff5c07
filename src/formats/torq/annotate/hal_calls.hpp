// The calls of the HAL of a log, event by event.
//
// As the vendor pairs them: within an invocation and a name an end belongs to the last open begin;
// what has no partner has happened, at the time that is known of it. A call as a whole stands only
// where nothing inside it is logged.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "formats/torq/annotate/annotate.hpp"
#include "formats/torq/annotate/invocation_numbers.hpp"

namespace npuscope::torq {

inline bool is_hal(std::string_view dispatch) { return dispatch.starts_with("__HAL"); }

class HalCalls {
 public:
  explicit HalCalls(const StringPool& strings) : strings_(strings) {}

  void take(const LogEvent& event);
  // Events without a partner.
  std::uint64_t without_partner() const { return ends_without_begin_ + open_count_; }
  // Invocation by invocation, those of one by begin. Once.
  std::vector<HalCall> finish();

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Call {
    std::int64_t begin_us = 0, end_us = 0;
    StringId type{};
    std::uint32_t invocation = 0;
    std::int32_t action = no_action;
    std::uint32_t before = none;  // of its invocation and type: open when this one began
  };
  struct Invocation {
    StringId dispatch{};  // of its first event
    bool has_details = false;
  };

  bool is_whole(StringId type) const { return strings_[type] == "HAL_CALL"; }

  const StringPool& strings_;
  InvocationNumbers numbers_;
  std::vector<Invocation> invocations_;
  std::vector<Call> calls_;
  std::unordered_map<std::uint64_t, std::uint32_t> open_;  // the last, by invocation and type
  std::uint64_t open_count_ = 0;
  std::uint64_t ends_without_begin_ = 0;
};

}  // namespace npuscope::torq
