// A comparison as a document and as a comment for a pull request.
//
//   A            before.json (1 run)
//   B            after.json (1 run)
//   verdict      1 of 2 gates failed; wall 64,829 -> 70,015 cycles, +8.0 % (one sample a side)
//
//   GATES
//   gate        outcome  measured
//   wall > +3%  failed   64,829 -> 70,015 cycles, +8.0 % (one sample a side)
//
//   NUMBERS in cycles
//   number         kind        A       B   delta  change
//   wall           wall   64,829  70,015   5,186  +8.0 %
//
//   OPS by work, in cycles
//   change  op         kernel       A       B  delta  change
//   slower  MatMul_0   conv    32,707  37,893  5,186  +15.9 %
#pragma once

#include <span>
#include <string>
#include <vector>

#include "npuscope/analysis/gate.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

struct JudgedGate {
  analysis::Gate gate;
  analysis::GateResult result;
};

// A gate that cannot be judged: what it asks for is not there, or its limit is in another unit.
struct UnjudgedGate {
  std::string text;
  std::string sentence;  // why, and the nearest names
};

enum class Inconclusive : std::uint8_t { fail, warn, pass };  // what becomes of such a gate

struct Diff {
  analysis::Comparison comparison;
  std::vector<JudgedGate> gates;
  std::vector<UnjudgedGate> unjudged;
  Inconclusive inconclusive = Inconclusive::fail;
  std::vector<const Profile*> a, b;  // the runs
  std::uint64_t left_out[2] = {};    // profiles of other formats and graphs
  std::string selection;             // what the profiles were cut down to; empty: they are whole
};

// Also an inconclusive one, where that is a failure.
bool any_gate_failed(const Diff& diff);

// "gate 'wall > +3%' failed: 64,829 -> 70,015 cycles, +8.0 % (one sample a side)".
std::string gate_sentence(const JudgedGate& judged);

Document diff_document(const Diff& diff);

// A comment of GitHub's Markdown: the verdict, the gates, the numbers that changed and the ops that
// did, names escaped.
std::string diff_markdown(const Diff& diff);

}  // namespace npuscope::report
