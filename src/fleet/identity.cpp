#include "fleet/identity.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>
#include <vector>

#include "analysis/ops/row_names.hpp"
#include "base/numbers.hpp"
#include "base/try.hpp"
#include "npuscope/base/byte_source.hpp"

namespace npuscope::fleet {
namespace {

std::string hexadecimal(XXH128_hash_t hash) {
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string hash_of_text(std::string_view text) {
  return hexadecimal(XXH3_128bits(text.data(), text.size()));
}

struct FreeState {
  void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
};

}  // namespace

Id id_of(std::string_view first, std::string_view second) {
  const std::string text = fmt::format("{}:{}{}", first.size(), first, second);
  return Id(XXH3_64bits(text.data(), text.size()) >> 1);
}

Id id_of_content(const std::string& content) {
  const auto high = parse_number<std::uint64_t>(std::string_view(content).substr(0, 16), 16);
  return Id(high.value_or(0) >> 1);
}

Result<std::string> ContentHashes::of_file(const std::string& path) {
  if (const auto found = known_.find(path); found != known_.end()) return found->second;
  TRY_AS(source, open_byte_source(path));
  const std::unique_ptr<XXH3_state_t, FreeState> state(XXH3_createState());
  XXH3_128bits_reset(state.get());
  std::vector<char> buffer(1 << 18);
  for (;;) {
    const auto count = (*source)->read(buffer);
    // Of a broken archive what came before is read, so it is what the run is of.
    if (!count || *count == 0) break;
    XXH3_128bits_update(state.get(), buffer.data(), *count);
  }
  return known_[path] = hexadecimal(XXH3_128bits_digest(state.get()));
}

Result<std::string> ContentHashes::of_profile(std::span<const std::string> files,
                                              std::size_t place) {
  std::vector<std::string> hashes;
  for (const std::string& file : files) {
    TRY_AS(hash, of_file(file));
    hashes.push_back(std::move(*hash));
  }
  std::sort(hashes.begin(), hashes.end());
  return hash_of_text(fmt::format("{}\n{}", fmt::join(hashes, "\n"), place));
}

std::string graph_hash(const analysis::OpGroups& groups) {
  const auto key = [&](std::uint32_t at) {
    const OpGroup& group = groups.groups()[at];
    return fmt::format("{}\n{}\n{}", analysis::without_ordinals(group.label), group.kind,
                       group.shape);
  };
  std::vector<std::string> lines;
  for (std::uint32_t at = 0; at < groups.groups().size(); ++at) {
    const OpGroup& group = groups.groups()[at];
    if (group.ops == 0) continue;
    std::vector<std::string> after;
    for (const std::uint32_t next : groups.after(at)) after.push_back(key(next));
    std::sort(after.begin(), after.end());
    lines.push_back(fmt::format("{}\n{}\n{}", key(at), group.ops, fmt::join(after, "\n")));
  }
  if (lines.empty()) return "";
  std::sort(lines.begin(), lines.end());
  return hash_of_text(fmt::format("{}", fmt::join(lines, "\n\n"))).substr(0, 16);
}

}  // namespace npuscope::fleet
