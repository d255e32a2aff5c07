// What an XSpace says of XLA's ops beside their times: category, the path of the framework's
// operator, cost model. It comes from the stats of an op's metadata (devices) and from the HLO of
// the programs that the plane /host:metadata holds (the CPU has nothing else).
//
//   HloFacts facts(strings);
//   facts.add_programs(metadata_plane);
//   facts.add(module, name, plane, metadata);    // of one op, as its events come
//   facts.apply(modules, profile);               // kinds, operators, bytes and MACs of its ops
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/xplane/plane.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::xplane {

// The ops of a program out of its HLO (HloProto): what a CPU's XSpace has in place of a cost model.
//
//   const HloProgram program = decode_program(proto);
//   program.ops[0].name        // "fusion.3"
//   program.ops[0].category    // "dot fusion": it holds one product
//   program.ops[0].path        // "jit(net)/head/dot_general", of that product
//   program.ops[0].macs        // 1'048'576, from the shapes
struct HloOp {
  std::string name, category, path;
  std::string source;     // "net.py:12"
  bool is_mixed = false;  // a fusion of several operators, of which the path names the last
  double macs = -1;       // of its products; negative: it has none, or shapes do not tell
};

struct HloProgram {
  std::string module;
  std::vector<HloOp> ops;
};

// As far as the message is whole.
HloProgram decode_program(std::string_view proto);

class HloFacts {
 public:
  explicit HloFacts(StringPool& strings) : strings_(strings) {}

  void add_programs(const Plane& plane);
  // "jit_net(12)", by the number that ops of devices have; empty where unknown.
  StringId program_named(std::int64_t number) const;
  void name_program(std::string_view label);
  void add(StringId module, StringId name, const Plane& plane, const EventMetadata& metadata);
  // Ops whose kind is their module, as they came out of their events, get that of the HLO.
  void apply(const std::vector<StringId>& modules, Profile& profile) const;

 private:
  struct Fact {
    StringId category{}, path{}, source{};
    bool is_whole = true;  // the path says what all of it is, not only a fusion's last operator
    double flops = -1, macs = -1, bytes = -1, read = -1, written = -1;  // of one execution;
                                                                        // negative: unknown
  };
  static std::uint64_t key_of(StringId module, StringId name) {
    return std::uint64_t(module) << 32 | std::uint64_t(name);
  }
  void add_program(std::string_view proto, std::string_view label);
  void apply(const Fact& fact, std::uint32_t op, Profile& profile) const;
  void add_traffic(const std::vector<const Fact*>& fact_of_op, Profile& profile) const;

  StringPool& strings_;
  std::unordered_map<std::uint64_t, Fact> facts_;  // by module and name
  std::map<std::int64_t, StringId> programs_;
};

}  // namespace npuscope::xplane
