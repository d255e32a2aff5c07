// The card that Cloud AI 100's files are of: none of them names another.
#pragma once

#include "npuscope/profile/profile.hpp"

namespace npuscope::qaic {

inline void name_device(Provenance& provenance) {
  provenance.device = "Cloud AI 100";
  provenance.platform = Provenance::Platform::cloud_ai_100;
  provenance.target = "aic100";
}

}  // namespace npuscope::qaic
