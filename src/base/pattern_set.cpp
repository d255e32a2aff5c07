#include "base/pattern_set.hpp"

#include <re2/set.h>

#include <new>

#include "base/without_unwinding.hpp"
#include "npuscope/base/pattern.hpp"

namespace npuscope {

struct PatternSet::Compiled {
  RE2::Set set;
};

PatternSet::PatternSet() {
  constexpr std::int64_t max_bytes = 32 << 20;  // of the patterns and of what is learnt of texts
  RE2::Options options;
  options.set_log_errors(false);  // a library does not print
  options.set_never_capture(true);
  options.set_max_mem(max_bytes);
  compiled_ = std::make_unique<Compiled>(RE2::Set(options, RE2::UNANCHORED));
}

PatternSet::~PatternSet() = default;
PatternSet::PatternSet(PatternSet&&) noexcept = default;
PatternSet& PatternSet::operator=(PatternSet&&) noexcept = default;

Result<std::size_t> PatternSet::add(std::string_view where, std::string_view text) {
  int number = -1;
  without_unwinding(
      [&] { number = compiled_->set.Add(re2::StringPiece(text.data(), text.size()), nullptr); });
  if (number < 0) {
    const auto pattern = Pattern::compile(where, text);
    if (!pattern) return tl::unexpected(pattern.error());
    return usage_error("{} '{}': the regular expression is too large; repeat less in it", where,
                       text);
  }
  texts_.push_back({std::string(where), std::string(text)});
  return std::size_t(number);
}

Status PatternSet::compile(std::string_view where) {
  bool is_compiled = false;
  without_unwinding([&] { is_compiled = compiled_->set.Compile(); });
  if (is_compiled) return {};
  for (const Text& each : texts_) {
    const auto pattern = Pattern::compile(each.where, each.text);
    if (!pattern) return tl::unexpected(pattern.error());
  }
  return usage_error("{}: the regular expressions are too large together; repeat less in them",
                     where);
}

void PatternSet::find(std::string_view text, std::vector<int>& found) const {
  RE2::Set::ErrorInfo error{};
  found.clear();
  compiled_->set.Match(re2::StringPiece(text.data(), text.size()), &found, &error);
  if (error.kind == RE2::Set::kOutOfMemory) throw std::bad_alloc();
}

}  // namespace npuscope
