#include "report/compare/gate_file.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include "base/near_names.hpp"
#include "report/compare/gate_text.hpp"

namespace npuscope::report {
namespace {

constexpr std::size_t max_gates = 1'000;

class GateFileReader {
 public:
  explicit GateFileReader(const std::string& file) : file_(file) {}

  Result<GateFile> read(const toml::table& all) {
    for (const auto& [key, node] : all) {
      const Status taken = take(key.str(), node);
      if (!taken) return tl::unexpected(taken.error());
    }
    if (read_.gates.empty()) {
      return usage_error(
          "{}: it has no gate; begin one with [[gate]] and give it fail_if or require", file_);
    }
    return std::move(read_);
  }

 private:
  std::string place_of(const toml::node& node) const {
    return fmt::format("{}:{}", file_, node.source().begin.line);
  }

  template <class... Args>
  tl::unexpected<Error> wrong(const toml::node& node, fmt::format_string<Args...> text,
                              Args&&... args) const {
    return usage_error("{}: {}", place_of(node), fmt::format(text, std::forward<Args>(args)...));
  }

  Status take(std::string_view key, const toml::node& node) {
    if (key == "inconclusive") return policy(node, read_.inconclusive);
    if (key != "gate") {
      return wrong(node, "'{}' is unknown{}; the file has inconclusive and [[gate]]", key,
                   did_you_mean("inconclusive, gate", key));
    }
    const toml::array* gates = node.as_array();
    if (gates == nullptr) return wrong(node, "write [[gate]], with two brackets");
    if (gates->size() > max_gates) {
      return wrong(node, "more than {} gates; keep those that matter", max_gates);
    }
    for (const toml::node& each : *gates) {
      const toml::table* table = each.as_table();
      if (table == nullptr) return wrong(each, "a gate is a table: [[gate]]");
      const Status added = add(*table);
      if (!added) return added;
    }
    return {};
  }

  Status add(const toml::table& table) {
    GateFile::Entry entry;
    const toml::node* fail_if = table.get("fail_if");
    const toml::node* require = table.get("require");
    if ((fail_if == nullptr) == (require == nullptr)) {
      return wrong(table, "a gate has either fail_if or require, {}",
                   fail_if == nullptr ? "this one has none" : "not both");
    }
    const toml::node& condition = fail_if != nullptr ? *fail_if : *require;
    const char* word = fail_if != nullptr ? "fail_if" : "require";
    std::string written;
    if (const Status read = text(condition, word, written); !read) return read;
    auto gate = read_gate(written, fail_if != nullptr ? GateForm::fail_if : GateForm::require,
                          fmt::format("{}: {}", place_of(condition), word));
    if (!gate) return tl::unexpected(gate.error());
    entry.gate = std::move(*gate);
    for (const auto& [key, node] : table) {
      Status taken;
      if (key.str() == "name") {
        taken = text(node, key.str(), entry.gate.name);
      } else if (key.str() == "reason") {
        taken = text(node, key.str(), entry.gate.reason);
      } else if (key.str() == "inconclusive") {
        taken = policy(node, entry.inconclusive);
      } else if (&node != &condition) {
        return wrong(node,
                     "'{}' is unknown{}; a gate has fail_if or require, name, reason and "
                     "inconclusive",
                     key.str(),
                     did_you_mean("fail_if, require, name, reason, inconclusive", key.str()));
      }
      if (!taken) return taken;
    }
    read_.gates.push_back(std::move(entry));
    return {};
  }

  Status text(const toml::node& node, std::string_view key, std::string& out) const {
    const auto value = node.value<std::string>();
    if (!value || value->empty()) return wrong(node, "'{}' must be a text in quotes", key);
    out = *value;
    return {};
  }

  Status policy(const toml::node& node, std::optional<Inconclusive>& out) const {
    const auto value = node.value<std::string>();
    constexpr std::pair<std::string_view, Inconclusive> all[] = {
        {"fail", Inconclusive::fail}, {"warn", Inconclusive::warn}, {"pass", Inconclusive::pass}};
    for (const auto& [name, meant] : all) {
      if (value == name) out = meant;
    }
    if (!out) return wrong(node, "inconclusive must be \"fail\", \"warn\" or \"pass\"");
    return {};
  }

  const std::string& file_;
  GateFile read_;
};

}  // namespace

Result<GateFile> read_gate_file(std::string_view text, const std::string& file) {
  toml::table root;
  try {
    root = toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    return usage_error("{}:{}: {}; correct the file of gates", file, error.source().begin.line,
                       error.description());
  }
  return GateFileReader(file).read(root);
}

}  // namespace npuscope::report
