// What makes two runs, ops or units the same, in whichever store and whoever adds them: hashes of
// what they are, never of where they lie.
//
//   ContentHashes hashes;
//   hashes.of_file("a/trace.json.gz")       // as of b/trace.json that holds the same
//   id_of("MatMul_0", "aicmatmul")          // 63 bits
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "fleet/rows.hpp"
#include "npuscope/analysis/match_ops.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::fleet {

// Of texts that are told apart by where each ends.
Id id_of(std::string_view first, std::string_view second);

// Hashes the content of files, each once.
class ContentHashes {
 public:
  // 32 hexadecimal digits of the decompressed content.
  Result<std::string> of_file(const std::string& path);
  // Of a profile that was read from these files, the `place`th of those read from the same ones.
  Result<std::string> of_profile(std::span<const std::string> files, std::size_t place);

 private:
  std::map<std::string, std::string> known_;
};

// The number that stands for such a hash.
Id id_of_content(const std::string& content);

// The compiled graph, whatever the order of its ops and the ordinals in their names; empty: there
// are no ops.
std::string graph_hash(const analysis::OpGroups& groups);

}  // namespace npuscope::fleet
