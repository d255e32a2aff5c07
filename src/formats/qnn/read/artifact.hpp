// One file of a set, read, with what was lost on the way; and the files of one set together.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "formats/qnn/assemble/sets.hpp"
#include "formats/qnn/read/estimate.hpp"
#include "formats/qnn/read/framework_trace.hpp"
#include "formats/qnn/read/htp_graph.hpp"
#include "formats/qnn/read/op_trace.hpp"
#include "formats/qnn/read/qhas.hpp"
#include "formats/qnn/read/run_trace.hpp"
#include "formats/qnn/read/schematic.hpp"
#include "formats/qnn/read/viewer.hpp"
#include "profile/counted_notes.hpp"

namespace npuscope::qnn {

struct Artifact {
  std::size_t order = 0;  // in which it was read
  Kind kind = Kind::none;
  CountedNotes losses;
  std::variant<std::monostate, OpTrace, RunTrace, HtpGraph, Qhas, ViewerOutput, Estimate,
               EstimateRows, Schematic, FrameworkTrace>
      content;

  const std::string& file() const { return losses.file(); }
  template <class Content>
  Content* get() {
    return std::get_if<Content>(&content);
  }
  template <class Content>
  const Content* get() const {
    return std::get_if<Content>(&content);
  }
};

// At most one artifact of each kind.
struct ArtifactSet {
  std::vector<Artifact> artifacts;

  template <class Content>
  Content* find() {
    for (Artifact& artifact : artifacts) {
      if (auto* content = artifact.get<Content>()) return content;
    }
    return nullptr;
  }
  template <class Content>
  const Content* find() const {
    return const_cast<ArtifactSet*>(this)->find<Content>();
  }
};

}  // namespace npuscope::qnn
