#include "formats/qaic/qpc/program.hpp"

#include <xxhash.h>

#include "base/sections.hpp"
#include "base/try.hpp"
#include "formats/qaic/qpc/program_check.hpp"

namespace npuscope::qaic {
namespace {

constexpr std::string_view program_magic = "NPUPROGM";
constexpr SectionVersion program_version{1, 0};

// The fingerprint covers the sections in the order of these numbers.
enum ProgramSection : std::uint32_t {
  section_identity = 1,      // 1 Identity
  section_network_name = 2,  // text
  section_pmu_events = 3,    // u32
  section_kernel_ends = 4,   // u32: end of each name in section 5
  section_kernel_names = 5,  // text
  section_queue_begin = 6,   // u32
  section_tasks = 7,         // Task
  section_waits = 8,         // Wait
  section_dependencies = 9,  // Dependency
  // Only where constants stay in VTCM
  section_hoisted_bytes = 12,  // u64
  // Only of a multi-device program
  section_slice = 10,           // 1 Slice
  section_peer_transfers = 11,  // PeerTransfer
};

struct Slice {
  std::uint32_t slice = 0;
  std::uint32_t slices = 0;
};

struct Identity {
  std::uint32_t cores = 0;
  std::uint32_t hvx_threads = 0;
  std::uint32_t batch_size = 0;
  std::uint32_t stats_level = 0;
  std::uint32_t stats_batch_size = 0;
  std::uint32_t ddr_stats = 0;
  std::uint64_t input_bytes = 0;
  std::uint64_t output_bytes = 0;
  std::uint64_t retained_bytes = 0;
};
static_assert(sizeof(Identity) == 48);
static_assert(sizeof(Wait) == 8 && sizeof(Dependency) == 8);

Identity identity_of(const Program& program) {
  return {program.cores,       program.hvx_threads,      program.batch_size,
          program.stats_level, program.stats_batch_size, program.ddr_stats ? 1u : 0u,
          program.input_bytes, program.output_bytes,     program.retained_bytes};
}

// Records that the program has in another form.
struct OwnRecords {
  explicit OwnRecords(const Program& program)
      : identity(identity_of(program)), slice{program.slice, program.slices} {
    for (const std::string& kernel : program.kernels) {
      names += kernel;
      ends.push_back(std::uint32_t(names.size()));
    }
  }
  Identity identity;
  Slice slice;
  std::vector<std::uint32_t> ends;
  std::string names;
};

// Calls visit(section, records) for every section in order. What is written and what is
// fingerprinted are the same by construction.
template <class Visit>
void for_each_section(const Program& program, const OwnRecords& own, Visit visit) {
  visit(section_identity, std::span<const Identity>(&own.identity, 1));
  visit(section_network_name, std::span<const char>(program.network_name));
  visit(section_pmu_events, std::span<const std::uint32_t>(program.pmu_events));
  visit(section_kernel_ends, std::span<const std::uint32_t>(own.ends));
  visit(section_kernel_names, std::span<const char>(own.names));
  visit(section_queue_begin, std::span<const std::uint32_t>(program.queue_begin));
  visit(section_tasks, std::span<const Task>(program.tasks));
  visit(section_waits, std::span<const Wait>(program.waits));
  visit(section_dependencies, std::span<const Dependency>(program.dependencies));
  if (!program.hoisted_bytes.empty()) {
    visit(section_hoisted_bytes, std::span<const std::uint64_t>(program.hoisted_bytes));
  }
  if (program.slices == 1) return;
  visit(section_slice, std::span<const Slice>(&own.slice, 1));
  visit(section_peer_transfers, std::span<const PeerTransfer>(program.peer_transfers));
}

template <class Record>
Status read_section(const SectionReader& sections, ProgramSection kind, std::string_view name,
                    std::vector<Record>& out) {
  const SectionEntry* entry = sections.find(kind);
  if (entry == nullptr) {
    return input_error("{}: section kind {} of the program is missing", name, std::uint32_t(kind));
  }
  TRY_AS(records, sections.records<Record>(*entry));
  out = std::move(*records);
  return {};
}

Status read_text(const SectionReader& sections, ProgramSection kind, std::string_view name,
                 std::string& out) {
  std::vector<char> text;
  if (auto read = read_section(sections, kind, name, text); !read) return read;
  out.assign(text.begin(), text.end());
  return {};
}

Status read_identity(const SectionReader& sections, std::string_view name, Program& program) {
  std::vector<Identity> records;
  if (auto read = read_section(sections, section_identity, name, records); !read) return read;
  if (records.size() != 1 || records[0].ddr_stats > 1) {
    return input_error("{}: section kind {} of the program makes no sense; write the file again",
                       name, std::uint32_t(section_identity));
  }
  const Identity& identity = records[0];
  program.cores = identity.cores;
  program.hvx_threads = identity.hvx_threads;
  program.batch_size = identity.batch_size;
  program.stats_level = identity.stats_level;
  program.stats_batch_size = identity.stats_batch_size;
  program.ddr_stats = identity.ddr_stats != 0;
  program.input_bytes = identity.input_bytes;
  program.output_bytes = identity.output_bytes;
  program.retained_bytes = identity.retained_bytes;
  return {};
}

Status read_slice(const SectionReader& sections, std::string_view name, Program& program) {
  if (sections.find(section_slice) == nullptr) return {};
  std::vector<Slice> records;
  if (auto read = read_section(sections, section_slice, name, records); !read) return read;
  if (records.size() != 1) {
    return input_error("{}: section kind {} of the program makes no sense; write the file again",
                       name, std::uint32_t(section_slice));
  }
  program.slice = records[0].slice;
  program.slices = records[0].slices;
  return read_section(sections, section_peer_transfers, name, program.peer_transfers);
}

Status read_kernels(const SectionReader& sections, std::string_view name, Program& program) {
  std::vector<std::uint32_t> ends;
  std::string names;
  if (auto read = read_section(sections, section_kernel_ends, name, ends); !read) return read;
  if (auto read = read_text(sections, section_kernel_names, name, names); !read) return read;
  std::uint32_t begin = 0;
  for (const std::uint32_t end : ends) {
    if (end < begin || end > names.size()) {
      return input_error("{}: kernel name {} is [{}, {}) of {} bytes", name, program.kernels.size(),
                         begin, end, names.size());
    }
    program.kernels.push_back(names.substr(begin, end - begin));
    begin = end;
  }
  if (begin != names.size()) {
    return input_error("{}: the {} kernel names end at byte {} of {}", name, ends.size(), begin,
                       names.size());
  }
  return {};
}

}  // namespace

std::uint64_t fingerprint(const Program& program) {
  std::vector<std::uint64_t> checksums;
  for_each_section(program, OwnRecords(program), [&](ProgramSection, auto records) {
    const ByteSpan bytes = std::as_bytes(records);
    checksums.push_back(XXH3_64bits(bytes.data(), bytes.size()));
  });
  return XXH3_64bits(checksums.data(), checksums.size() * sizeof(std::uint64_t));
}

namespace {

// `own` stays as long as the writer does.
SectionWriter writer_of(const Program& program, const OwnRecords& own) {
  SectionWriter writer(program_magic, program_version);
  for_each_section(program, own,
                   [&](ProgramSection kind, auto records) { writer.add(kind, 0, records); });
  return writer;
}

}  // namespace

std::uint64_t program_bytes(const Program& program) {
  return writer_of(program, OwnRecords(program)).bytes();
}

std::vector<std::byte> write_program(const Program& program) {
  std::vector<std::byte> out;
  write_program(program, out);
  return out;
}

void write_program(const Program& program, std::vector<std::byte>& out) {
  const OwnRecords own(program);
  writer_of(program, own).finish(out);
}

Result<Program> read_program(ByteSpan bytes, std::string name,
                             const std::function<void(ByteSpan)>& forget) {
  TRY_AS(sections, SectionReader::open(bytes, program_magic, program_version.major, name));
  sections->forget_with(forget);
  Program program;
  Status read = read_identity(*sections, name, program);
  const auto then = [&](auto step) {
    if (read) read = step();
  };
  const auto table = [&](ProgramSection kind, auto& out) {
    then([&] { return read_section(*sections, kind, name, out); });
  };
  then([&] { return read_text(*sections, section_network_name, name, program.network_name); });
  then([&] { return read_kernels(*sections, name, program); });
  table(section_pmu_events, program.pmu_events);
  table(section_queue_begin, program.queue_begin);
  table(section_tasks, program.tasks);
  table(section_waits, program.waits);
  table(section_dependencies, program.dependencies);
  if (sections->find(section_hoisted_bytes) != nullptr) {
    table(section_hoisted_bytes, program.hoisted_bytes);
  }
  then([&] { return read_slice(*sections, name, program); });
  then([&] { return check_program(program, name); });
  if (!read) return tl::unexpected(read.error());
  return program;
}

}  // namespace npuscope::qaic
