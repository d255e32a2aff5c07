// --inference N: a document of one inference of a profile instead of all.
#pragma once

#include <deque>
#include <optional>

#include "cli/documents.hpp"

namespace npuscope::cli {

class OneInference {
 public:
  void add_option(CLI::App& command);

  // `make` of the inference asked for, of the whole profile where none is.
  ExitStatus print(const DocumentOptions& options, const MakeDocument& make);

 private:
  Result<report::Document> document_of(const Profile& whole, const DocumentOptions& options,
                                       const MakeDocument& make);

  std::optional<std::uint32_t> inference_;
  std::deque<Profile> parts_;  // documents refer to them
};

}  // namespace npuscope::cli
