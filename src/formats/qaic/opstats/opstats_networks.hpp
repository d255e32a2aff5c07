// The networks of a QPC, ready to decode buffers against.
#pragma once

#include <vector>

#include "formats/qaic/opstats/opstats_files.hpp"
#include "formats/qaic/stats/stats_decoder.hpp"
#include "npuscope/base/files.hpp"

namespace npuscope::qaic {

struct OpstatsNetwork {
  std::string label;  // network name, or QAicGraph_slice00 for one device's part
  bool has_program = false;
  StatsNetwork network;
  // Of a program for other hardware than the card: "htp-v73", "Hexagon Tensor Processor v73".
  std::string target = {}, device = {};

  void name_hardware(Provenance& provenance) const;
};

struct OpstatsNetworks {
  std::vector<OpstatsNetwork> networks;
  std::vector<Error> problems;  // networks that cannot be used

  std::string names() const;  // for messages
  // Decodes with the network that the buffer belongs to, found by its file's name, its own text and
  // its fingerprint; `label` tells which it was.
  Result<Profile> decode(ByteSpan bytes, const StatsBufferFile& file, std::string& label) const;
};

// An input error when there is no usable network at all.
Result<OpstatsNetworks> load_networks(ByteSpan bytes, const std::string& file, bool dependencies);

}  // namespace npuscope::qaic
