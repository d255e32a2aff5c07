#include "analysis/findings/wording.hpp"

#include <algorithm>
#include <iterator>

namespace npuscope::analysis {
namespace {

// How Provenance::format begins; a format without a row has the usual words, those of Hexagon.
struct FormatWords {
  std::string_view format;
  Vocabulary vocabulary;
};
constexpr FormatWords formats_with_words[] = {
    {"SigmaStar IPU timeline", Vocabulary::sigmastar_ipu},
    {"OpenVINO", Vocabulary::neutral},
    {"Torq", Vocabulary::neutral},
    {"Chrome trace", Vocabulary::neutral},
    {"Perfetto trace", Vocabulary::neutral},
};

}  // namespace

Vocabulary vocabulary_of(const Provenance& provenance) {
  const auto* row = std::find_if(
      std::begin(formats_with_words), std::end(formats_with_words),
      [&](const FormatWords& each) { return provenance.format.starts_with(each.format); });
  return row == std::end(formats_with_words) ? Vocabulary::usual : row->vocabulary;
}

}  // namespace npuscope::analysis
