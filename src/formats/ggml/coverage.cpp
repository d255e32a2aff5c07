#include "formats/ggml/coverage.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "formats/ggml/operation.hpp"

namespace npuscope::ggml {
namespace {

constexpr std::size_t op_width = 10, tensor_width = 20;  // of the scheduler's lines
constexpr std::size_t max_ops = 20'000, max_graphs = 256, max_kinds = 256, max_name = 64;
constexpr std::string_view split_mark = "## SPLIT #", op_mark = "node #";

bool is_npu(std::string_view backend) { return backend.starts_with("HTP"); }

std::string_view cut(std::string_view text, std::size_t width) { return text.substr(0, width); }

// As the scheduler's lines have it.
std::string tensor_name(std::string_view name) {
  return std::string(trimmed(cut(name.substr(0, name.find(" (")), tensor_width)));
}

std::string types_text(const Operation& operation) {
  std::string types;
  for (const Tensor& input : operation.inputs) {
    types += (types.empty() ? "" : " x ") + input.type;
  }
  return types;
}

}  // namespace

// "## SPLIT #0: HTP0 # 3 inputs: …", "node #  0 (  RMS_NORM): norm-0 (   1K) [ HTP0 ]": several
// pieces of a line, perhaps each with a prefix.
bool Coverage::take(std::string_view line) {
  const std::size_t split = line.find(split_mark);
  if (split == line.npos && line.find(op_mark) == line.npos) return false;
  if (split != line.npos) {
    const std::string_view rest = line.substr(split + split_mark.size());
    const std::size_t colon = rest.find(": ");
    if (colon == rest.npos) return false;
    if (rest.substr(0, colon) == "0") last_ = last_graph();
    const std::string_view name = trimmed(rest.substr(colon + 2));
    backend_ = name.substr(0, std::min<std::size_t>(name.find(' '), max_name));
    open_.splits += 1;
    text_ += backend_ + '\n';
  }
  if (backend_.empty()) return true;
  for (std::size_t at = line.find(op_mark); at != line.npos; at = line.find(op_mark, at + 1)) {
    take_op(line.substr(at + op_mark.size()));
  }
  return true;
}

bool Coverage::take_op(std::string_view text) {
  const std::size_t open = text.find('('), end = text.find("): ");
  if (end == text.npos || open >= end) return false;
  const std::string_view op = trimmed(text.substr(open + 1, end - open - 1));
  const std::string_view rest = trimmed(text.substr(end + 3));
  const std::string tensor = tensor_name(rest.substr(0, rest.find(" [")));
  if (op.empty() || op.size() > max_name) return false;
  open_.ops += 1;
  if (open_.by_backend.size() < max_kinds) open_.by_backend[backend_] += 1;
  if (is_npu(backend_) || open_.elsewhere.size() == max_ops) return true;
  text_ += fmt::format("{} {}\n", op, tensor);
  open_.elsewhere.push_back({std::string(op), tensor, backend_});
  return true;
}

std::uint32_t Coverage::last_graph() {
  if (open_.ops == 0) return last_;
  text_ += fmt::format("{}", open_.ops);
  const auto [found, is_new] = graph_of_.try_emplace(text_, std::uint32_t(graphs_.size()));
  if (is_new && graphs_.size() < max_graphs) {
    graphs_.push_back(std::move(open_));
  } else if (is_new) {
    graph_of_.erase(found);
    last_ = std::uint32_t(graphs_.size() - 1);
    open_ = {};
    text_.clear();
    return last_;
  }
  last_ = found->second;
  open_ = {};
  text_.clear();
  return last_;
}

void Coverage::refuse(std::string_view text) {
  const std::string_view name = text.substr(0, text.find_first_of("|: "));
  if (name.empty() || name.size() > max_name) return;
  std::string op(name);
  if (refused_.size() >= max_kinds && !refused_.contains(op)) return;
  refused_[op] += 1;
  const auto operation = parse_operation(text);
  if (!operation || operation->outputs.empty() || refused_tensors_.size() >= max_ops) return;
  const std::string tensor = tensor_name(operation->outputs.front().name);
  // While weights are loaded, the backend is asked about ops that are of no graph.
  if (tensor.empty()) return;
  refused_tensors_.try_emplace(tensor, Refusal{op, types_text(*operation)});
}

std::vector<PlacedOp> Coverage::refused_ops() const {
  std::vector<PlacedOp> ops;
  for (const auto& [tensor, refusal] : refused_tensors_) ops.push_back({refusal.op, tensor, ""});
  return ops;
}

std::string Coverage::reason_of(const PlacedOp& placed) const {
  const std::string where = placed.backend.empty() ? "CPU or GPU" : placed.backend;
  const auto found = refused_tensors_.find(placed.tensor);
  if (found != refused_tensors_.end()) {
    const Refusal& refusal = found->second;
    const std::string of = refusal.types.empty() ? "" : " of " + refusal.types;
    return fmt::format("{}: the NPU refuses {}{}", where, refusal.op, of);
  }
  for (const auto& [op, lines] : refused_) {
    if (!op.starts_with(cut(placed.op, op_width))) continue;
    return fmt::format("{}: {}, which the NPU refuses of other tensors", where, op);
  }
  if (!refused_.empty())
    return fmt::format("{}: {}, which the NPU did not refuse", where, placed.op);
  return fmt::format("{}: {}, reason not in the log (GGML_HEXAGON_VERBOSE=1)", where, placed.op);
}

}  // namespace npuscope::ggml
