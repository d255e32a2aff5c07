// The profile of Qualcomm's Genie, its runtime of language models (genie-t2t-run --profile FILE,
// GenieProfile_getJsonData): what each call took, and of each query its tokens.
//
//   {"header": {"artifact_type": "GENIE_PROFILE", …}, "metadata": {"timestamp": 812},
//    "components": [{"name": "dialog0", "type": "dialog", "events": [
//      {"type": "GenieDialog_create", "start": 900, "stop": 269860, "duration": 268960,
//       "init-time": {"value": 268000, "unit": "us"}},
//      {"type": "GenieDialog_query", "start": 270000, "stop": 410000, "duration": 140000,
//       "num-prompt-tokens": {"value": 698, "unit": ""}, …}, …]}, …]}
//
//   auto profile = genie::read_profile_json(*source);
//
// Times are whole microseconds. Source: docs/formats/genie.md.
#pragma once

#include <string_view>

#include "npuscope/base/byte_source.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::genie {

bool looks_like_profile_json(std::string_view head);
Result<Profile> read_profile_json(ByteSource& source);

}  // namespace npuscope::genie
