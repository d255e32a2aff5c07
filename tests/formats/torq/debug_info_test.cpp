#include "formats/torq/debug/debug_info.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "formats/torq/debug/debug_folder.hpp"
#include "formats/torq/debug/mlir_text.hpp"
#include "formats/torq/files.hpp"

namespace npuscope::torq::debug_info_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// --- text ---

TEST(MlirText, RegionsBlocksAndTails) {
  const MlirText text = split_mlir(
      "#loc = loc(unknown)\n#map = affine_map<(d0) -> (d0)>\n"
      "module {\n"
      "  %0:2, %x = a.b \"s } {\" {k = {}, \"q-k\" = 7 : i32} -> () loc(#loc) // { comment\n"
      "  \"c.d\"() ({\n  ^bb0(%a: t<\"(\"> loc(unknown), %b: t):\n    e.f\n"
      "  ^bb1:  // pred: ^bb0\n    g.h\n  }, {\n    i.j\n  }) {\"q-k\" = 8 : i32} : () -> ()\n"
      "  k.l\n}\n{-# dialect_resources: { builtin: { x: \"0x00\" } } #-}\n");
  std::string printed;
  for (const MlirOp& op : text.ops) {
    printed += fmt::format("{} {} in {} of {}: {} | {}\n", op.results, op.name,
                           text.blocks[op.block].label, int(op.parent), op.head, op.tail);
  }
  EXPECT_EQ(printed,
            " module in  of -1:  | \n"
            "%0:2, %x a.b in  of 0: \"s } {\" {k = {}, \"q-k\" = 7 : i32} -> () loc(#loc) | \n"
            " c.d in  of 0: () ( | ) {\"q-k\" = 8 : i32} : () -> ()\n"
            " e.f in ^bb0 of 2:  | \n g.h in ^bb1 of 2:  | \n i.j in  of 2:  | \n"
            " k.l in  of 0:  | \n");
  ASSERT_EQ(text.locations.size(), 1u);
  EXPECT_EQ(text.locations[0].name, "#loc");
}

TEST(MlirText, ValuesAndAttributes) {
  EXPECT_THAT(values_in("(%a, %5#0) \"%no\" %b : t"), ElementsAre("%a", "%5#0", "%b"));
  EXPECT_EQ(integer_attribute("{bid = 3, id = 4 : index}", "id"), 4);
  EXPECT_EQ(integer_attribute("{\"a-id\" = -5 : i32}", "a-id"), -5);
  EXPECT_EQ(integer_attribute("{id = \"x\"}", "id"), std::nullopt);
  EXPECT_EQ(string_attribute("<{name = \"n\\\"m\"}>", "name"), "n\\\"m");
  EXPECT_EQ(in_parentheses("f(a(b)\")\")c)", 1), "a(b)\")\"");
}

// --- programs ---

std::string print(const DispatchInfo& dispatch) {
  std::string text = dispatch.name + "\n";
  for (const Action& action : dispatch.actions) {
    text += fmt::format("{} {} {} {}\n", action.id, action.operation, int(action.program),
                        dispatch.locations.brief(action.location));
  }
  for (const ProgramRun& run : dispatch.programs) {
    text += fmt::format("{} job {} actions {}-{} uses", run.name, run.job.value_or(-1),
                        run.start_action, run.wait_action);
    for (std::size_t unit = 0; unit < npu_unit_count; ++unit) {
      if (run.uses[unit]) text += fmt::format(" {},", name_of(NpuUnit(unit)));
    }
    for (const std::string& kernel : run.kernels) text += " " + kernel;
    if (run.cycles) text += fmt::format(" {}-{}", run.cycles->begin, run.cycles->end);
    text += "\n";
    for (const std::uint32_t index : run.work) {
      const UnitWork& work = dispatch.work[index];
      text += fmt::format("  {} {} {}-{} {}\n", name_of(work.unit), work.kernel,
                          work.cycles ? work.cycles->begin : -1,
                          work.cycles ? work.cycles->end : -1, work.duration_cycles.value_or(-1));
    }
  }
  return text + lines_of(dispatch.notes);
}

std::string read(std::string_view text) {
  const auto dispatches = read_debug_info(text, "d.mlir");
  if (!dispatches) return dispatches.error().message;
  std::string out;
  for (const DispatchInfo& dispatch : *dispatches) out += print(dispatch);
  return out;
}

// Kernels come through ^bb1's arguments, which the branch passes crosswise; slice 1 still runs when
// the second program begins.
constexpr std::string_view programs =
    "nss_program_0 job 0 actions 1-2 uses Slice 0, Slice 1, DMA In, conv2d_0 add_1 0-140\n"
    "  DMA In  0-40 40\n  Slice 0 conv2d_0 40-140 100\n"
    "nss_program_1 job 1 actions 3-4 uses Slice 1, DMA Out, add_1 140-150\n"
    "  Slice 1 add_1 41-150 30\n  DMA Out  140-150 10\n";

TEST(DebugInfo, FollowsPrograms) {
  EXPECT_EQ(read(contents(data("debug_info/main_dispatch_0.mlir"))),
            "main_dispatch_0\n"
            "0 torq_hl.host_copy -1 loc(unknown)\n"
            "1 torq_hl.start_program 0 @L3C10\n2 torq_hl.wait_program 0 @L3C10\n"
            "3 torq_hl.start_program 1 @L3C10+@L4C10\n4 torq_hl.wait_program 1 @L3C10+@L4C10\n"
            "5 torq_hl.start_program 2 @L5C12\n6 torq_hl.wait_program 2 @L5C12\n" +
                std::string(programs) + "host_program_0 job -1 actions 5-6 uses\n");
}

TEST(DebugInfo, TheGenericFormSaysTheSame) {
  EXPECT_EQ(read(contents(data("generic/main_dispatch_0.mlir"))),
            "main_dispatch_0\n"
            "0 torq_hl.host_copy -1 loc(unknown)\n"
            "1 torq_hl.start_program 0 @L3C10\n2 torq_hl.wait_program 0 @L3C10\n"
            "3 torq_hl.start_program 1 @L3C10+@L4C10\n4 torq_hl.wait_program 1 @L3C10+@L4C10\n" +
                std::string(programs));
}

std::string with(std::string text, std::string_view what, std::string_view by) {
  const auto at = text.find(what);
  EXPECT_NE(at, text.npos) << what;
  return text.replace(at, what.size(), by);
}

// A slice that runs the same kernel again was one kernel, where the vendor's table has a,a.
TEST(DebugInfo, RepeatedKernelsStayRepeated) {
  const std::string text = contents(data("debug_info/main_dispatch_0.mlir"));
  const auto begin = text.find("        \"torq_hw.slice_start\"(%arg4");
  const std::string start = text.substr(begin, text.find('\n', begin) + 1 - begin);
  EXPECT_THAT(read(with(text, start, start + start)),
              HasSubstr("uses Slice 0, Slice 1, DMA In, conv2d_0 conv2d_0 add_1 0-140\n"));
}

TEST(DebugInfo, NamesAreUtf8AsTheirEscapesSay) {
  std::string text = contents(data("debug_info/main_dispatch_0.mlir"));
  text = with(text, "@main_dispatch_0(", "@\"main_\\C3\\89(\\22\"(");
  text = with(text, "\"nss_program_1\" on", "\"nss_\\C3\\A9\" on");
  EXPECT_THAT(read(text), HasSubstr("main_\u00c9(\"\n"));
  EXPECT_THAT(read(text), HasSubstr("nss_\u00e9 job 1"));
}

// The last loc( of a line may stand within the name of its location.
TEST(DebugInfo, ALocationNamedLikeALocation) {
  for (const char* name : {"loc(fused[", "loc(", "a\\\"loc(b", "loc(\\\\"}) {
    const std::string text =
        with(contents(data("debug_info/main_dispatch_0.mlir")), "0 : i32} loc(#loc)",
             "0 : i32} loc(\"" + std::string(name) + "\"(#loc1))");
    EXPECT_THAT(read(text), HasSubstr("0 torq_hl.host_copy -1 @L3C10\n")) << name;
    EXPECT_THAT(read(text), testing::Not(HasSubstr("cannot be read"))) << name;
  }
}

TEST(DebugInfo, OfAPhaseDumpInsideItsExecutable) {
  const std::string inside = contents(data("generic/main_dispatch_0.mlir"));
  const std::string dump =
      "module {\n  hal.executable private @e {\n    hal.executable.variant "
      "public @torq target(<\"torq\", \"fb\">) {\n" +
      inside.substr(0, inside.find("#loc = ")) + "    }\n  }\n}\n";
  EXPECT_THAT(read(dump), HasSubstr("nss_program_1 job 1 actions 3-4"));
}

TEST(DebugInfo, WhatDoesNotFitIsCounted) {
  const std::string text = R"(module {
  func.func @d() {
    torq_hl.start_program %gone : !torq_hl.invocation<nss> {"torq-action-id" = 0 : i32} loc(#none)
    torq_hl.wait_program %never : !torq_hl.invocation<nss> {"torq-action-id" = 1 : i32}
    torq_hl.alloc {"torq-action-id" = 1 : i32}
    torq_hl.alloc {"torq-action-id" = -1 : i32}
    torq_hl.alloc {"torq-action-id" = 99999999999 : i32}
  }
})";
  EXPECT_EQ(read(text),
            "d\n0 torq_hl.start_program 0 loc(unknown)\n1 torq_hl.wait_program -1 loc(unknown)\n"
            " job -1 actions 0--1 uses\n"
            "locations that cannot be read; taken as unknown: location #none is not defined; is "
            "the file complete?\n"
            "actions whose id is negative, too large or taken; left out, 3 times\n"
            "programs started by an invocation that nothing describes\n"
            "waits for a program that nothing started\n"
            "programs that are started and never waited for\n");
}

TEST(DebugInfo, BytecodeIsAnsweredWithACommand) {
  EXPECT_TRUE(looks_like_mlir_bytecode("ML\xefR\x06..."));
  EXPECT_THAT(read("ML\xefR\x06..."),
              HasSubstr("for f in ./*.mlirb; do iree-opt --mlir-print-debuginfo"));
  EXPECT_EQ(mlir_bytecode_advice("a/d.mlirb"),
            "MLIR bytecode; make the whole folder text with the compiler's own tool: for f in "
            "a/*.mlirb; do iree-opt --mlir-print-debuginfo \"$f\" -o \"${f%b}\"; done; then name a "
            "again");
}

TEST(DebugInfo, IsKnownByItsFirstLines) {
  EXPECT_TRUE(looks_like_mlir("module {\n"));
  EXPECT_TRUE(looks_like_mlir("// dump\n#map = affine_map<>\n\n\"builtin.module\"() ({\n"));
  EXPECT_FALSE(looks_like_mlir("# a script\nmodule load x\n"));
  EXPECT_FALSE(looks_like_mlir(""));
}

TEST(DebugInfo, WithoutActionsIsRefused) {
  EXPECT_THAT(read("module {\n  func.func @main() {\n    return\n  }\n}\n"),
              HasSubstr("no dispatch function with Torq actions"));
}

// Cut anywhere, or with characters changed.
TEST(DebugInfo, SurvivesAnyText) {
  const std::string whole = contents(data("debug_info/main_dispatch_0.mlir"));
  std::mt19937 random(3);
  for (int i = 0; i < 400; ++i) {
    std::string text = whole.substr(0, random() % (whole.size() + 1));
    for (int k = 0; k < 4 && !text.empty(); ++k) {
      text[random() % text.size()] = char("{}()\"%#^=\n<"[random() % 11]);
    }
    const auto dispatches = read_debug_info(text, "d.mlir");
    if (!dispatches) continue;
    for (const DispatchInfo& dispatch : *dispatches) {
      EXPECT_LE(dispatch.actions.size(), 8u);
      make_profile(dispatch);
    }
  }
}

TEST(DebugInfo, BlocksInACircleEnd) {
  const std::string text = R"(module {
  func.func @d() {
    %0 = torq_hl.program "p" : !torq_hl.program<nss> {
    ^bb0(%a: x):
      torq_hl.next %a lram_area(%a : x) to ^bb2
    ^bb1(%b: x):
      torq_hw.nss_task {"torq-task-id" = 0 : i64}() {
        "torq_hw.slice_start"(%b) <{id = 0 : index}> : () -> ()
      }
      torq_hl.next %c lram_area(%a : x) to ^bb2
    ^bb2(%c: x):
      torq_hl.next %b lram_area(%a : x) to ^bb1
    }
    %1 = torq_hl.descriptor "p" on 0 program %0 : <nss>
    torq_hl.start_program %1 : !torq_hl.invocation<nss> args(%1 : x) {"torq-action-id" = 0 : i32}
  }
})";
  EXPECT_THAT(read(text), HasSubstr("p job -1 actions 0--1 uses Slice 0"));
}

TEST(DebugInfo, EstimatesAreAProfileInCycles) {
  const auto dispatches =
      read_debug_info(contents(data("debug_info/main_dispatch_0.mlir")), "d.mlir");
  ASSERT_TRUE(dispatches);
  const auto profile = make_profile(dispatches->front());
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->clocks[0].rate.value, 0);
  ASSERT_EQ(profile->spans.size(), 4u);
  EXPECT_EQ(profile->spans.duration[1], 100);  // the operation, not what waits for it
  EXPECT_EQ(profile->phases.size(), 2u);
}

// Two transfers under way at once, a slice after both, a transfer out after the slice.
TEST(DebugInfo, EstimatesSayWhatTheNssHadWaitedFor) {
  const std::string text = R"(module {
  func.func @d() {
    %0 = torq_hl.program "p" : !torq_hl.program<nss> {
    ^bb0(%a: x):
      torq_hw.nss_task {"torq-task-id" = 0 : i64, "torq-start-time-cycles" = 0 : i64, "torq-end-time-cycles" = 0 : i64}() {
        torq_hw.dma_in_start {"torq-async-duration-cycles" = 5 : i64}
        torq_hw.dma_in_start {"torq-async-duration-cycles" = 9 : i64}
      }
      torq_hw.nss_task {"torq-task-id" = 1 : i64, "torq-start-time-cycles" = 0 : i64, "torq-end-time-cycles" = 9 : i64}() {
        torq_hw.dma_in_wait
      }
      torq_hw.nss_task {"torq-task-id" = 2 : i64, "torq-start-time-cycles" = 9 : i64, "torq-end-time-cycles" = 29 : i64}() {
        "torq_hw.slice_start"(%a) <{id = 0 : index}> {"torq-async-duration-cycles" = 20 : i64} : () -> ()
        "torq_hw.slice_wait"() <{id = 0 : index}> : () -> ()
      }
      torq_hw.nss_task {"torq-task-id" = 3 : i64, "torq-start-time-cycles" = 29 : i64, "torq-end-time-cycles" = 36 : i64}() {
        torq_hw.dma_out_start {"torq-async-duration-cycles" = 7 : i64}
        torq_hw.dma_out_wait
      }
    }
    %1 = torq_hl.descriptor "p" on 0 program %0 : <nss>
    torq_hl.start_program %1 : !torq_hl.invocation<nss> args(%1 : x) {"torq-action-id" = 0 : i32}
  }
})";
  const auto dispatches = read_debug_info(text, "d.mlir");
  ASSERT_TRUE(dispatches) << dispatches.error().message;
  const auto profile = make_profile(dispatches->front());
  ASSERT_TRUE(profile);
  std::string arrows;
  for (const Flow& flow : profile->flows) {
    const auto at = [&](SpanId span) {
      const UnitId unit = profile->spans.unit[index_of(span)];
      return fmt::format("{} {}", profile->text(profile->units[index_of(unit)].name),
                         profile->spans.duration[index_of(span)]);
    };
    arrows += fmt::format("{} -> {}\n", at(flow.from), at(flow.to));
  }
  EXPECT_EQ(arrows,
            "DMA In 5 -> Slice 0 20\nDMA In 9 -> Slice 0 20\nSlice 0 20 -> DMA Out 7\n"
            "DMA In 5 -> DMA Out 7\nDMA In 9 -> DMA Out 7\n");
}

// --- sources ---

TEST(DebugFolder, FindsTheOperatorsOfTheModel) {
  const auto debug = load_debug_info(std::filesystem::path(data("debug_info")));
  ASSERT_TRUE(debug) << debug.error().message;
  const DispatchInfo* dispatch = debug->find("main_dispatch_0");
  ASSERT_NE(dispatch, nullptr);
  EXPECT_THAT(debug->operators_of(*dispatch, dispatch->action(3)->location),
              ElementsAre("tosa.conv2d@L3", "tosa.add@L4"));
  EXPECT_THAT(debug->operators_of(*dispatch, dispatch->action(5)->location), ElementsAre());
  EXPECT_EQ(debug->find("other"), nullptr);
  EXPECT_EQ(debug->find(""), dispatch);
}

TEST(DebugFolder, OperatorsOfLines) {
  SourceFiles sources({data("")});
  EXPECT_EQ(sources.operator_at({"model.mlir", 3, 1}), "tosa.conv2d");
  EXPECT_EQ(sources.operator_at({"/elsewhere/model.mlir", 4, 1}), "tosa.add");
  EXPECT_EQ(sources.operator_at({"model.mlir", 5, 1}), "onnx.Relu");
  EXPECT_EQ(sources.operator_at({"model.mlir", 2, 1}), std::nullopt);
  EXPECT_EQ(sources.missing_lines(), 0u);
  EXPECT_EQ(sources.operator_at({"model.mlir", 99, 1}), std::nullopt);
  EXPECT_EQ(sources.missing_lines(), 1u);
  EXPECT_EQ(sources.operator_at({"gone.mlir", 1, 1}), std::nullopt);
  EXPECT_EQ(sources.missing_files(), 1u);
}

// With too few open files it was left out without a word.
TEST(DebugFolder, ASourceFileThatCannotBeReadIsAWarning) {
  const auto folder = std::filesystem::path(::testing::TempDir()) /
                      ("torq_unreadable_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "model.mlir") << "\x1f\x8b\x08 and no more of a gzip";
  SourceFiles sources({folder});
  EXPECT_EQ(sources.operator_at({"model.mlir", 3, 1}), std::nullopt);
  EXPECT_EQ(sources.operator_at({"model.mlir", 4, 1}), std::nullopt);
  ASSERT_EQ(sources.unreadable().size(), 1u);
  const Note& note = sources.unreadable().front();
  EXPECT_EQ(note.severity, Severity::warning);
  EXPECT_EQ(note.file, (folder / "model.mlir").string());
  EXPECT_THAT(note.message, testing::EndsWith("; operators of this source file are missing"));
  std::filesystem::remove_all(folder);
}

TEST(DebugFolder, OfBytecodeAloneSaysWhatToDo) {
  const auto folder =
      std::filesystem::path(::testing::TempDir()) / ("torq_bytecode_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "d.mlirb", std::ios::binary) << "ML\xefR\x06";
  const auto debug = load_debug_info(folder);
  std::filesystem::remove_all(folder);
  ASSERT_FALSE(debug);
  EXPECT_THAT(debug.error().message, HasSubstr("--mlir-print-debuginfo"));
}

}  // namespace
}  // namespace npuscope::torq::debug_info_test
