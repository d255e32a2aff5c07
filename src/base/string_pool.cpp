#include "npuscope/base/string_pool.hpp"

namespace npuscope {

StringPool::StringPool() { intern(""); }

StringPool::StringPool(const StringPool& other) { *this = other; }

StringPool& StringPool::operator=(const StringPool& other) {
  if (this == &other) return *this;
  texts_ = other.texts_;
  ids_.clear();
  for (std::size_t i = 0; i < texts_.size(); ++i) ids_.emplace(texts_[i], StringId(i));
  return *this;
}

StringId StringPool::intern(std::string_view text) {
  if (auto found = ids_.find(text); found != ids_.end()) return found->second;
  const auto id = StringId(texts_.size());
  texts_.emplace_back(text);
  ids_.emplace(texts_.back(), id);
  return id;
}

}  // namespace npuscope
