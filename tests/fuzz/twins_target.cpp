// Readers against slow and obvious twins, on traces that the input's bytes decide; the first byte
// says which:
//
//   c  Chrome JSON against a twin on a document tree
//   p  Perfetto against events that are decoded one by one and paired with a stack for each track
//   n  the same with ends that have names
//   i  arrows of Chrome JSON against the rules of Perfetto's importer
#include <fmt/format.h>

#include <algorithm>

#include "formats/chrome/dom_twin.hpp"
#include "formats/chrome/perfetto_view.hpp"
#include "formats/chrome/trace_text.hpp"
#include "formats/perfetto/read/read.hpp"
#include "formats/perfetto/slow_twin.hpp"
#include "fuzz/fuzzing.hpp"
#include "npuscope/base/byte_source.hpp"

namespace npuscope::fuzz {
namespace {

using test::Choices;

void require_equal(const auto& made, const auto& expected, const std::string& trace) {
  if (made == expected) return;
  fmt::print(stderr, "{}\n", trace);
  if constexpr (requires { std::string(made); }) {
    fmt::print(stderr, "made:\n{}\nexpected:\n{}\n", made, expected);
  }
  __builtin_trap();
}

// --- Chrome JSON ---

void compare_with_dom(Choices choices) {
  namespace chrome = chrome::test_support;
  const std::uint32_t events = 1 + choices.below(40), forms = choices.below(8);
  const std::string trace = chrome::RandomTrace(std::move(choices)).make(events, forms);
  const auto read = chrome::read_text(trace);
  const chrome::TwinTexts expected = chrome::read_by_twin(trace);
  require_equal(chrome::slices_text(read), expected.slices, trace);
  require_equal(chrome::marks_text(read), expected.marks, trace);
}

// --- Perfetto ---

perfetto::test::Paired pair_by_reader(const std::string& trace) {
  const auto source = open_byte_source(std::string_view(trace), "trace.pftrace");
  const auto profile = perfetto::read_profile(**source);
  if (!is_read(profile)) __builtin_trap();
  require_sound(*profile);
  return perfetto::test::pairs_of(*profile);
}

void compare_pairs(Choices choices) {
  const std::uint32_t late = choices.below(50);
  const std::string trace = perfetto::test::random_trace(choices, late);
  require_equal(pair_by_reader(trace), perfetto::test::pair_slowly(trace), trace);
}

void compare_pairs_of_names(Choices choices) {
  const std::string trace = perfetto::test::random_trace_with_names(choices);
  require_equal(pair_by_reader(trace).slices, perfetto::test::pair_names_slowly(trace), trace);
}

// --- arrows ---

// Slices that nest, on a few threads, and arrows where npuscope and Perfetto are to agree: from the
// begin of one slice to the later begin of another. docs/formats/perfetto.md says where they
// differ: at one moment, and once the slice that began last has ended.
class ArrowTrace {
 public:
  explicit ArrowTrace(Choices choices) : choices_(std::move(choices)) {}

  nlohmann::json make() {
    for (int thread = 0; thread < 2; ++thread) add_slices(thread, 0, 40, 0);
    if (slices_.empty()) add_slice(0, 0, 40);
    for (std::uint32_t arrow = choices_.below(6); arrow > 0; --arrow) {
      const Slice from = any_slice(), to = any_slice();
      if (from.begin >= to.begin) continue;
      add_end("s", arrow, from);
      add_end("f", arrow, to);
    }
    choices_.shuffle(events_);
    return events_;
  }

 private:
  struct Slice {
    int thread, begin, end;
  };

  void add_slices(int thread, int begin, int end, int depth) {
    while (begin < end && depth < 4 && choices_.below(4) > 0) {
      begin += int(choices_.below(3));
      const int length = 1 + int(choices_.below(12));
      if (begin + length > end) return;
      add_slice(thread, begin, begin + length);
      add_slices(thread, begin, begin + length, depth + 1);
      begin += length;
    }
  }
  void add_slice(int thread, int begin, int end) {
    events_.push_back({{"ph", "X"},
                       {"name", std::to_string(slices_.size())},
                       {"pid", 1},
                       {"tid", thread},
                       {"ts", begin},
                       {"dur", end - begin}});
    slices_.push_back({thread, begin, end});
  }
  const Slice& any_slice() { return slices_[choices_.below(std::uint32_t(slices_.size()))]; }
  void add_end(const char* phase, std::uint32_t id, const Slice& in) {
    events_.push_back({{"ph", phase},
                       {"bp", "e"},
                       {"name", "a"},
                       {"cat", "a"},
                       {"id", id},
                       {"pid", 1},
                       {"tid", in.thread},
                       {"ts", in.begin}});
  }

  Choices choices_;
  std::vector<nlohmann::json> events_;
  std::vector<Slice> slices_;
};

void compare_arrows(Choices choices) {
  const nlohmann::json events = ArrowTrace(std::move(choices)).make();
  std::vector<std::string> expected, made;
  for (const auto& arrow : test::as_perfetto_sees(events, test::to_nanoseconds).arrows) {
    expected.push_back(fmt::format("{} -> {}", arrow.from->at("name").get<std::string>(),
                                   arrow.to->at("name").get<std::string>()));
  }
  const Profile profile = chrome::make_profile(chrome::test_support::read_text(events.dump()));
  require_sound(profile);
  const auto name = [&](SpanId span) {
    return profile.text(profile.ops[index_of(profile.spans.op[index_of(span)])].name);
  };
  for (const Flow& flow : profile.flows) {
    made.push_back(fmt::format("{} -> {}", name(flow.from), name(flow.to)));
  }
  std::ranges::sort(expected);
  std::ranges::sort(made);
  require_equal(fmt::format("{}", fmt::join(made, "\n")),
                fmt::format("{}", fmt::join(expected, "\n")), events.dump());
}

struct Twin {
  char letter;
  void (*compare)(Choices);
};
constexpr Twin twins[] = {{'c', compare_with_dom},
                          {'p', compare_pairs},
                          {'n', compare_pairs_of_names},
                          {'i', compare_arrows}};

}  // namespace

// Bytes at random: the generators make something of any.
std::vector<std::string> good_inputs() {
  std::vector<std::string> inputs;
  Choices choices(1u);
  for (const Twin& twin : twins) {
    for (std::size_t length = 16; length <= 1024; length *= 2) {
      std::string input(1, twin.letter);
      while (input.size() < length) input += char(choices.below(256));
      inputs.push_back(input);
    }
  }
  return inputs;
}

}  // namespace npuscope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace npuscope;
  if (size == 0) return 0;
  for (const fuzz::Twin& twin : fuzz::twins) {
    if (char(bytes[0]) != twin.letter) continue;
    twin.compare(test::Choices(std::string(reinterpret_cast<const char*>(bytes) + 1, size - 1)));
  }
  return 0;
}
