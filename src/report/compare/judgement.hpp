// Gates that were judged, of a comparison or of a run alone, and what is said of them.
//
//   Judgement judgement = …;
//   any_gate_failed(judgement)               // the exit status is 1
//   gate_sentence(judgement.gates[0])        // "gate 'wall > +3%' failed: 64,829 -> 70,015 cycles
//   …"
#pragma once

#include <string>
#include <vector>

#include "npuscope/analysis/gate.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

enum class Inconclusive : std::uint8_t { fail, warn, pass };  // what becomes of such a gate

struct JudgedGate {
  analysis::Gate gate;
  analysis::GateResult result;
  Inconclusive inconclusive = Inconclusive::fail;

  bool fails() const;  // also an inconclusive one, where that is a failure
};

// A gate that cannot be judged: what it asks for is not there, or its limit is in another unit.
struct UnjudgedGate {
  analysis::Gate gate;
  std::string sentence;  // why, and the nearest names
};

struct Judgement {
  std::vector<JudgedGate> gates;
  std::vector<UnjudgedGate> unjudged;

  bool empty() const { return gates.empty() && unjudged.empty(); }
};

bool any_gate_failed(const Judgement& judgement);

// "'wall > +3%'", "latency budget ('latency < 3ms')".
std::string gate_name(const analysis::Gate& gate);
std::string gate_sentence(const JudgedGate& judged);

// "1 of 3 gates failed, 1 inconclusive, 1 not judged; "; empty without gates.
std::string gates_text(const Judgement& judgement);

// "; needs at least 2 more samples a side"; empty for a gate that is decided.
std::string doubt_text(const analysis::GateResult& result);

Section gates_section(const Judgement& judgement);

// Gates as the log of a GitHub job shows them.

// A workflow command for each gate that did not pass: those that failed, then those without an
// outcome, then those that could not be judged.
//
//   ::error title=wall > +3%::gate 'wall > +3%25' failed: 64,829 -> 70,015 cycles, +8.0 %25
std::vector<std::string> github_annotations(const Judgement& judgement);

}  // namespace npuscope::report
