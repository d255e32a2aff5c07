#include "formats/sigmastar/program.hpp"

#include <algorithm>

#include "base/flatbuffer.hpp"
#include "base/try.hpp"

namespace npuscope::sigmastar {
namespace {

constexpr std::string_view program_identifier = "NPSC";
constexpr std::uint32_t program_version = 1;

namespace program_slot {
constexpr std::uint16_t version = 0, target = 1, cores = 2, max_batch = 3, suggested_batch = 4,
                        supported_batches = 5, batch_mode = 6, inputs = 7, layers = 8;
constexpr std::uint16_t input_layout = 0, input_training = 1, input_chip = 2, width_alignment = 3,
                        height_alignment = 4;
constexpr std::uint16_t first_operator = 0, operators = 1, totals = 2, layer_cores = 3;
constexpr std::uint16_t core_tiles = 0;
}  // namespace program_slot

// Of a log: the layer has 16 bits, and so has the tile.
constexpr std::size_t max_layers = 0xffff, max_tiles = 0xffff;
constexpr std::uint32_t max_program_cores = 2;
constexpr std::uint32_t max_tile_bytes = 1u << 28, max_tile_cycles = 1u << 30;
constexpr std::size_t tile_words = 4;

std::vector<std::int32_t> words_of(const std::vector<std::uint64_t>& values) {
  std::vector<std::int32_t> words;
  for (const std::uint64_t value : values) {
    words.push_back(std::int32_t(value));
    words.push_back(std::int32_t(value >> 32));
  }
  return words;
}

std::vector<std::int32_t> words_of(const std::vector<ProgramTile>& tiles) {
  std::vector<std::int32_t> words;
  words.reserve(tiles.size() * tile_words);
  for (const ProgramTile& tile : tiles) {
    for (const std::uint32_t word :
         {tile.load_bytes, tile.conv_cycles, tile.vector_cycles, tile.store_bytes}) {
      words.push_back(std::int32_t(word));
    }
  }
  return words;
}

FlatObject layer_table(const ProgramLayer& layer) {
  std::vector<FlatObject> cores;
  for (const auto& tiles : layer.cores) {
    cores.push_back(FlatObject::table());
    cores.back().put(program_slot::core_tiles, FlatObject::int32s(words_of(tiles)));
  }
  FlatObject table = FlatObject::table();
  table.put_uint32(program_slot::first_operator, layer.first_operator)
      .put_uint32(program_slot::operators, layer.operators)
      .put(program_slot::totals,
           FlatObject::int32s(words_of({layer.multiply_accumulates, layer.weight_bytes,
                                        layer.input_bytes, layer.output_bytes})))
      .put(program_slot::layer_cores, FlatObject::tables(std::move(cores)));
  return table;
}

FlatObject input_table(const InputFormat& input) {
  FlatObject table = FlatObject::table();
  table.put(program_slot::input_layout, FlatObject::text(input.layout))
      .put(program_slot::input_training, FlatObject::text(input.training))
      .put(program_slot::input_chip, FlatObject::text(input.chip))
      .put_uint32(program_slot::width_alignment, input.width_alignment)
      .put_uint32(program_slot::height_alignment, input.height_alignment);
  return table;
}

std::string text_of(const FlatTable& table, std::uint16_t program_slot) {
  constexpr std::size_t longest = 1 << 16;
  return std::string(table.text(program_slot).substr(0, longest));
}

class OwnSectionReader {
 public:
  OwnSectionReader(ByteSpan bytes, const std::string& name) : buffer_(bytes), name_(name) {}

  Result<OwnSection> read() {
    if (buffer_.identifier() != program_identifier) return broken("it does not begin as one");
    const FlatTable root = buffer_.root();
    const std::uint32_t found = number(root, program_slot::version);
    if (!buffer_.problem() && found != program_version) {
      return input_error(
          "{}: the program in it is of version {}, this npuscope executes {}; compile again", name_,
          found, program_version);
    }
    read_batch(root);
    for (const FlatTable& table : root.tables(program_slot::inputs)) {
      section_.inputs.push_back(
          {text_of(table, program_slot::input_layout), text_of(table, program_slot::input_training),
           text_of(table, program_slot::input_chip), number(table, program_slot::width_alignment),
           number(table, program_slot::height_alignment)});
    }
    Program& program = section_.program;
    program.target = text_of(root, program_slot::target);
    program.cores = number(root, program_slot::cores);
    if (program.cores < 1 || program.cores > max_program_cores) {
      return broken(fmt::format("{} cores", program.cores));
    }
    const auto layers = root.tables(program_slot::layers);
    if (layers.size() > max_layers) return broken(fmt::format("{} layers", layers.size()));
    for (const FlatTable& table : layers) {
      TRY(read_layer(table));
    }
    if (buffer_.problem()) {
      return broken(fmt::format("what stands at its byte {} leads outside", *buffer_.problem()));
    }
    return std::move(section_);
  }

 private:
  static std::uint32_t number(const FlatTable& table, std::uint16_t program_slot) {
    return table.scalar<std::uint32_t>(program_slot).value_or(0);
  }

  tl::unexpected<Error> broken(std::string_view why) const {
    return input_error("{}: the program in it is broken ({}); compile again", name_, why);
  }

  void read_batch(const FlatTable& root) {
    ImageBatch& batch = section_.batch;
    batch.max = number(root, program_slot::max_batch);
    batch.suggested = number(root, program_slot::suggested_batch);
    batch.mode = text_of(root, program_slot::batch_mode);
    for (const std::int32_t each : root.scalars<std::int32_t>(program_slot::supported_batches)) {
      batch.supported.push_back(std::uint32_t(each));
    }
  }

  Status read_layer(const FlatTable& table) {
    ProgramLayer layer;
    layer.first_operator = number(table, program_slot::first_operator);
    layer.operators = number(table, program_slot::operators);
    const auto totals = table.scalars<std::uint32_t>(program_slot::totals);
    std::uint64_t* const into[] = {&layer.multiply_accumulates, &layer.weight_bytes,
                                   &layer.input_bytes, &layer.output_bytes};
    for (std::size_t i = 0; i < std::size(into) && 2 * i + 1 < totals.size(); ++i) {
      *into[i] = totals[2 * i] | std::uint64_t{totals[2 * i + 1]} << 32;
    }
    const auto cores = table.tables(program_slot::layer_cores);
    if (cores.size() > section_.program.cores) return broken("a layer on more cores than it has");
    for (const FlatTable& core : cores) {
      TRY_AS(tiles, read_tiles(core));
      layer.cores.push_back(std::move(*tiles));
    }
    section_.program.layers.push_back(std::move(layer));
    return {};
  }

  Result<std::vector<ProgramTile>> read_tiles(const FlatTable& core) const {
    const auto words = core.scalars<std::uint32_t>(program_slot::core_tiles);
    if (words.size() % tile_words != 0 || words.size() / tile_words > max_tiles + 1) {
      return broken(fmt::format("{} numbers are not some tiles", words.size()));
    }
    std::vector<ProgramTile> tiles;
    tiles.reserve(words.size() / tile_words);
    for (std::size_t i = 0; i < words.size(); i += tile_words) {
      const ProgramTile tile{words[i], words[i + 1], words[i + 2], words[i + 3]};
      const bool only_loads =
          tile.conv_cycles == 0 && tile.vector_cycles == 0 && tile.store_bytes == 0;
      if (std::max(tile.load_bytes, tile.store_bytes) > max_tile_bytes ||
          std::max(tile.conv_cycles, tile.vector_cycles) > max_tile_cycles ||
          (i == 0 && !only_loads)) {
        return broken(fmt::format("tile {} does what no tile can", i / tile_words));
      }
      tiles.push_back(tile);
    }
    return tiles;
  }

  Flatbuffer buffer_;
  const std::string& name_;
  OwnSection section_;
};

}  // namespace

std::string write_own_section(const OwnSection& section) {
  std::vector<FlatObject> inputs, layers;
  for (const InputFormat& input : section.inputs) inputs.push_back(input_table(input));
  for (const ProgramLayer& layer : section.program.layers) layers.push_back(layer_table(layer));
  const ImageBatch& batch = section.batch;
  FlatObject root = FlatObject::table();
  root.put_uint32(program_slot::version, program_version)
      .put(program_slot::target, FlatObject::text(section.program.target))
      .put_uint32(program_slot::cores, section.program.cores)
      .put_uint32(program_slot::max_batch, batch.max)
      .put_uint32(program_slot::suggested_batch, batch.suggested)
      .put(program_slot::supported_batches,
           FlatObject::int32s({batch.supported.begin(), batch.supported.end()}))
      .put(program_slot::batch_mode, FlatObject::text(batch.mode))
      .put(program_slot::inputs, FlatObject::tables(std::move(inputs)))
      .put(program_slot::layers, FlatObject::tables(std::move(layers)));
  return write_flatbuffer(root, program_identifier);
}

Result<OwnSection> read_own_section(ByteSpan bytes, const std::string& name) {
  return OwnSectionReader(bytes, name).read();
}

}  // namespace npuscope::sigmastar
