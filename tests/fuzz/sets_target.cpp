// Sets of files that belong together, each of them good until the input puts bytes in its place:
//
//   q                     a QNN set as it is
//   q\n%%0\nBYTES         with BYTES as its first file
//   q\n%%0\nA\n%%3\nB     with A as its first and B as its fourth
//
// The letter says which set: q of QNN, h of QNN on a host, a of the Cloud AI 100 (a QPC, its
// descriptor, its program, raw buffers, a summary), t of Torq, s of SigmaStar. Only read, not
// analysed: `open` does that.
#include <algorithm>
#include <map>

#include "formats/qaic/opstats/opstats_summary.hpp"
#include "formats/qaic/qpc/sample_qpc.hpp"
#include "formats/qaic/stats/random_buffer.hpp"
#include "formats/qaic/stats/stats_decoder.hpp"
#include "formats/qnn/generated_run.hpp"
#include "formats/qnn/host_run.hpp"
#include "formats/sigmastar/image.hpp"
#include "formats/sigmastar/log.hpp"
#include "formats/sigmastar/write_timeline.hpp"
#include "formats/torq/annotate/annotate.hpp"
#include "formats/torq/overview.hpp"
#include "formats/torq/trace.hpp"
#include "fuzz/fuzzing.hpp"
#include "npuscope/formats/open.hpp"

namespace npuscope::fuzz {
namespace {

using File = std::pair<std::string, std::string>;  // name, bytes
using Files = std::vector<File>;

// How many profiles with spans these files gave.
std::size_t open(const ScratchFolder& folder, const std::vector<std::string>& names) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& name : names) paths.push_back(folder.file(name));
  OpenOptions options;
  options.source.decompressed_limit = 16 << 20;
  options.source.memory_limit = std::uint64_t{1} << 30;
  const auto opened = open_profiles(paths, options);
  if (!is_read(opened)) return 0;
  for (const Profile& profile : opened->profiles) require_sound(profile);
  return std::size_t(std::ranges::count_if(
      opened->profiles, [](const Profile& profile) { return profile.spans.size() > 0; }));
}

std::size_t open_all(const ScratchFolder& folder, const Files& files) {
  std::vector<std::string> names;
  for (const File& file : files) names.push_back(file.first);
  return open(folder, names);
}

// --- QNN ---

Files qnn_files() {
  qnn::test::GeneratedRun run = qnn::test::small_run();
  qnn::test::own_every_instant(run);
  return {{"run.json", qnn::test::op_trace_of(run)},
          {"run_runtrace.json", qnn::test::run_trace_of(run)},
          {"run_htp.json", qnn::test::htp_graph_of(run)},
          {"run_qnn_htp_analysis_summary.json", qnn::test::qhas_of(run)},
          {"run_profile.txt", qnn::test::viewer_text_of(run)},
          {"run.csv", qnn::test::viewer_csv_of(run)},
          {"run_viewer.json", qnn::test::viewer_json_of(run)}};
}

Files qnn_host_files() {
  const qnn::test::HostRun run = qnn::test::small_host_run();
  return {{"prof_qnn.log", qnn::test::log_of({run})},
          {"a_schematic.bin", qnn::test::schematic_of(run)},
          {"prof.csv", qnn::test::csv_of(run, 1)},
          {"qnn_op_trace.json", qnn::test::framework_trace_of({run})}};
}

// --- Cloud AI 100 ---

std::string text_of(const std::vector<std::byte>& bytes) { return std::string(as_text(bytes)); }

constexpr const char* buffer_name =
    "aic-profiling-program-0-activation-0-inf-213-QAicGraph-aiccyclecounts.bin";

qaic::test_support::RandomCase random_case() {
  return qaic::test_support::make_random_case({.seed = 7,
                                               .cores = 2,
                                               .ops_per_group = 6,
                                               .stats_level = 100,
                                               .pmu_counters = 2,
                                               .ddr_stats = true});
}

std::string qpc_of(const std::string& descriptor, const std::string& program) {
  const auto qpc =
      qaic::write_qpc({{"constantsdesc.bin", npuscope::test::constants_descriptor(5000, 0), 0},
                       npuscope::test::text_segment("networkdesc.bin", descriptor),
                       npuscope::test::text_segment("npuscope.program.bin", program)});
  return qpc ? text_of(*qpc) : std::string();
}

std::string summary_of(const qaic::test_support::RandomCase& made) {
  const auto network = qaic::StatsNetwork::create(made.descriptor, &made.program, {});
  const auto profile = qaic::decode_stats_buffer(made.bytes(), buffer_name, *network);
  return qaic::print_summary(qaic::summarise(*profile));
}

// The QPC is made of the descriptor and the program, and a buffer names the program that wrote it:
// damage within one of them is not refused because of the others.
Files qaic_files() {
  const auto made = random_case();
  const std::string descriptor = text_of(qaic::write_network_descriptor(made.descriptor));
  const std::string program = text_of(qaic::write_program(made.program));
  return {{"programqpc.bin", qpc_of(descriptor, program)},
          {buffer_name, text_of(made.bytes())},
          {"summary.txt", summary_of(made)},
          {"networkdesc.bin", descriptor},
          {"npuscope.program.bin", program}};
}

std::size_t open_qaic(const ScratchFolder& folder, const Files& files, const Files& good) {
  enum { qpc, buffer, summary, descriptor, program };
  const bool whole = files[qpc].second != good[qpc].second;
  if (!whole)
    folder.write(files[qpc].first, qpc_of(files[descriptor].second, files[program].second));
  const auto read = qaic::read_program(as_byte_span(files[program].second), "program");
  if (is_read(read) && files[buffer].second == good[buffer].second) {
    auto made = random_case();
    made.buffer.identity.program_fingerprint = qaic::fingerprint(*read);
    folder.write(buffer_name, text_of(made.bytes()));
  }
  (void)is_read(
      qaic::read_network_descriptor(as_byte_span(files[descriptor].second), "descriptor"));
  return open(folder, {files[qpc].first, files[buffer].first, files[summary].first});
}

// --- Torq ---

Files torq_files() {
  Files files;
  for (const char* name :
       {"tests/data/torq/runtime.csv", "tests/data/torq/debug_info/main_dispatch_0.mlir",
        "tests/data/torq/model.mlir", "tests/data/torq/annotated.csv",
        "examples/torq/conv2d_f4_s4_64x64x16_i16.csv"}) {
    const std::filesystem::path path = std::filesystem::path(NPUSCOPE_SOURCE_DIR) / name;
    files.emplace_back(path.filename().string(), contents(path));
  }
  return files;
}

std::size_t annotate(const ScratchFolder& folder, const Files& files) {
  const auto debug = torq::load_debug_info(
      std::vector<std::filesystem::path>{folder.file(files[1].first)}, {folder.file("")});
  if (!is_read(debug)) return 0;
  const auto source = open_byte_source(std::string_view(files[0].second), files[0].first);
  const auto annotation = torq::annotate(**source, *debug);
  if (!is_read(annotation)) return 0;
  (void)is_read(torq::write_annotated_csv(*annotation, folder.file("out.csv")));
  (void)is_read(torq::write_annotated_trace(*annotation, folder.file("out.pb")));
  const torq::Overview overview = torq::overview_of(*annotation);
  (void)torq::print_overview({&overview, 1}, torq::OverviewStyle{});
  return open(folder, {"out.csv", "out.pb"});
}

std::size_t open_torq(const ScratchFolder& folder, const Files& files) {
  const auto table = open_byte_source(std::string_view(files[3].second), files[3].first);
  (void)is_read(torq::read_annotated_overview(**table));
  return std::min(open_all(folder, files), annotate(folder, files));
}

// --- SigmaStar ---

Files sigmastar_files() {
  const std::filesystem::path root = NPUSCOPE_SOURCE_DIR;
  const std::filesystem::path folder = root / "examples/sigmastar";
  const std::string image = "squeezenet_fixed.sim_sgsimg.img";
  Files files{{"log_ctrl0.json", ""}};  // made of the logs
  for (const std::string& name : {std::string("squeezenet_fixed.sim"), image,
                                  image + "_log_core0.bin", image + "_log_core1.bin"}) {
    files.emplace_back(name, contents(folder / name));
  }
  // As many records as a mutation has a chance with.
  files[3].second.resize(1'600);
  files[4].second.resize(1'600);
  files.emplace_back("layout.toml", contents(root / "layouts/reference.toml"));
  return files;
}

// As `npuscope ipu` does: two logs through a layout become a timeline.
std::string timeline_of(const Files& files) {
  const auto layout = sigmastar::parse_layout(files[5].second, files[5].first);
  if (!is_read(layout)) return {};
  std::vector<sigmastar::CoreLog> logs;
  for (const std::size_t file : {3, 4}) {
    const std::string& bytes = files[file].second;
    auto log = sigmastar::decode_log(as_byte_span(bytes), *layout, files[file].first);
    if (!is_read(log)) return {};
    (void)sigmastar::problems_of(*log, bytes.size(), 4096);
    logs.push_back(std::move(*log));
  }
  const auto timeline = sigmastar::join_logs(std::move(logs), {0, 1}, {}, *layout, 1e9);
  if (!is_read(sigmastar::check_one_run(timeline))) return {};
  std::string json;
  sigmastar::write_timeline(timeline, {"ipu-muffin"},
                            [&](std::string_view piece) { json += piece; });
  return json;
}

std::size_t open_sigmastar(const ScratchFolder& folder, Files files) {
  if (files[0].second.empty()) files[0].second = timeline_of(files);
  folder.write(files[0].first, files[0].second);
  (void)is_read(sigmastar::read_image(as_byte_span(files[2].second), files[2].first));
  return std::min(open(folder, {files[0].first, files[1].first}),
                  open(folder, {files[0].first, files[2].first}));
}

// --- inputs ---

const std::map<char, Files>& good_sets() {
  static const std::map<char, Files> sets{{'q', qnn_files()},
                                          {'h', qnn_host_files()},
                                          {'a', qaic_files()},
                                          {'t', torq_files()},
                                          {'s', sigmastar_files()}};
  return sets;
}

constexpr std::string_view mark = "\n%%";

// The good files with those of the input in their places.
Files replaced(Files files, std::string_view input) {
  for (std::size_t at = input.find(mark); at != input.npos;) {
    const std::size_t next = input.find(mark, at + mark.size());
    const std::string_view part = input.substr(at + mark.size(), next - at - mark.size());
    at = next;
    const std::size_t which = part.empty() ? files.size() : std::size_t(part[0] - '0');
    if (which < files.size() && part.size() > 2) files[which].second = part.substr(2);
  }
  return files;
}

void run(std::string_view input) {
  static const ScratchFolder folder;
  const auto set = good_sets().find(input[0]);
  if (set == good_sets().end()) return;
  const Files& good = set->second;
  const Files files = replaced(good, input.substr(1));
  for (const File& file : files) folder.write(file.first, file.second);
  const std::size_t opened = set->first == 'a'   ? open_qaic(folder, files, good)
                             : set->first == 't' ? open_torq(folder, files)
                             : set->first == 's' ? open_sigmastar(folder, files)
                                                 : open_all(folder, files);
  const bool all_good = input.size() == 1;
  if (all_good && opened == 0) __builtin_trap();
}

}  // namespace

std::vector<std::string> good_inputs() {
  std::vector<std::string> inputs;
  for (const auto& [letter, files] : good_sets()) {
    inputs.emplace_back(1, letter);
    for (std::size_t i = 0; i < files.size(); ++i) {
      inputs.push_back(fmt::format("{}{}{}\n{}", letter, mark, i, files[i].second));
    }
  }
  return inputs;
}

}  // namespace npuscope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size > 0) npuscope::fuzz::run({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
