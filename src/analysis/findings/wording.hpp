// The words of an advice. What a user can do differs by architecture: there is no VTCM in a
// SigmaStar IPU, and nobody slices its kernels over threads. Words of one vendor's hardware (VTCM,
// HVX, burst profiles) are said of that vendor's profiles only.
//
//   finding.advice = context.words({.usual = "… tensors that stay in VTCM are not read twice.",
//                                   .sigmastar_ipu = "… fused operators hand their results on …"});
#pragma once

#include <cstdint>

#include "npuscope/profile/profile.hpp"

namespace npuscope::analysis {

// Whose words are right.
enum class Vocabulary : std::uint8_t { usual, sigmastar_ipu, neutral };

// By the format that the reader of the profile says it is of.
Vocabulary vocabulary_of(const Provenance& provenance);

struct Wording {
  const char* usual;
  const char* sigmastar_ipu = nullptr;  // none: the usual words are right there too
  const char* neutral = nullptr;        // of hardware that the trace does not name; as above

  const char* in(Vocabulary vocabulary) const {
    const char* other = vocabulary == Vocabulary::sigmastar_ipu ? sigmastar_ipu
                        : vocabulary == Vocabulary::neutral     ? neutral
                                                                : nullptr;
    return other != nullptr ? other : usual;
  }
};

}  // namespace npuscope::analysis
