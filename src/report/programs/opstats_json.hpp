// The JSON twin of the statistics summary (.qaic-opstats.summary.json): the same figures, from the
// same struct, with the notes of the decoder. Keys: docs/formats/opstats.md.
//
//   {"network": "QAicGraph", "batch_size": 8, …, "cores": [{"core": 0, "ops": [{"kind": …}]}]}
#pragma once

#include <span>
#include <string>

#include "formats/qaic/opstats/opstats_summary.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::report {

// Ends with a line break. What is unknown (a rate without output, a utilisation without operator
// records) is null.
std::string opstats_json(const qaic::OpstatsSummary& summary, std::span<const Note> notes);

}  // namespace npuscope::report
