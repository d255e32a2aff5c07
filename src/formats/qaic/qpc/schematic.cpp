#include "formats/qaic/qpc/schematic.hpp"

#include <cmath>
#include <limits>

#include "base/sections.hpp"
#include "base/try.hpp"

namespace npuscope::qaic {
namespace {

constexpr std::string_view schematic_magic = "NPUSCHEM";
constexpr SectionVersion schematic_version{1, 0};

enum SchematicSection : std::uint32_t {
  section_fingerprint = 1,  // 1 u64
  section_text_ends = 2,    // u32: end of each text in section 3
  section_texts = 3,        // text
  section_nodes = 4,        // SchematicNode
  section_ops = 5,          // SchematicOp
  section_dims = 6,         // i64
  section_inputs = 7,       // u32
  section_op_buffers = 8,   // u32
  section_buffers = 9,      // u64
  section_scales = 10,      // SchematicScale; absent when nothing is quantised
};
static_assert(sizeof(SchematicNode) == 12);
static_assert(sizeof(SchematicScale) == 12);

template <class Record>
Status read_section(const SectionReader& sections, SchematicSection kind, std::string_view name,
                    std::vector<Record>& out) {
  const SectionEntry* entry = sections.find(kind);
  if (entry == nullptr) {
    return input_error("{}: section kind {} of the schematic is missing; compile the model again",
                       name, std::uint32_t(kind));
  }
  TRY_AS(records, sections.records<Record>(*entry));
  out = std::move(*records);
  return {};
}

Status split_texts(const std::vector<std::uint32_t>& ends, const std::vector<char>& text,
                   std::string_view name, std::vector<std::string>& out) {
  std::uint32_t begin = 0;
  for (const std::uint32_t end : ends) {
    if (end < begin || end > text.size()) {
      return input_error("{}: text {} is [{}, {}) of {} bytes; compile the model again", name,
                         out.size(), begin, end, text.size());
    }
    out.emplace_back(text.data() + begin, end - begin);
    begin = end;
  }
  return {};
}

bool lies_in(std::uint32_t begin, std::uint32_t count, std::size_t size) {
  return begin <= size && count <= size - begin;
}

Status check_ops(const Schematic& schematic, std::string_view name) {
  std::uint64_t dims = 0, inputs = 0, buffers = 0;
  for (std::size_t i = 0; i < schematic.ops.size(); ++i) {
    const SchematicOp& op = schematic.ops[i];
    const bool usable = op.type < schematic.texts.size() && op.node < schematic.nodes.size() &&
                        op.role <= std::uint32_t(SchematicRole::constant) &&
                        lies_in(op.dims_begin, op.dims_count, schematic.dims.size()) &&
                        lies_in(op.input_begin, op.input_count, schematic.inputs.size()) &&
                        lies_in(op.buffer_begin, op.buffer_count, schematic.op_buffers.size());
    if (!usable) {
      return input_error(
          "{}: op {} of the schematic points outside its tables; compile the model "
          "again",
          name, i);
    }
    dims += op.dims_count;
    inputs += op.input_count;
    buffers += op.buffer_count;
  }
  // Ops share no entries, so that the work a file asks for is linear in its size.
  if (dims <= schematic.dims.size() && inputs <= schematic.inputs.size() &&
      buffers <= schematic.op_buffers.size()) {
    return {};
  }
  return input_error(
      "{}: ops of the schematic share entries of its tables; compile the model again", name);
}

Status check(const Schematic& schematic, std::string_view name) {
  const auto refuse = [&](std::string_view table, std::size_t i) {
    return input_error(
        "{}: entry {} of the schematic's {} points outside its tables; compile the "
        "model again",
        name, i, table);
  };
  for (std::size_t i = 0; i < schematic.nodes.size(); ++i) {
    const SchematicNode& node = schematic.nodes[i];
    if (node.name >= schematic.texts.size() || node.type >= schematic.texts.size()) {
      return refuse("nodes", i);
    }
  }
  for (std::size_t i = 0; i < schematic.inputs.size(); ++i) {
    if (schematic.inputs[i] >= schematic.ops.size()) return refuse("inputs", i);
  }
  for (std::size_t i = 0; i < schematic.op_buffers.size(); ++i) {
    if (schematic.op_buffers[i] >= schematic.buffers.size()) return refuse("buffers", i);
  }
  for (std::size_t i = 0; i < schematic.scales.size(); ++i) {
    const SchematicScale& scale = schematic.scales[i];
    if (scale.op >= schematic.ops.size()) return refuse("scales", i);
    const bool ascends = i == 0 || schematic.scales[i - 1].op < scale.op;
    if (ascends && std::isfinite(scale.step) && scale.step > 0) continue;
    return input_error(
        "{}: scale {} of the schematic is {:g} of op {}; it must be above 0 and of a later op than "
        "the one before; compile the model again",
        name, i, scale.step, scale.op);
  }
  return check_ops(schematic, name);
}

}  // namespace

std::vector<std::byte> write_schematic(const Schematic& schematic) {
  std::vector<std::uint32_t> ends;
  std::string texts;
  for (const std::string& text : schematic.texts) {
    texts += text;
    ends.push_back(std::uint32_t(texts.size()));
  }
  SectionWriter writer(schematic_magic, schematic_version);
  const auto add = [&](SchematicSection kind, const auto& records) {
    using Record = typename std::decay_t<decltype(records)>::value_type;
    writer.add(kind, 0, std::span<const Record>(records));
  };
  writer.add(section_fingerprint, 0,
             std::span<const std::uint64_t>(&schematic.program_fingerprint, 1));
  add(section_text_ends, ends);
  writer.add_text(section_texts, 0, texts);
  add(section_nodes, schematic.nodes);
  add(section_ops, schematic.ops);
  add(section_dims, schematic.dims);
  add(section_inputs, schematic.inputs);
  add(section_op_buffers, schematic.op_buffers);
  add(section_buffers, schematic.buffers);
  if (!schematic.scales.empty()) add(section_scales, schematic.scales);
  return writer.finish();
}

Result<Schematic> read_schematic(ByteSpan bytes, std::string name) {
  TRY_AS(sections, SectionReader::open(bytes, schematic_magic, schematic_version.major, name));
  Schematic schematic;
  std::vector<std::uint64_t> fingerprint;
  std::vector<std::uint32_t> ends;
  std::vector<char> texts;
  Status read;
  const auto table = [&](SchematicSection kind, auto& out) {
    if (read) read = read_section(*sections, kind, name, out);
  };
  table(section_fingerprint, fingerprint);
  table(section_text_ends, ends);
  table(section_texts, texts);
  table(section_nodes, schematic.nodes);
  table(section_ops, schematic.ops);
  table(section_dims, schematic.dims);
  table(section_inputs, schematic.inputs);
  table(section_op_buffers, schematic.op_buffers);
  table(section_buffers, schematic.buffers);
  if (sections->find(section_scales) != nullptr) table(section_scales, schematic.scales);
  if (read && fingerprint.size() != 1) {
    read = input_error("{}: {} fingerprints instead of one; compile the model again", name,
                       fingerprint.size());
  }
  if (read) schematic.program_fingerprint = fingerprint[0];
  if (read) read = split_texts(ends, texts, name, schematic.texts);
  if (read) read = check(schematic, name);
  if (!read) return tl::unexpected(read.error());
  return schematic;
}

}  // namespace npuscope::qaic
