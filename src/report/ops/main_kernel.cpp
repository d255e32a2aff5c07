#include "report/ops/main_kernel.hpp"

#include <fmt/format.h>

#include "profile/names.hpp"

namespace npuscope::report {

Value main_kernel(const Profile& profile, const analysis::OpRow& row) {
  if (row.kinds == 1 && row.kind != row.label) return profile.text(row.kind);
  if (row.main_kind == StringId::empty || row.kinds < 2) return {};
  const std::string kind(profile.text(row.main_kind));
  constexpr double nearly_all = 0.995;
  return row.main_share >= nearly_all ? kind
                                      : fmt::format("{} {:.0f} %", kind, 100 * row.main_share);
}

Value engines_of(const analysis::OpRow& row) {
  std::string text;
  for (const Engine engine : row.engines) {
    text += (text.empty() ? "" : "+") + std::string(name_of(engine));
  }
  return text.empty() ? Value() : Value(text);
}

}  // namespace npuscope::report
