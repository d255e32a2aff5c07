// Hides whose profile it is, so that it can be shown to others: names of models, ops, tensors,
// files, processes and threads become stand-ins, and what may hold anything goes: attributes, texts
// of arguments, words of notes and of checks. Times, bytes, shapes, kinds and the names of hardware
// and of numbers stay.
//
//   NameScrubber scrubber;
//   scrubber.scrub(profile);      // "layers.3.attn" everywhere "op_17", "run.json" "file_1.json"
//
// A name has one stand-in in all profiles of a scrubber. They are numbered in the order of the ops,
// so that two runs of one compile, scrubbed apart, have the same ones.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "npuscope/profile/profile.hpp"

namespace npuscope {

class NameScrubber {
 public:
  void scrub(Profile& profile);

 private:
  struct Stand {
    const char* sort = "";
    std::map<std::string, std::string, std::less<>> names = {};
  };

  static std::string stand_in(Stand& stand, std::string_view name);
  std::string file_of(const std::string& file);

  Stand names_{"op_"}, tensors_{"tensor_"}, processes_{"process_"}, files_{"file_"},
      graphs_{"graph_"};
};

}  // namespace npuscope
