#include "formats/tenstorrent/ops_rows.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "ingest/delimited.hpp"

namespace npuscope::tenstorrent {
namespace {

constexpr std::size_t max_rows = 4'000'000;
constexpr std::size_t no_place = ~std::size_t{0};

// Bytes of an element; of block formats with their share of the exponents.
constexpr std::pair<std::string_view, double> type_sizes[] = {
    {"BFLOAT16", 2},
    {"FLOAT32", 4},
    {"BFLOAT8_B", 1 + 1.0 / 16},
    {"BFLOAT4_B", 0.5 + 1.0 / 16},
    {"UINT32", 4},
    {"INT32", 4},
    {"UINT16", 2},
    {"UINT8", 1},
};

// The logical one of "96[27]".
std::optional<std::int64_t> extent_in(std::string_view text) {
  text = trimmed(text);
  const auto bracket = text.find('[');
  if (bracket != text.npos && text.ends_with(']')) {
    text = text.substr(bracket + 1, text.size() - bracket - 2);
  }
  constexpr double most = 1e12;
  if (const auto whole = parse_number<std::int64_t>(text)) {
    return *whole >= 1 && double(*whole) <= most ? whole : std::nullopt;
  }
  const auto number = parse_number<double>(text);  // "1.0" where a cell of the column is empty
  if (!number || !(*number >= 1) || *number > most) return std::nullopt;
  return std::int64_t(*number);
}

class Reader {
 public:
  Reader(ByteSource& source, CountedNotes& losses)
      : lines_(source, losses, {.max_bytes = std::uint64_t{64} << 30}),
        records_(lines_, losses, ','),
        losses_(losses) {}

  Result<OpsFile> run(const std::string& name) {
    if (records_.next()) take_header();
    OpsFile file;
    strings_ = &file.strings;
    while (records_.next()) {
      if (records_.cells().size() < 2) continue;
      if (file.rows.size() == max_rows) {
        losses_.add(Severity::warning, records_.offset(),
                    "rows after the first 4,000,000; left out");
        break;
      }
      take_row(file.rows.emplace_back());
      if (file.architecture.empty()) file.architecture = valid_utf8(cell(architecture_));
    }
    if (file.rows.empty() && lines_.error()) return tl::unexpected(*lines_.error());
    if (file.rows.empty()) {
      return input_error("{}: a header of Tenstorrent's ops without a row; run the profiler again",
                         name);
    }
    return file;
  }

 private:
  struct TensorPlaces {
    std::array<std::size_t, 4> extents{no_place, no_place, no_place, no_place};
    std::size_t layout = no_place, type = no_place, memory = no_place;
  };

  void take_header() {
    std::map<std::string, std::size_t, std::less<>> places;
    for (std::size_t i = 0; i < records_.cells().size(); ++i) {
      places.emplace(trimmed(records_.cells()[i]), i);
    }
    const auto place_of = [&](std::string_view head) {
      const auto found = places.find(head);
      return found == places.end() ? no_place : found->second;
    };
    constexpr std::string_view heads[] = {"OP CODE",
                                          "OP TYPE",
                                          "DEVICE ID",
                                          "ATTRIBUTES",
                                          "MATH FIDELITY",
                                          "CORE COUNT",
                                          "HOST DURATION [ns]",
                                          "DEVICE FW START CYCLE",
                                          "DEVICE FW END CYCLE",
                                          "OP TO OP LATENCY [ns]",
                                          "DEVICE FW DURATION [ns]",
                                          "DEVICE KERNEL DURATION [ns]",
                                          "PM IDEAL [ns]",
                                          "PM COMPUTE [ns]",
                                          "PM BANDWIDTH [ns]",
                                          "PM FPU UTIL (%)",
                                          "DRAM BW UTIL (%)",
                                          "NOC UTIL (%)",
                                          "PROGRAM CACHE HIT",
                                          "METAL TRACE REPLAY SESSION ID"};
    static_assert(std::size(heads) == place_count);
    for (std::size_t i = 0; i < std::size(heads); ++i) places_[i] = place_of(heads[i]);
    if (places_[0] == no_place) places_[0] = place_of("OP NAME");  // of the device's own report
    architecture_ = place_of("DEVICE ARCH");
    last_.resize(records_.cells().size());
    for (const auto& [kind, tensors] : {std::pair{"INPUT", &inputs_}, {"OUTPUT", &outputs_}}) {
      constexpr int max_tensors = 64;
      for (int i = 0; i < max_tensors; ++i) {
        const std::string begin = fmt::format("{}_{}_", kind, i);
        TensorPlaces made;
        made.type = place_of(begin + "DATATYPE");
        if (made.type == no_place) break;
        made.layout = place_of(begin + "LAYOUT");
        made.memory = place_of(begin + "MEMORY");
        for (std::size_t axis = 0; axis < 4; ++axis) {
          const std::string head = begin + "WZYX"[axis];
          made.extents[axis] = place_of(head + "_PAD[LOGICAL]");
          if (made.extents[axis] == no_place) made.extents[axis] = place_of(head);
        }
        tensors->push_back(made);
      }
    }
  }

  std::string_view cell(std::size_t place) const {
    const auto& cells = records_.cells();
    return place < cells.size() ? trimmed(cells[place]) : std::string_view();
  }
  StringId text(std::size_t place) const {
    const std::string_view text = cell(place);
    if (place >= last_.size()) return StringId::empty;
    auto& [last, id] = last_[place];  // rows mostly repeat what stands above
    if (text == last) return id;
    last = text;
    return id = intern(text);
  }
  StringId intern(std::string_view text) const {
    const bool is_plain = std::ranges::all_of(text, [](char c) { return c > 0; });
    return strings_->intern(is_plain ? text : std::string_view(valid_utf8(text)));
  }
  std::optional<double> real(std::size_t place) const {
    const auto number = parse_number<double>(cell(place));
    return number && std::isfinite(*number) ? number : std::nullopt;
  }
  // "96009", and "96009.0" of a file that pandas wrote.
  std::optional<std::int64_t> whole(std::size_t place) const {
    if (const auto number = parse_number<std::int64_t>(cell(place))) return number;
    const auto number = real(place);
    constexpr double most = 9e18;
    if (!number || std::abs(*number) > most) return std::nullopt;
    return std::int64_t(*number);
  }

  void take_row(OpsRow& made) const {
    made.offset = records_.offset();
    made.code = text(places_[0]);
    const std::string_view type = cell(places_[1]);
    if (type == "signpost") {
      made.is = OpsRow::Is::signpost;
      return;
    }
    const bool is_of_device = type == "tt_dnn_device" || places_[1] == no_place;
    made.is = is_of_device ? OpsRow::Is::device : OpsRow::Is::host;
    made.device =
        std::uint32_t(std::clamp<std::int64_t>(whole(places_[2]).value_or(0), 0, 1 << 20));
    made.fidelity = text(places_[4]);
    made.cores = real(places_[5]);
    made.host_ns = whole(places_[6]);
    made.start_cycle = whole(places_[7]);
    made.end_cycle = whole(places_[8]);
    made.gap_ns = whole(places_[9]);
    made.firmware_ns = whole(places_[10]);
    made.kernel_ns = whole(places_[11]);
    made.ideal_ns = real(places_[12]);
    made.compute_ns = real(places_[13]);
    made.bandwidth_ns = real(places_[14]);
    made.fpu_percent = real(places_[15]);
    made.dram_percent = real(places_[16]);
    made.noc_percent = real(places_[17]);
    const std::string_view cached = cell(places_[18]);
    if (!cached.empty()) made.was_cached = cached == "True" || cached == "true" || cached == "1";
    made.replay = text(places_[19]);
    for (const TensorPlaces& each : inputs_) add_tensor(each, made.inputs);
    for (const TensorPlaces& each : outputs_) add_tensor(each, made.outputs);
  }

  void add_tensor(const TensorPlaces& places, std::vector<TensorCell>& tensors) const {
    TensorCell made;
    for (std::size_t axis = 0; axis < places.extents.size(); ++axis) {
      const auto extent = extent_in(cell(places.extents[axis]));
      if (!extent) return;
      made.extents[axis] = *extent;
    }
    made.layout = text(places.layout);
    made.type = text(places.type);
    made.memory = text(places.memory);
    tensors.push_back(std::move(made));
  }

  static constexpr std::size_t place_count = 20;
  LineReader lines_;
  DelimitedReader records_;
  CountedNotes& losses_;
  StringPool* strings_ = nullptr;
  mutable std::vector<std::pair<std::string, StringId>> last_;  // by column
  std::array<std::size_t, place_count> places_{};
  std::size_t architecture_ = no_place;
  std::vector<TensorPlaces> inputs_, outputs_;
};

}  // namespace

std::optional<double> OpsFile::bytes_of(const TensorCell& tensor) const {
  for (const auto& [name, size] : type_sizes) {
    if (strings[tensor.type] != name) continue;
    double elements = 1;
    for (const std::int64_t extent : tensor.extents) elements *= double(extent);
    return elements * size;
  }
  return std::nullopt;
}

Result<OpsFile> read_ops_rows(ByteSource& source, CountedNotes& losses) {
  return Reader(source, losses).run(source.name());
}

}  // namespace npuscope::tenstorrent
