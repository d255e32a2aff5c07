// What compilers call the ops that they add themselves. Names: those of Hexagon NN graphs and of
// the Cloud AI 100 kernels, and what Torq's host does to start a program and to wait for it.
#include <array>
#include <string>

#include "analysis/graph/graph_expected.hpp"

namespace npuscope::analysis {
namespace {

struct Word {
  const char* text;
  InsertedKind kind;
};

constexpr std::array of_attributes{Word{"dma_wait", InsertedKind::wait},
                                   Word{"dma_set", InsertedKind::sync},
                                   Word{"null_exec", InsertedKind::reshape}};

// The first that a name contains.
constexpr std::array of_kinds{
    Word{"nss_start", InsertedKind::sync},
    Word{"nss_wait", InsertedKind::wait},
    Word{"host_start", InsertedKind::sync},
    Word{"host_wait", InsertedKind::wait},
    Word{"torq_hl.start_program", InsertedKind::sync},
    Word{"torq_hl.wait_program", InsertedKind::wait},
    Word{"checkpointset", InsertedKind::sync},
    Word{"syncop", InsertedKind::sync},
    Word{"semaphore", InsertedKind::sync},
    Word{"barrier", InsertedKind::sync},
    Word{"endcyclestats", InsertedKind::statistics},
    Word{"spill", InsertedKind::spill},
    Word{"@fill", InsertedKind::fill},
    Word{"fill_", InsertedKind::fill},
    Word{"forceformat", InsertedKind::format_conversion},
    Word{"flat_from_vtcm", InsertedKind::format_conversion},
    Word{"flat_to_vtcm", InsertedKind::format_conversion},
    Word{"converttod32", InsertedKind::format_conversion},
    Word{"convertfromd32", InsertedKind::format_conversion},
    Word{"convertweightstod32", InsertedKind::format_conversion},
    Word{"crouton", InsertedKind::format_conversion},
    Word{"inputslice", InsertedKind::slice},
    Word{"outputslice", InsertedKind::slice},
    Word{"_to_vtcm", InsertedKind::load},
    Word{"copytovtcm", InsertedKind::load},
    Word{"_from_vtcm", InsertedKind::store},
    Word{"copyfromvtcm", InsertedKind::store},
    Word{"multicast", InsertedKind::multicast},
    Word{"copysamevtcm", InsertedKind::copy},
    Word{"q::reshape", InsertedKind::reshape},
    Word{"q::fill", InsertedKind::fill},
};

}  // namespace

InsertedKind inserted_kind_of(std::string_view kind, std::string_view attributes) {
  for (const Word& word : of_attributes) {
    if (attributes.find(word.text) != attributes.npos) return word.kind;
  }
  std::string lower(kind);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
  for (const Word& word : of_kinds) {
    if (lower.find(word.text) != lower.npos) return word.kind;
  }
  return InsertedKind::none;
}

}  // namespace npuscope::analysis
