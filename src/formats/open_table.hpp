// The registry of formats: one row each, in open.cpp's table. A newcomer writes two functions and
// adds their row.
//
//   recognise   whether a file is of this format, by its first bytes; and of which kind of it
//   open        makes profiles of all files of this format, so that those that belong together can
//               become one
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/formats/open.hpp"

namespace npuscope::tables {
struct TableDescription;
}

namespace npuscope {

inline constexpr std::size_t head_bytes = std::size_t{64} << 10;

// A file that may be a profile, and its first bytes, decompressed.
struct Candidate {
  const std::filesystem::path& path;
  std::string_view head;
};

using FormatKind = std::uint8_t;  // means what the row says

struct Input {
  std::filesystem::path path;
  std::size_t order = 0;  // place among all inputs
  bool named = false;     // by the user, not found in a folder
  FormatKind kind = 0;
};

// The input that is this file; the first one where none is.
const Input& input_or_first(std::span<const Input> inputs, std::string_view file);

// What opening has brought so far.
class OpenRun {
 public:
  explicit OpenRun(const OpenOptions& options);
  ~OpenRun();

  const OpenOptions& options() const { return options_; }
  // Those that the user describes: a usage error for what is not a description.
  Status read_own_tables();
  const std::vector<tables::TableDescription>& own_tables() const { return own_tables_; }
  void add(std::size_t order, Profile profile) { opened_.push_back({order, std::move(profile)}); }
  // A file that could not be opened: an error when it was named, else a warning.
  void fail(const Input& input, const Error& error);
  void note(Note note) { notes_.push_back(std::move(note)); }

  struct OpenedProfile {
    std::size_t order = 0;
    Profile profile;
  };
  std::vector<OpenedProfile>& profiles() { return opened_; }
  Opened finish() &&;  // profiles in the order of their first files

 private:
  const OpenOptions& options_;
  std::vector<tables::TableDescription> own_tables_;
  std::vector<OpenedProfile> opened_;
  std::vector<Note> notes_;
};

// Whether files of a format may be parts of one profile.
enum class Belonging : std::uint8_t { unknown, alone, together };

struct Format {
  std::string_view name;
  Belonging belongs;
  std::optional<FormatKind> (*recognise)(const Candidate& candidate);
  void (*open)(std::span<const Input> inputs, OpenRun& run);
};

// By the row that takes the file; unknown where none does.
Belonging belonging_of(const Candidate& candidate);

// Cloud AI 100: raw statistics buffers with their programs, and the texts of its tools.
std::optional<FormatKind> recognise_qaic_buffer(const Candidate& candidate);
void open_qaic_buffers(std::span<const Input> inputs, OpenRun& run);
std::optional<FormatKind> recognise_qaic_text(const Candidate& candidate);
void open_qaic_texts(std::span<const Input> inputs, OpenRun& run);

std::optional<FormatKind> recognise_perfetto(const Candidate& candidate);
std::optional<FormatKind> recognise_perfetto_without_events(const Candidate& candidate);
void open_perfetto(std::span<const Input> inputs, OpenRun& run);

// The artifacts of Qualcomm's qnn-profile-viewer; those of one run become one profile.
std::optional<FormatKind> recognise_qnn(const Candidate& candidate);
void open_qnn(std::span<const Input> inputs, OpenRun& run);

// Synaptics Torq's texts; debug information joins the runtime logs that it is named with.
std::optional<FormatKind> recognise_torq(const Candidate& candidate);
void open_torq(std::span<const Input> inputs, OpenRun& run);

// XSpaces of XLA's profiler (.xplane.pb); a folder's are the hosts of one run.
std::optional<FormatKind> recognise_xplane(const Candidate& candidate);
void open_xplane(std::span<const Input> inputs, OpenRun& run);

// ETDumps of ExecuTorch's runtime (.etdp).
std::optional<FormatKind> recognise_etdump(const Candidate& candidate);
void open_etdump(std::span<const Input> inputs, OpenRun& run);

// IREE's profiles, exported by iree-profile as JSON lines.
std::optional<FormatKind> recognise_ireeperf(const Candidate& candidate);
void open_ireeperf(std::span<const Input> inputs, OpenRun& run);

// Logs of llama.cpp with the profile of its Hexagon backend.
std::optional<FormatKind> recognise_ggml(const Candidate& candidate);
void open_ggml(std::span<const Input> inputs, OpenRun& run);

// What Qualcomm AI Hub says of a profile job.
std::optional<FormatKind> recognise_hailo(const Candidate& candidate);
void open_hailo(std::span<const Input> inputs, OpenRun& run);
std::optional<FormatKind> recognise_aihub(const Candidate& candidate);
void open_aihub(std::span<const Input> inputs, OpenRun& run);

// What Genie, Qualcomm's runtime of language models, says of its calls.
std::optional<FormatKind> recognise_genie(const Candidate& candidate);
void open_genie(std::span<const Input> inputs, OpenRun& run);

// The schedule that Furiosa's compiler estimates.
std::optional<FormatKind> recognise_furiosa(const Candidate& candidate);
void open_furiosa(std::span<const Input> inputs, OpenRun& run);

// What Intel's NPU prints of an inference.
std::optional<FormatKind> recognise_openvino_text(const Candidate& candidate);
void open_openvino_texts(std::span<const Input> inputs, OpenRun& run);

// tpu-mlir's compiler profiles, a file a core, and what names their layers.
std::optional<FormatKind> recognise_tpu_mlir(const Candidate& candidate);
void open_tpu_mlir(std::span<const Input> inputs, OpenRun& run);

// Tenstorrent's table of ops of tt-metal's device profiler.
std::optional<FormatKind> recognise_tenstorrent(const Candidate& candidate);
void open_tenstorrent(std::span<const Input> inputs, OpenRun& run);

// Any other JSON: operator traces of Cloud AI 100 and IPU timelines of SigmaStar, by their events,
// and traces of other tools.
std::optional<FormatKind> recognise_chrome(const Candidate& candidate);
void open_chrome(std::span<const Input> inputs, OpenRun& run);

// Tables and databases of Ascend's profiler, which join the traces of the same captures.
std::optional<FormatKind> recognise_ascend(const Candidate& candidate);
void open_ascend(std::span<const Input> inputs, OpenRun& run);

// Tables of layers that tables/*.toml describe.
std::optional<FormatKind> recognise_described_table(const Candidate& candidate);
void open_described_tables(std::span<const Input> inputs, OpenRun& run);
// And those that the user describes.
std::optional<std::size_t> recognise_own_table(const Candidate& candidate, const OpenRun& run);
// Why none of them fits a file that nothing else takes; empty where there are none.
std::string why_no_own_table(const Candidate& candidate, const OpenRun& run);
void open_own_table(const Input& input, std::size_t place, OpenRun& run);

// SigmaStar's models, which join the IPU timelines among the inputs.
std::optional<FormatKind> recognise_sigmastar_model(const Candidate& candidate);
void open_sigmastar_models(std::span<const Input> inputs, OpenRun& run);

// What npuscope snapshot keeps of runs.
std::optional<FormatKind> recognise_snapshot(const Candidate& candidate);
void open_snapshots(std::span<const Input> inputs, OpenRun& run);
// Obviously of people for people: in a folder of profiles nobody need be told of it.
bool is_documentation(const std::filesystem::path& path);

// Why a file that no row recognises cannot be opened, and what to do.
struct Refusal {
  std::string message;
  bool is_advice = false;  // worth telling of files found in folders too
};
Refusal explain_unknown(const Candidate& candidate);

}  // namespace npuscope
