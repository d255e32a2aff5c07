// An ONNX Runtime session next to what its execution provider wrote of the graphs that it took: the
// session names them, and says what of an inference they are.
#pragma once

#include <string>

#include "formats/open_table.hpp"

namespace npuscope {

// Whether the session is that in which a compiler estimated graphs that are open: it ran them in
// the host's emulation, so that none of its times is the NPU's. What it left to the CPU stands
// there.
bool joins_estimates(const Profile& session, const std::string& file, OpenRun& run);

// Graphs of a csv in the same folder, as many as the session ran and as often, get their names
// where the csv only numbers them, and what an inference and the graph's node took in the session.
void join_session(const Profile& session, const std::string& file, OpenRun& run);

}  // namespace npuscope
