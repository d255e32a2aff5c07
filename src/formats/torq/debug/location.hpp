// Source locations as MLIR prints them: where in the model's file an operation came from.
//
//   Locations locations;
//   locations.define("#loc1", R"(loc("add.mlir":4:10))");
//   const auto id = locations.parse(R"(loc(fused[callsite(#loc1 at "add.mlir":2:3), "b":3:4]))");
//   locations.brief(*id)   "@L4C10+@L3C4"                  of a call site the callee
//   locations.files(*id)   add.mlir 4:10, add.mlir 2:3, b 3:4
//
// Grammar: loc( unknown | ? | "file":line:column [to line:column] | "name"[(child)] |
// callsite(A at B) | fused[<metadata>][A, B, …] | #alias ). Text behind the last parenthesis is
// ignored. Locations nested more than 256 deep, and aliases that name themselves, are errors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "npuscope/base/result.hpp"

namespace npuscope::torq {

struct FileLocation {
  std::string file;
  std::uint32_t line = 0;  // from 1
  std::uint32_t column = 0;
  bool operator==(const FileLocation&) const = default;
};

enum class LocationId : std::uint32_t { unknown = 0 };

class Locations {
 public:
  Locations();

  // `alias` with its #; `text` as in parse(). Read only when something refers to it.
  void define(std::string_view alias, std::string_view text);

  Result<LocationId> parse(std::string_view text);

  // As the vendor's annotation prints it: lines and columns, names, "loc(unknown)"; parts of a
  // fused location are joined by "+". At most 4,096 parts.
  std::string brief(LocationId id) const;

  // The places in files: of a call site the callee's, then the caller's; of a fused location all,
  // in order. What a name stands for is left out unless asked for, as the vendor's tools do. At
  // most 4,096.
  std::vector<FileLocation> files(LocationId id, bool through_names = false) const;

 private:
  friend class LocationParser;

  enum class Kind : std::uint8_t { unknown, file, name, call_site, fused };
  struct Node {
    Kind kind = Kind::unknown;
    std::uint32_t depth = 1;
    FileLocation place{};  // of a name, `file` is the name
    std::vector<LocationId> children{};
  };
  struct Alias {
    std::string text;
    LocationId id{};
    enum class State : std::uint8_t { unread, reading, read } state = State::unread;
  };

  Result<LocationId> parse_within(std::string_view text, std::uint32_t depth);
  Result<LocationId> resolve(std::string_view alias, std::uint32_t depth);
  void append_brief(LocationId id, std::size_t& parts, std::string& text) const;
  void append_files(LocationId id, bool through_names, std::size_t& parts,
                    std::vector<FileLocation>& files) const;
  const Node& at(LocationId id) const { return nodes_[std::size_t(id)]; }

  std::vector<Node> nodes_;
  std::unordered_map<std::string, Alias> aliases_;
};

}  // namespace npuscope::torq
