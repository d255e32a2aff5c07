// How target files are read: every field with its bounds, whatever the architecture. Each
// architecture names its fields, the rest is here.
//
//   Result<IpuTarget> parse_ipu_target(std::string_view toml, const std::string& name) {
//     return read_fields<IpuTarget>(toml, name, {TargetArchitecture::ipu, …}, others, read_ipu);
//   }
//   void read_ipu(TargetReader& in, IpuTarget& target) {
//     in.number("clock.hz", target.clock_hz, 1e6, 1e10);
//     in.integer("cores.count", target.cores, 1, 2);
//   }
//
//   targets/ipu-muffin.toml:20: clock.hz must be between 1000000 and 10000000000
#pragma once

#include <toml++/toml.h>

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/try.hpp"
#include "npu/core/target_file.hpp"

namespace npuscope::npu {

// With the values of what it is based on, if it has the key `based_on`, under its own. An input
// error says where the text is no TOML.
Result<toml::table> read_toml(std::string_view toml, const std::string& name);

// The text of a table.
std::string written(const toml::table& root);

// From the key `architecture`; without it, nsp.
Result<TargetArchitecture> architecture_of(const toml::table& root, const std::string& name);

// Reads fields from one TOML document and keeps the first error, with its line.
class TargetReader {
 public:
  // `remembers` what it was asked for, for refuse_others().
  TargetReader(const toml::table& root, std::string name, bool remembers)
      : root_(root), name_(std::move(name)), remembers_(remembers) {}

  bool has(std::string_view path) { return bool(take(path)); }
  bool has_table(std::string_view path) { return take(path).is_table(); }
  // Null where it is none.
  const toml::array* array(std::string_view path) { return take(path).as_array(); }

  void text(std::string_view path, std::string& out);
  void boolean(std::string_view path, bool& out);
  void number(std::string_view path, double& out, double min, double max);

  template <class Integer>
  void integer(std::string_view path, Integer& out, double min, double max) {
    double value = 0;
    number(path, value, min, max);
    if (value != std::floor(value)) return fail(path, "a whole number");
    out = Integer(value);
  }

  // A table of numbers by name.
  void numbers(std::string_view path, std::map<std::string, double, std::less<>>& out, double min,
               double max);

  void fail(std::string_view path, std::string_view expected);

  // Fails at the first field that was not asked for: what is misspelt would change nothing.
  void refuse_others();

  const toml::table& root() const { return root_; }
  const std::string& error() const { return error_; }

 private:
  toml::node_view<const toml::node> take(std::string_view path) {
    if (remembers_) asked_for_.emplace(path);
    return root_.at_path(path);
  }
  void refuse_others(const toml::node& node, const std::string& path);

  const toml::table& root_;
  std::string name_;
  const bool remembers_;
  std::string error_;
  std::set<std::string, std::less<>> asked_for_;
};

// What a file has to describe for its reader. A file of another architecture is an error of the
// kind `error`: "x.toml: it describes a SigmaStar IPU; this needs `needed`".
struct WantedTarget {
  TargetArchitecture architecture = TargetArchitecture::nsp;
  ErrorKind error = ErrorKind::input;
  std::string needed;
};

// `allowed` where a program holds the text, as an older version may have written it, and of
// built-in targets, whose fields tests have tried.
enum class OtherFields : bool { refused, allowed };
inline OtherFields other_fields_of(const TargetFile& file) {
  return file.is_builtin ? OtherFields::allowed : OtherFields::refused;
}

Result<toml::table> read_toml_of(const WantedTarget& wanted, std::string_view toml,
                                 const std::string& name);

// All targets have a name and a description, and keep the text that they were read from, with what
// it is based on.
template <class Target>
Result<Target> read_fields(std::string_view toml, const std::string& name,
                           const WantedTarget& wanted, OtherFields others,
                           void (*read)(TargetReader&, Target&)) {
  TRY_AS(root, read_toml_of(wanted, toml, name));
  const bool is_based = root->erase("based_on") > 0;
  Target target;
  const bool refuses = others == OtherFields::refused;
  TargetReader in(*root, name, refuses);
  in.text("name", target.name);
  in.text("description", target.description);
  read(in, target);
  if (refuses) in.refuse_others();
  if (!in.error().empty()) return input_error("{}", in.error());
  target.toml = is_based ? written(*root) : std::string(toml);
  return target;
}

}  // namespace npuscope::npu
