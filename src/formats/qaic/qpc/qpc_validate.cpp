#include <algorithm>
#include <cstring>
#include <optional>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "formats/qaic/opstats/opstats_names.hpp"
#include "formats/qaic/qpc/network_descriptor.hpp"
#include "formats/qaic/qpc/program.hpp"
#include "formats/qaic/qpc/qpc_contents.hpp"
#include "formats/qaic/qpc/schematic.hpp"

namespace npuscope::qaic {

std::string_view name_of(QpcVerdict verdict) {
  switch (verdict) {
    case QpcVerdict::ok: return "ok";
    case QpcVerdict::warning: return "warning";
    case QpcVerdict::error: return "error";
  }
  return "error";
}

namespace {

constexpr std::uint32_t known_descriptor_version = 9;

// constantsdesc.bin
struct ConstantsDescriptor {
  std::uint64_t static_bytes = 0;
  std::uint64_t dynamic_bytes = 0;
  std::uint8_t static_ecc = 0;
  std::uint8_t dynamic_ecc = 0;
  std::uint8_t padding[6] = {};
};
static_assert(sizeof(ConstantsDescriptor) == 24);

std::size_t op_count(const StatsDescriptor& stats) {
  std::size_t count = 0;
  for (const auto& groups : stats.ops) {
    for (const auto& ops : groups) count += ops.size();
  }
  return count;
}

class ContainerValidator {
 public:
  ContainerValidator(const QpcContainer& container, std::string_view name, QpcValidation& out)
      : container_(container), name_(name), out_(out) {}

  void run() {
    const Qpc& qpc = container_.qpc;
    std::uint64_t bytes = 0;
    for (const QpcSegment& segment : qpc.segments) bytes += segment.bytes.size();
    ok("container", "QPC {}.{}, {}, {} in them", qpc.major_version, qpc.minor_version,
       counted(qpc.segments.size(), "segment"), counted(bytes, "byte"));
    if (wraps_others()) return;
    check_segments();
    check_constants();
    check_descriptor();
    check_program();
    if (descriptor_ && program_) check_ops();
    check_schematic();
  }

 private:
  template <class... Args>
  void add(QpcVerdict verdict, std::string check, fmt::format_string<Args...> text,
           Args&&... args) {
    out_.findings.push_back({verdict, container_.path, std::move(check),
                             fmt::format(text, std::forward<Args>(args)...)});
  }
  template <class... Args>
  void ok(std::string check, fmt::format_string<Args...> text, Args&&... args) {
    add(QpcVerdict::ok, std::move(check), text, std::forward<Args>(args)...);
  }
  template <class... Args>
  void warning(std::string check, fmt::format_string<Args...> text, Args&&... args) {
    add(QpcVerdict::warning, std::move(check), text, std::forward<Args>(args)...);
  }
  template <class... Args>
  void error(std::string check, fmt::format_string<Args...> text, Args&&... args) {
    add(QpcVerdict::error, std::move(check), text, std::forward<Args>(args)...);
  }

  const QpcSegment* find(std::string_view segment) const { return container_.qpc.find(segment); }
  std::string full_name(std::string_view segment) const {
    return segment_path(segment_path(name_, container_.path), segment);
  }

  // A multi-device program's outer container holds one container per device and no network.
  bool wraps_others() {
    const auto& segments = container_.qpc.segments;
    const auto nested = std::count_if(segments.begin(), segments.end(),
                                      [](const QpcSegment& segment) { return segment.is_qpc(); });
    if (nested == 0 || find(segment_network_descriptor) != nullptr) return false;
    ok("segments", "{}", counted(std::uint64_t(nested), "nested container"));
    return true;
  }

  void check_segments() {
    const bool has_code = find(segment_network_elf) || find(segment_program);
    if (!find(segment_network_descriptor)) {
      error("segments", "{} is missing", segment_network_descriptor);
    }
    if (!has_code) {
      error("segments", "{} is missing, and so is {}", segment_network_elf, segment_program);
    }
    if (has_code && find(segment_network_descriptor)) ok("segments", "the required ones are there");
    const QpcSegment* elf = find(segment_network_elf);
    if (elf && !as_text(elf->bytes)
                    .starts_with("\x7f"
                                 "ELF")) {
      error("segments", "{} is not an ELF file", segment_network_elf);
    }
  }

  // The two files come together, but for npuscope's own programs, which keep sizes only.
  void check_constants() {
    const QpcSegment* constants = find(segment_constants);
    const QpcSegment* sizes = find(segment_constants_descriptor);
    if (!constants && !sizes) return;
    if (!sizes) return error("constants", "{} is missing", segment_constants_descriptor);
    if (sizes->bytes.size() != sizeof(ConstantsDescriptor)) {
      return error("constants", "{} has {} bytes, expected {}", segment_constants_descriptor,
                   sizes->bytes.size(), sizeof(ConstantsDescriptor));
    }
    ConstantsDescriptor descriptor;
    std::memcpy(&descriptor, sizes->bytes.data(), sizeof descriptor);
    if (constants) return check_constant_sizes(*constants, descriptor);
    if (!find(segment_program)) return error("constants", "{} is missing", segment_constants);
    ok("constants", "{} static and {} dynamic bytes, not kept", thousands(descriptor.static_bytes),
       thousands(descriptor.dynamic_bytes));
  }

  void check_constant_sizes(const QpcSegment& constants, const ConstantsDescriptor& descriptor) {
    const std::uint64_t size = constants.bytes.size();
    if (descriptor.static_bytes > size ||
        descriptor.dynamic_bytes != size - descriptor.static_bytes) {
      return error("constants", "{} says {} static and {} dynamic bytes, but {} has {}",
                   segment_constants_descriptor, descriptor.static_bytes, descriptor.dynamic_bytes,
                   segment_constants, size);
    }
    if (constants.offset != descriptor.static_bytes) {
      return warning("constants",
                     "the container says that static constants end at byte {}, {} "
                     "says {}",
                     constants.offset, segment_constants_descriptor, descriptor.static_bytes);
    }
    ok("constants", "{} static and {} dynamic bytes", thousands(descriptor.static_bytes),
       thousands(descriptor.dynamic_bytes));
  }

  void check_descriptor() {
    const QpcSegment* segment = find(segment_network_descriptor);
    if (!segment) return;
    auto read = read_network_descriptor(segment->bytes, full_name(segment->name));
    if (!read) return error("descriptor", "{}", read.error().message);
    descriptor_ = std::move(*read);
    const NetworkDescriptor& network = *descriptor_;
    if (network.major_version != known_descriptor_version) {
      warning("descriptor", "version {}.{}; {}.x is known", network.major_version,
              network.minor_version, known_descriptor_version);
    }
    if (const std::string contradiction = contradiction_in(network); !contradiction.empty()) {
      error("descriptor", "{}", contradiction);
    } else if (network.has_stats && network.stats.buffer_index >= network.dma_buffers.size()) {
      error("descriptor", "statistics lie in DMA buffer {}, but there are {}",
            network.stats.buffer_index, network.dma_buffers.size());
    } else {
      ok("descriptor", "network {}, {} of {}, {}", network.network_name,
         counted(network.num_cores, "core"), counted(network.num_threads, "thread"),
         stats_in_words(network));
    }
    out_.programs.push_back({container_.path, network.network_name, network.num_cores});
  }

  static std::string stats_in_words(const NetworkDescriptor& network) {
    if (!network.has_stats) return "no statistics";
    return fmt::format("statistics level {} with {}", network.stats.stats_level,
                       counted(op_count(network.stats), "op"));
  }

  void check_program() {
    const QpcSegment* segment = find(segment_program);
    if (!segment) return;
    auto read = read_program(segment->bytes, full_name(segment->name));
    if (!read) return error("program", "{}", read.error().message);
    program_ = std::move(*read);
    ok("program", "{} on {}, checksums match, no deadlock, fingerprint {:016x}",
       counted(program_->tasks.size(), "task"), counted(program_->cores, "core"),
       fingerprint(*program_));
  }

  void check_ops() {
    const NetworkDescriptor& network = *descriptor_;
    const Program& program = *program_;
    const std::uint32_t level = network.has_stats ? network.stats.stats_level : 0;
    const std::uint32_t program_level = network.has_stats ? program.stats_level : 0;
    if (network.network_name != program.network_name || network.num_cores != program.cores ||
        network.num_threads != program.threads_per_core() || level != program_level) {
      return error("ops",
                   "descriptor and program differ: network {} and {}, cores {} and {}, threads {} "
                   "and {}, statistics level {} and {}",
                   network.network_name, program.network_name, network.num_cores, program.cores,
                   network.num_threads, program.threads_per_core(), level, program.stats_level);
    }
    std::size_t different = 0;
    std::string first;
    for (std::uint32_t queue = 0; queue < program.queues(); ++queue) {
      const std::string difference = queue_difference(queue);
      if (difference.empty()) continue;
      if (++different == 1) first = difference;
    }
    if (different > 0) {
      return error("ops", "descriptor and program differ in {} of {} queues, first {}", different,
                   program.queues(), first);
    }
    ok("ops", "descriptor and program agree on {}",
       counted(op_count(network.stats), "recorded op"));
  }

  // Where a queue's ops in the descriptor are not the tasks that the program records; "" if they
  // are.
  std::string queue_difference(std::uint32_t queue) const {
    static const std::vector<OpNameKind> none;
    const std::uint32_t core = queue / thread_groups;
    const std::uint32_t group = queue % thread_groups;
    const auto& cores = descriptor_->stats.ops;
    const bool listed = core < cores.size() && group < cores[core].size();
    const std::vector<OpNameKind>& ops = listed ? cores[core][group] : none;

    const std::string where = fmt::format("core {} {}", core, name_of(ThreadGroup(group)));
    std::size_t position = 0;
    for (auto i = program_->queue_begin[queue]; i < program_->queue_begin[queue + 1]; ++i) {
      const Task& task = program_->tasks[i];
      if (!program_->records(task)) continue;
      const std::string& kernel = program_->kernels[task.kernel];
      const std::string_view kind =
          position < ops.size() ? descriptor_->stats.texts[ops[position].kind] : kernel;
      if (without_trailing_blanks(kind) != without_trailing_blanks(kernel)) {
        return fmt::format("{} op {}: {} in the descriptor, {} in the program", where, position,
                           kind, kernel);
      }
      ++position;
    }
    if (position == ops.size()) return "";
    return fmt::format("{}: {} in the descriptor, {} in the program", where,
                       counted(ops.size(), "op"), position);
  }

  // What the compiler kept of the graph for optraces: only programs for an HTP have one.
  void check_schematic() {
    const QpcSegment* segment = find(segment_schematic);
    if (!segment) return;
    const auto schematic = read_schematic(segment->bytes, full_name(segment->name));
    if (!schematic) return error("schematic", "{}", schematic.error().message);
    if (!program_) {
      return error("schematic", "{} explains a program, but none can be read", segment->name);
    }
    const std::uint64_t expected = fingerprint(*program_);
    if (schematic->program_fingerprint != expected) {
      return error("schematic",
                   "{} is of a program with fingerprint {:016x}, this one has {:016x}; take both "
                   "from one compilation",
                   segment->name, schematic->program_fingerprint, expected);
    }
    ok("schematic", "{} and {} of the model, fingerprint of this program",
       counted(schematic->ops.size(), "op"), counted(schematic->nodes.size(), "node"));
  }

  const QpcContainer& container_;
  std::string_view name_;
  QpcValidation& out_;
  std::optional<NetworkDescriptor> descriptor_;
  std::optional<Program> program_;
};

}  // namespace

bool QpcValidation::valid() const {
  return std::none_of(findings.begin(), findings.end(), [](const QpcFinding& finding) {
    return finding.verdict == QpcVerdict::error;
  });
}

QpcValidation validate_qpc(ByteSpan bytes, std::string_view name) {
  QpcValidation validation;
  validation.file = name;
  const QpcWalk walked = walk_qpc(bytes, name);
  for (const QpcContainer& container : walked.containers) {
    ContainerValidator(container, name, validation).run();
  }
  for (const BrokenQpc& broken : walked.broken) {
    validation.findings.push_back(
        {QpcVerdict::error, broken.path, "container", broken.error.message});
  }
  return validation;
}

}  // namespace npuscope::qaic
