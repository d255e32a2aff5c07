#include "formats/tpu_mlir/profile_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace npuscope::tpu_mlir {
namespace {

constexpr std::array<const char*, 4> heads{"ENGINE_BD", "ENGINE_GDMA", "ENGINE_HAU", "ENGINE_SDMA"};
constexpr std::array<const char*, 4> ids{"b", "g", "h", "sd"};
constexpr std::array<const char*, 3> operations{"Conv2D", "MatMul", "Add"};
constexpr std::array<const char*, 4> kernels{"CONV", "AR", "MM2", "PorD"};

class Generator {
 public:
  explicit Generator(const ProfileOptions& options) : options_(options), random_(options.seed) {}

  GeneratedProfile run() {
    made_.text = fmt::format(
        "{0}\ns: start time, b: bd_id, g: gdma_id, e: end time, t: cmd cost time, dr: direction, "
        "sz: memsize, bw: bandwidth\n{0}\n",
        std::string(38, '-'));
    for (int i = 0; i < options_.engines; ++i) made_.text += fmt::format("{:<90}", heads[i]);
    made_.text += '\n';
    for (int layer = 0; layer < options_.layers; ++layer) add_layer(layer);
    if (options_.has_end) add_end();
    made_.locations = "[" + locations_ + "]\n";
    return std::move(made_);
  }

 private:
  int one_of(int count) { return int(random_() % unsigned(count)); }

  void add_layer(int number) {
    const int line = 10 + 3 * number;
    const char* operation = operations[std::size_t(one_of(3))];
    const std::string layer = fmt::format("{}_{}", operation, line);
    locations_ += fmt::format(
        "{}{{\"file-line\": {}, \"opcode\": \"tpu.{}\", \"tiu_dma_id(before)\": [0, 0], "
        "\"results\": [{{\"name\": \"tensor{}\"}}]}}",
        number == 0 ? "" : ",\n", line, operation, number);
    for (int i = 1 + one_of(4); i > 0; --i) add_command(layer, 1, "GDMA_TENSOR");
    for (int i = one_of(6); i > 0; --i) add_command(layer, 0, kernels[std::size_t(one_of(4))]);
    if (options_.engines == 4 && one_of(3) == 0) add_command(layer, 2, "SORT");
    if (options_.engines == 4 && one_of(2) == 0) add_command(layer, 3, "SDMA_TENSOR");
    if (one_of(5) == 0) add_command("", 0, "BD_SEND_MSG");
  }

  void add_command(const std::string& layer, int engine, const char* kernel) {
    TrueCommand command{layer, kernel, engine};
    const auto own = std::size_t(engine);
    command.start = free_[own];
    for (std::size_t other = 0; other < 4; ++other) {
      if (other == own || last_[other] == none) continue;
      const TrueCommand& awaited = made_.commands[last_[other]];
      command.start = std::max(command.start, awaited.start + awaited.cycles);
      if (waited_[own][other] != issued_[other]) command.waits.push_back(last_[other]);
      waited_[own][other] = issued_[other];
    }
    const bool is_message = layer.empty();
    command.cycles = is_message ? 0 : one_of(8) == 0 ? 0 : one_of(3000);
    const bool moves = engine == 1 || engine == 3;
    if (moves) {
      command.direction = one_of(4);
      command.bytes = one_of(1 << 16);
      if (engine == 1) made_.bytes[std::size_t(command.direction)] += command.bytes;
    }
    last_[own] = made_.commands.size();
    issued_[own] += 1;
    free_[own] = command.start + command.cycles;
    made_.engine_cycles[own] += command.cycles;
    made_.total = std::max(made_.total, free_[own]);
    print(command);
    made_.commands.push_back(std::move(command));
  }

  void print(const TrueCommand& command) {
    std::string cell = fmt::format("{}|{}|s:{}", command.layer, command.command, command.start);
    for (int i = 0; i < options_.engines; ++i) {
      cell += fmt::format("|{}:{}", ids[std::size_t(i)], issued_[std::size_t(i)]);
    }
    cell += fmt::format("|e:{}|t:{}", command.start + command.cycles - 1, command.cycles);
    if (command.direction >= 0) {
      cell +=
          fmt::format("|dr:{}|sz:{}|bw:{:.2f}", command.direction, command.bytes,
                      double(command.bytes) / double(std::max<std::int64_t>(1, command.cycles)));
    }
    made_.text += std::string(std::size_t(command.engine) * 90, ' ');
    made_.text += fmt::format("{:<90}\n", cell);
  }

  void add_end() {
    const std::int64_t total = options_.total_cycles > 0 ? options_.total_cycles : made_.total;
    made_.text += fmt::format("{}\nAPI_END total_cycle:{}|b:{}|g:{}\nTCYC : {}",
                              std::string(38, '-'), total, issued_[0], issued_[1], total);
    if (options_.has_engine_cycles) {
      made_.text += fmt::format(". (bdc_cycle:{}, gdma_cycle:{})", made_.engine_cycles[0],
                                made_.engine_cycles[1]);
    }
    made_.text += fmt::format(
        "\nGDMA SUMMARY : |dr[0] S2L:{}|dr[1] L2S:{}|dr[2] S2S:{}|dr[3] L2L:{}\n"
        "DDR BW USAGE : 12.50000000%\n{}\n\n\n"
        "flops: 123456, runtime: {:.6f}ms, ComputationAbility: 1.0T\n",
        made_.bytes[0], made_.bytes[1], made_.bytes[2], made_.bytes[3], std::string(39, '#'),
        double(total) / options_.ghz * 1e-6);
  }

  static constexpr std::size_t none = ~std::size_t{0};
  const ProfileOptions& options_;
  std::mt19937 random_;
  GeneratedProfile made_;
  std::string locations_;
  std::array<std::int64_t, 4> free_{}, issued_{};
  std::array<std::size_t, 4> last_{none, none, none, none};
  std::array<std::array<std::int64_t, 4>, 4> waited_{};
};

}  // namespace

GeneratedProfile generate(const ProfileOptions& options) { return Generator(options).run(); }

}  // namespace npuscope::tpu_mlir
