#include "analysis/graph/node_matcher.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

#include "analysis/ops/row_names.hpp"
#include "base/text.hpp"

namespace npuscope::analysis {
namespace {

constexpr std::uint8_t product = 1;

// The first word that a name contains decides.
constexpr std::array<std::pair<const char*, std::uint8_t>, 38> words{{
    {"conv", product},  {"matmul", product}, {"gemm", product}, {"fullyconnected", product},
    {"softmax", 2},     {"norm", 3},         {"pool", 4},       {"transpose", 5},
    {"permute", 5},     {"concat", 6},       {"split", 7},      {"slice", 7},
    {"gather", 8},      {"scatter", 9},      {"relu", 10},      {"max", 10},
    {"clip", 10},       {"gelu", 11},        {"erf", 12},       {"sigmoid", 13},
    {"silu", 13},       {"tanh", 14},        {"reduce", 15},    {"mean", 15},
    {"add", 16},        {"sub", 17},         {"mul", 18},       {"div", 19},
    {"sqrt", 20},       {"exp", 21},         {"pow", 22},       {"cast", 23},
    {"dequantize", 24}, {"quantize", 25},    {"resize", 26},    {"pad", 27},
    {"where", 28},      {"topk", 29},
}};

}  // namespace

std::uint8_t family_of(std::string_view kind) {
  std::string lower(kind);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
  for (const auto& [word, family] : words) {
    if (word != nullptr && lower.find(word) != lower.npos) return family;
  }
  return 0;
}

bool is_product(std::string_view kind) { return family_of(kind) == product; }

bool is_pointwise(std::string_view kind) {
  const std::uint8_t family = family_of(kind);
  return family == 3 || (family >= 10 && family <= 14) || (family >= 16 && family <= 25);
}

std::vector<std::int64_t> comparable_shape(std::span<const std::int64_t> extents) {
  std::vector<std::int64_t> comparable;
  std::ranges::copy_if(extents, std::back_inserter(comparable),
                       [](std::int64_t extent) { return extent > 1; });
  std::ranges::sort(comparable);
  return comparable;
}

namespace {

bool is_word(char c) { return is_digit(c) || is_letter(c); }

// Converters write all punctuation as _, and leave out what a name begins with.
std::string plain(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (is_word(c)) {
      text += c;
    } else if (!text.empty()) {
      text += '_';
    }
  }
  while (!text.empty() && text.back() == '_') text.pop_back();
  return text;
}

// "libjit_a libjit_b /node/__12" is "/node": a prefix of words, and the ordinal of a tile.
std::string_view without_decoration(std::string_view name) {
  if (const auto blank = name.rfind(' '); blank != name.npos) name.remove_prefix(blank + 1);
  return without_tile(name);
}

}  // namespace

NodeNames::NodeNames(const ExpectedGraph& expected) {
  for (std::uint32_t i = 0; i < expected.nodes.size(); ++i) {
    const ExpectedNode& node = expected.nodes[i];
    nodes_.try_emplace(node.name, i);
    const auto [place, is_new] = plain_.try_emplace(plain(node.name), i);
    if (!is_new) place->second = no_node;
    // Loads bear the names of constants: that they do is no sign of whose work they are.
    for (const std::uint32_t output : node.outputs) {
      const ExpectedTensor& tensor = expected.tensors[output];
      if (!tensor.is_constant) tensors_[tensor.name] = i;
    }
  }
}

std::uint32_t NodeNames::lookup(std::string_view name, MatchEvidence& evidence) const {
  evidence = MatchEvidence::name;
  if (const auto node = nodes_.find(name); node != nodes_.end()) return node->second;
  evidence = MatchEvidence::tensor_name;
  if (const auto node = tensors_.find(name); node != tensors_.end()) return node->second;
  return no_node;
}

// The longest beginning, up to a punctuation mark, that is a name.
std::uint32_t NodeNames::derived(std::string_view name) const {
  if (const auto node = plain_.find(plain(name)); node != plain_.end() && node->second != no_node) {
    return node->second;
  }
  constexpr std::size_t longest = 512;
  for (std::size_t end = std::min(name.size(), longest); end-- > 1;) {
    if (is_word(name[end])) continue;
    const std::string_view beginning = name.substr(0, end);
    if (const auto node = nodes_.find(beginning); node != nodes_.end()) return node->second;
  }
  return no_node;
}

NodeNames::Found NodeNames::find(std::string_view name) const {
  Found found;
  if (name.empty()) return found;
  for (const std::string_view text : {name, without_decoration(name)}) {
    if (const auto node = lookup(text, found.evidence); node != no_node) {
      found.nodes = {node};
      return found;
    }
  }
  const std::string_view bare = without_decoration(name);
  for (std::size_t begin = 0; begin <= bare.size();) {
    const std::size_t end = std::min(bare.find_first_of("+,;&|", begin), bare.size());
    if (begin == 0 && end == bare.size()) break;  // nothing is joined
    MatchEvidence evidence;
    const auto node = lookup(without_decoration(bare.substr(begin, end - begin)), evidence);
    if (node != no_node) found.nodes.push_back(node);
    begin = end + 1;
  }
  if (!found.nodes.empty()) {
    found.evidence = MatchEvidence::joined_name;
    return found;
  }
  found.evidence = MatchEvidence::derived_name;
  if (const auto node = derived(bare); node != no_node) found.nodes = {node};
  return found;
}

namespace {

// What importers write for constants instead of the model's own operators, more from step to step.
constexpr std::array<std::string_view, 2> constants{"Constant", "ConstantOfShape"};

struct Listed {
  std::string_view kind;
  std::uint32_t number = 0;  // of the node, or of the source's operator
};

bool is_constant(std::string_view kind, std::size_t constants_left_out) {
  const auto* end = constants.begin() + constants_left_out;
  return std::find(constants.begin(), end, kind) != end;
}

std::vector<Listed> without_constants(std::span<const Listed> all, std::size_t left_out) {
  std::vector<Listed> rest;
  for (const Listed& each : all) {
    if (!is_constant(each.kind, left_out)) rest.push_back(each);
  }
  return rest;
}

bool same_kinds(std::span<const Listed> a, std::span<const Listed> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Listed& x, const Listed& y) { return x.kind == y.kind; });
}

// Whether `few` are left of `all` when some are left out.
bool comes_in_order(std::span<const Listed> few, std::span<const Listed> all) {
  std::size_t next = 0;
  for (const Listed& each : all) {
    if (next < few.size() && few[next].kind == each.kind) ++next;
  }
  return next == few.size();
}

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // operator, node

Pairs pairs_of(std::span<const Listed> operators, std::span<const Listed> nodes) {
  Pairs pairs;
  for (std::size_t i = 0; i < operators.size(); ++i) {
    pairs.emplace_back(operators[i].number, nodes[i].number);
  }
  return pairs;
}

Pairs pairs_by_kind(std::span<const Listed> operators, std::span<const Listed> nodes) {
  std::map<std::string_view, std::pair<std::vector<Listed>, std::vector<Listed>>> by_kind;
  for (const Listed& each : operators) by_kind[each.kind].first.push_back(each);
  for (const Listed& each : nodes) by_kind[each.kind].second.push_back(each);
  Pairs pairs;
  for (const auto& [kind, both] : by_kind) {
    if (both.first.size() != both.second.size()) continue;
    const Pairs more = pairs_of(both.first, both.second);
    pairs.insert(pairs.end(), more.begin(), more.end());
  }
  return pairs;
}

Pairs meant(std::span<const Listed> operators, const ExpectedGraph& expected) {
  std::vector<Listed> nodes, executing;
  for (std::uint32_t i = 0; i < expected.nodes.size(); ++i) {
    const ExpectedNode& node = expected.nodes[i];
    nodes.push_back({node.op, i});
    if (node.role == ExpectedRole::executes) executing.push_back(nodes.back());
  }
  for (std::size_t left_out = 0; left_out <= constants.size(); ++left_out) {
    const auto some = without_constants(operators, left_out);
    const auto of_model = without_constants(nodes, left_out);
    if (same_kinds(some, of_model)) return pairs_of(some, of_model);
  }
  const auto computing = without_constants(operators, constants.size());
  if (!comes_in_order(computing, nodes)) return {};
  return pairs_by_kind(computing, executing);
}

}  // namespace

SourceNames::SourceNames(const Profile& profile, const ExpectedGraph& expected) {
  std::vector<Listed> operators;
  for (std::uint32_t i = 0; i < profile.source_operators.size(); ++i) {
    operators.push_back({profile.text(profile.source_operators[i].kind), i});
  }
  for (const auto& [number, node] : meant(operators, expected)) {
    const auto name = profile.text(profile.source_operators[number].name);
    const auto [place, is_new] = nodes_.try_emplace(name, node);
    if (!is_new) place->second = no_node;
  }
}

NodeNames::Found SourceNames::find(std::string_view name) const {
  NodeNames::Found found;
  while (!nodes_.empty() && !name.empty()) {
    const std::string_view word = name.substr(0, name.find(' '));
    name.remove_prefix(std::min(name.size(), word.size() + 1));
    const auto node = nodes_.find(word);
    if (node == nodes_.end() || node->second == no_node) continue;
    if (std::find(found.nodes.begin(), found.nodes.end(), node->second) != found.nodes.end()) {
      continue;
    }
    found.nodes.push_back(node->second);
  }
  if (!found.nodes.empty()) found.evidence = MatchEvidence::source;
  return found;
}

namespace {

// What compilers call the ops that they add themselves. Names: those of Hexagon NN graphs and of
// the Cloud AI 100 kernels, and what Torq's host does to start a program and to wait for it.
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
