// The words of an advice. What a user can do differs by architecture: there is no VTCM in a
// SigmaStar IPU, and nobody slices its kernels over threads.
//
//   finding.advice = context.words({.usual = "… tensors that stay in VTCM are not read twice.",
//                                   .sigmastar_ipu = "… fused operators hand their results on …"});
#pragma once

#include <cstdint>

#include "npuscope/profile/profile.hpp"

namespace npuscope::analysis {

// Whose words are right.
enum class Vocabulary : std::uint8_t { usual, sigmastar_ipu };

// By the format that the reader of the profile says it is of.
Vocabulary vocabulary_of(const Provenance& provenance);

struct Wording {
  const char* usual;
  const char* sigmastar_ipu = nullptr;  // none: the usual words are right there too

  const char* in(Vocabulary vocabulary) const {
    return vocabulary == Vocabulary::sigmastar_ipu && sigmastar_ipu != nullptr ? sigmastar_ipu
                                                                               : usual;
  }
};

}  // namespace npuscope::analysis
