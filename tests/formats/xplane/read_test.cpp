#include "formats/xplane/read.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <random>
#include <set>
#include <tuple>

#include "formats/xplane/space_builder.hpp"

namespace npuscope::xplane::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

Profile read(std::vector<SpaceFile> files) {
  auto profile = read_profile(files, {});
  EXPECT_TRUE(profile.has_value()) << (profile ? "" : profile.error().message);
  return profile ? std::move(*profile) : Profile{};
}
Profile read(const std::string& bytes) { return read({{"a.xplane.pb", bytes}}); }

std::string unit_name(const Profile& profile, std::size_t row) {
  return std::string(profile.text(profile.units[index_of(profile.spans.unit[row])].name));
}
std::string op_name(const Profile& profile, std::size_t row) {
  return std::string(profile.text(profile.ops[index_of(profile.spans.op[row])].name));
}
std::map<std::string, SpanKind> kinds(const Profile& profile) {
  std::map<std::string, SpanKind> kinds;
  for (std::size_t row = 0; row < profile.spans.size(); ++row) {
    kinds[unit_name(profile, row) + " " + op_name(profile, row)] = profile.spans.kind[row];
  }
  return kinds;
}
const Op* find_op(const Profile& profile, std::string_view name) {
  for (const Op& op : profile.ops) {
    if (profile.text(op.name) == name) return &op;
  }
  return nullptr;
}
std::map<std::string, double> numbers_of(const Profile& profile, std::string_view name) {
  std::map<std::string, double> numbers;
  for (const Measure& measure : profile.measures) {
    if (measure.subject != Measure::Subject::op) continue;
    if (profile.text(profile.ops[measure.subject_id].name) != name) continue;
    numbers[std::string(profile.text(measure.what))] = measure.value;
  }
  return numbers;
}
std::vector<std::string> messages(const Profile& profile) {
  std::vector<std::string> messages;
  for (const Note& note : profile.notes) messages.push_back(note.message);
  return messages;
}

Stats op_stats(const std::string& op, const std::string& module) {
  return {{"hlo_op", Ref{op}}, {"hlo_module", Ref{module}}, {"run_id", std::int64_t{5}}};
}

PlaneBuilder cpu_host(std::int64_t delay_ns = 0) {
  PlaneBuilder host("/host:CPU");
  host.line(1, "python", 100 + delay_ns,
            {{"infer", 0, 9'000'123, {{"step_num", std::int64_t{0}}}},
             {"PjitFunction(net)", 1'000, 2'000'000, {}},
             {"infer", 10'000'000, 8'000'456, {{"step_num", std::int64_t{1}}}}});
  host.line(-6726071204035073195, "tf_XLAExecute/7", 100 + delay_ns,
            {{"dot.1", 3'000'001, 1'000'002, op_stats("dot.1", "jit_net")},
             {"end: dot.1", 4'000'000, 500, {{"_c", std::int64_t{4}}}},
             {"ThreadpoolListener::Record", 4'100'000, 0, {}},
             {"dot.1", 12'000'000, 1'000'005, op_stats("dot.1", "jit_net")}});
  return host;
}

TEST(XplaneRead, TimesArePicosecondsFromTheLinesStart) {
  const Profile profile = read(SpaceBuilder().add(cpu_host()).bytes());
  EXPECT_EQ(profile.clocks[index_of(profile.base_clock)].rate.value, 1e12);
  EXPECT_EQ(profile.provenance.format, format_name);
  EXPECT_EQ(profile.provenance.graph, "jit_net");
  EXPECT_EQ(profile.provenance.inferences, 2u);
  std::set<std::tuple<std::string, std::int64_t, std::int64_t, std::uint32_t>> ops;
  for (std::size_t row = 0; row < profile.spans.size(); ++row) {
    if (profile.spans.kind[row] != SpanKind::kernel) continue;
    ops.insert({op_name(profile, row), profile.spans.start[row], profile.spans.duration[row],
                profile.spans.instance[row]});
  }
  EXPECT_THAT(ops, ElementsAre(std::tuple("dot.1", 3'100'001, 1'000'002, 0),
                               std::tuple("dot.1", 12'100'000, 1'000'005, 1)));
}

TEST(XplaneRead, OpsOfTheCpuStandOnHostLines) {
  const Profile profile = read(SpaceBuilder().add(cpu_host()).bytes());
  EXPECT_THAT(kinds(profile),
              ElementsAre(Pair("python PjitFunction(net)", SpanKind::host),
                          Pair("python infer", SpanKind::inference),
                          Pair("tf_XLAExecute/7 ThreadpoolListener::Record", SpanKind::annotation),
                          Pair("tf_XLAExecute/7 dot.1", SpanKind::kernel),
                          Pair("tf_XLAExecute/7 end: dot.1", SpanKind::annotation)));
}

// TensorFlow's executor: its nodes were annotations, merged by type, and FunctionRun, which waits
// for them, was all the work of a step.
TEST(XplaneRead, NodesOfTensorFlowsExecutorWereNoWork) {
  PlaneBuilder host("/host:CPU");
  host.line(1, "python", 0, {{"FunctionRun", 0, 900, {}}, {"EagerExecute: f", 0, 950, {}}});
  host.line(2, "tf_Compute/5", 0,
            {{"ExecutorState::Process", 100, 800, {}},
             {"net/a:_MklNativeConv2D", 110, 300, {}},
             {"net/b:_MklNativeConv2D", 420, 200, {}},
             {"Relu:Relu", 630, 50, {}},
             {"ExecutorDoneCallback", 700, 10, {}}});
  host.about("net/a:_MklNativeConv2D", {}, "_MklNativeConv2D");
  host.about("net/b:_MklNativeConv2D", {}, "_MklNativeConv2D").about("Relu:Relu", {}, "Relu");
  const Profile profile = read(SpaceBuilder().add(host).bytes());
  EXPECT_THAT(kinds(profile),
              ElementsAre(Pair("python EagerExecute: f", SpanKind::host),
                          Pair("python FunctionRun", SpanKind::wait),
                          Pair("tf_Compute/5 ExecutorDoneCallback", SpanKind::annotation),
                          Pair("tf_Compute/5 ExecutorState::Process", SpanKind::annotation),
                          Pair("tf_Compute/5 Relu", SpanKind::host),
                          Pair("tf_Compute/5 net/a", SpanKind::host),
                          Pair("tf_Compute/5 net/b", SpanKind::host)));
  ASSERT_NE(find_op(profile, "net/b"), nullptr);
  EXPECT_EQ(profile.text(find_op(profile, "net/b")->kind), "_MklNativeConv2D");
}

TEST(XplaneRead, CollectivesOfTheCpuAreCommunication) {
  PlaneBuilder host("/host:CPU");
  host.line(
      2, "tf_XLAEigen/7", 0,
      {{"all-reduce.3", 0, 10, op_stats("all-reduce.3", "jit_net")}, {"all-reduce", 20, 10, {}}});
  EXPECT_THAT(kinds(read(SpaceBuilder().add(host).bytes())),
              ElementsAre(Pair("tf_XLAEigen/7 all-reduce", SpanKind::annotation),
                          Pair("tf_XLAEigen/7 all-reduce.3", SpanKind::communication)));
}

TEST(XplaneRead, DerivedLinesOfDevicesAreNotWorkAgain) {
  PlaneBuilder gpu("/device:GPU:0");
  gpu.line(134, "Stream #134(Compute)", 0, {{"fusion_1", 100, 50, {}}});
  gpu.line(135, "Stream #135(MemcpyH2D)", 0,
           {{"MemcpyH2D", 10, 20, {{"memcpy_details", std::string("kind_src:pinned size:4096")}}}});
  // Sign-extended, as files of 2020 have them; and lines that another device may have.
  gpu.line(std::int64_t(18446744073150512882u), "TensorFlow Ops", 0, {{"f:Add", 100, 50, {}}});
  gpu.line(0xdeadbeef + 5, "New derived line", 0, {{"fusion.1", 100, 50, {}}});
  gpu.line(0xdeadbeef, "Steps", 0, {{"3", 0, 200, {}}});
  const Profile profile = read(SpaceBuilder().add(gpu).bytes());
  EXPECT_THAT(kinds(profile), ElementsAre(Pair("New derived line fusion.1", SpanKind::annotation),
                                          Pair("Steps 3", SpanKind::inference),
                                          Pair("Stream #134(Compute) fusion_1", SpanKind::kernel),
                                          Pair("Stream #135(MemcpyH2D) MemcpyH2D", SpanKind::copy),
                                          Pair("TensorFlow Ops f:Add", SpanKind::annotation)));
  const MeasureColumn* written = profile.spans.measure(NumberRole::none);
  for (const MeasureColumn& column : profile.spans.measures) {
    if (column.meaning.role == NumberRole::ddr_write) written = &column;
  }
  ASSERT_NE(written, nullptr);
  EXPECT_EQ(written->values[1], 4096);
}

TEST(XplaneRead, LaunchesLeadToWhatTheyLaunchedOfTheSameHost) {
  const auto host_of = [](std::int64_t at) {
    PlaneBuilder host("/host:CPU");
    host.line(1, "python", at,
              {{"cuLaunchKernel", 0, 5'000, {{"correlation_id", std::int64_t{9}}}}});
    return host;
  };
  PlaneBuilder gpu("/device:GPU:0");
  gpu.line(7, "Stream #7(Compute)", 0, {{"k", 9'000, 5, {{"correlation_id", std::int64_t{9}}}}});
  const std::string bytes = SpaceBuilder().add(host_of(0)).add(gpu).bytes();
  const Profile profile = read(bytes);
  ASSERT_EQ(profile.flows.size(), 1u);
  EXPECT_EQ(op_name(profile, index_of(profile.flows[0].from)), "cuLaunchKernel");
  EXPECT_EQ(op_name(profile, index_of(profile.flows[0].to)), "k");
  EXPECT_EQ(profile.spans.kind[index_of(profile.flows[0].from)], SpanKind::runtime_call);
  EXPECT_EQ(read({{"a.xplane.pb", bytes}, {"b.xplane.pb", bytes}}).flows.size(), 2u);
}

// "a=1 b=2.5", as the row has them.
std::string arguments_of(const Profile& profile, std::size_t row) {
  const Arguments& arguments = profile.spans.arguments;
  std::string text;
  for (std::size_t place = 0; place < arguments.count(row); ++place) {
    const Argument argument = arguments.at(row, place);
    text += fmt::format("{}{}={}:", text.empty() ? "" : " ", profile.text(argument.key.name),
                        int(argument.key.type));
    text += argument.key.type == ArgumentType::text ? std::string(profile.text(argument.text()))
                                                    : fmt::to_string(argument.bits);
  }
  return text;
}

TEST(XplaneRead, StatsLikeThoseOfTheEventBeforeAreThoseOfTheEvent) {
  constexpr std::int64_t one = 1, two = 2;
  const Stats full{{"hlo_module", Ref{"net"}},
                   {"program_id", std::int64_t{4}},
                   {"size", one},
                   {"_p", std::int64_t{8'000'000'000}},
                   {"rate", 2.5},
                   {"text", std::string("as it is")}};
  std::vector<Stats> all(3, full);
  all.push_back({full.begin(), full.begin() + 2});
  all.push_back({full.begin(), full.begin() + 5});
  all.push_back({});
  all.push_back(full);
  all.push_back({full.rbegin(), full.rend()});
  for (const auto& [place, value] : {std::pair(0, Value(Ref{"other"})),
                                     {1, Value(std::int64_t{5})},
                                     {2, Value(two)},
                                     {3, Value(std::int64_t{8'000'000'001})},
                                     {4, Value(one)},
                                     {5, Value(Bytes{"x"})},
                                     {2, Value(Bytes{"y"})}}) {
    for (int times = 0; times < 2; ++times) {
      all.push_back(full);
      all.back()[std::size_t(place)].second = value;
    }
  }
  for (const char* again : {"size", "correlation_id", "correlation_id", "size"}) {
    all.push_back(full);
    all.back().insert(all.back().begin() + 3, {again, two});
  }
  const auto read_as = [&](bool of_one_name) {
    std::vector<SpaceEvent> events;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string name = of_one_name ? "k" : fmt::format("k{}", i);
      events.push_back({name, std::int64_t(i) * 100, 50, all[i]});
    }
    PlaneBuilder host("/host:CPU");
    host.line(1, "tf_XLAExecute/2", 0, events);
    return read(SpaceBuilder().add(host).bytes());
  };
  const Profile same = read_as(true), each = read_as(false);
  ASSERT_EQ(same.spans.size(), all.size());
  ASSERT_EQ(each.spans.size(), all.size());
  const auto module = [](const Profile& of, std::size_t row) {
    return of.text(of.ops[index_of(of.spans.op[row])].kind);
  };
  for (std::size_t row = 0; row < all.size(); ++row) {
    EXPECT_EQ(arguments_of(same, row), arguments_of(each, row)) << row;
    EXPECT_EQ(module(same, row), module(each, row)) << row;
  }
  EXPECT_EQ(messages(same), messages(each));
  EXPECT_THAT(arguments_of(same, 2), HasSubstr("rate="));
  EXPECT_NE(arguments_of(same, 12), arguments_of(same, 2));
}

std::string accessed(std::uint64_t operation, std::uint64_t memory, std::uint64_t bytes) {
  std::string text;
  protozero::pbf_writer of(text);
  of.add_uint64(1, operation);
  of.add_uint64(2, memory);
  of.add_uint64(3, bytes);
  return text;
}

TEST(XplaneRead, TpuOpsHaveCategoriesModulesAndTheCostModel) {
  std::string breakdown;
  protozero::pbf_writer of(breakdown);
  of.add_message(1, accessed(1, 1, 3'000));  // read from HBM
  of.add_message(1, accessed(2, 1, 1'000));  // written to HBM
  of.add_message(1, accessed(1, 3, 7'777));  // VMEM
  PlaneBuilder tpu("/device:TPU:0");
  tpu.stat_of_plane("device_type_string", std::string("TPU v4"));
  tpu.line(1, "Steps", 0, {{"4", 0, 5'000, {}}, {"5", 5'000, 4'000, {}}});
  tpu.line(2, "XLA Modules", 0, {{"jit_net(77)", 0, 4'900, {}}});
  tpu.line(3, "XLA Ops", 0,
           {{"%while = (...) while(...)", 0, 3'000, {}},
            {"%conv.1 = f32[1] convolution(...)", 100, 1'000, {}},
            {"all-reduce.2", 3'000, 500, {}},
            {"%conv.1 = f32[1] convolution(...)", 5'100, 1'200, {}}});
  tpu.line(4, "Async XLA Ops", 0, {{"copy-start.1", 200, 700, {}}});
  tpu.about("%conv.1 = f32[1] convolution(...)",
            {{"hlo_category", Ref{"convolution fusion"}},
             {"tf_op", std::string("jit(net)/block/conv_general_dilated:")},
             {"program_id", std::uint64_t{77}},
             {"flops", std::uint64_t{2'000}},
             {"bytes_accessed", std::uint64_t{11'777}},
             {"memory_access_breakdown", Bytes{breakdown}}},
            "conv.1");
  tpu.about("%while = (...) while(...)", {{"hlo_category", Ref{"while"}}}, "while");
  const Profile profile = read(SpaceBuilder().add(tpu).bytes());
  EXPECT_EQ(profile.provenance.device, "TPU v4");
  EXPECT_EQ(profile.provenance.inferences, 2u);
  EXPECT_THAT(kinds(profile), ElementsAre(Pair("Async XLA Ops copy-start.1", SpanKind::copy),
                                          Pair("Steps 4", SpanKind::inference),
                                          Pair("Steps 5", SpanKind::inference),
                                          Pair("XLA Modules jit_net(77)", SpanKind::annotation),
                                          Pair("XLA Ops all-reduce.2", SpanKind::communication),
                                          Pair("XLA Ops conv.1", SpanKind::kernel),
                                          Pair("XLA Ops while", SpanKind::kernel)));
  const Op* conv = find_op(profile, "conv.1");
  ASSERT_NE(conv, nullptr);
  EXPECT_EQ(profile.text(conv->kind), "convolution fusion");
  EXPECT_EQ(profile.text(conv->node_kind), "conv_general_dilated");
  EXPECT_EQ(profile.text(conv->label()), "conv.1");
  EXPECT_THAT(
      numbers_of(profile, "conv.1"),
      ElementsAre(Pair("MACs", 1'000), Pair("bytes accessed", 11'777), Pair("flops", 2'000)));
  std::int64_t read_bytes = 0, written = 0;
  for (const MeasureColumn& column : profile.spans.measures) {
    for (const std::int64_t value : column.values) {
      if (value == MeasureColumn::missing) continue;
      EXPECT_EQ(column.origin, Origin::estimated);
      if (column.meaning.role == NumberRole::ddr_read) read_bytes += value;
      if (column.meaning.role == NumberRole::ddr_write) written += value;
    }
  }
  EXPECT_EQ(read_bytes, 2 * 3'000);
  EXPECT_EQ(written, 2 * 1'000);
}

TEST(XplaneRead, OpsOfOneNameInTwoProgramsAreTwo) {
  PlaneBuilder host("/host:CPU");
  host.line(2, "tf_XLAExecute/7", 0,
            {{"dot.1", 0, 10, op_stats("dot.1", "jit_prefill")},
             {"add.2", 10, 10, op_stats("add.2", "jit_prefill")},
             {"dot.1", 20, 30, op_stats("dot.1", "jit_decode")}});
  const Profile profile = read(SpaceBuilder().add(host).bytes());
  std::set<std::string> labels;
  for (const Op& op : profile.ops) labels.insert(std::string(profile.text(op.label())));
  EXPECT_THAT(labels, ElementsAre("add.2", "jit_decode/dot.1", "jit_prefill/dot.1"));
  EXPECT_EQ(profile.provenance.graph, "");
}

TEST(XplaneRead, AModuleCompiledTwiceIsTwoPrograms) {
  const auto stats = [](std::int64_t program) {
    Stats of = op_stats("dot.1", "jit_net");
    of.emplace_back("program_id", program);
    return of;
  };
  PlaneBuilder host("/host:CPU");
  host.line(2, "tf_XLAExecute/7", 0,
            {{"dot.1", 0, 10, stats(4)}, {"dot.1", 10, 10, stats(6)}, {"dot.1", 20, 10, stats(4)}});
  const Profile profile = read(SpaceBuilder().add(host).bytes());
  std::set<std::string> labels;
  for (const Op& op : profile.ops) labels.insert(std::string(profile.text(op.label())));
  EXPECT_THAT(labels, ElementsAre("jit_net(4)/dot.1", "jit_net(6)/dot.1"));
}

// HloProto{hlo_module{name, computations{instructions{name, opcode, metadata{op_name}, kind}}}}.
std::string hlo_of(const std::string& module) {
  std::string metadata, instruction, computation, of_module, hlo;
  protozero::pbf_writer(metadata).add_string(2, "jit(net)/stem/jit(relu)/max");
  protozero::pbf_writer of_instruction(instruction);
  of_instruction.add_string(1, "dot.1");
  of_instruction.add_string(2, "fusion");
  of_instruction.add_message(7, metadata);
  of_instruction.add_string(11, "kLoop");
  protozero::pbf_writer(computation).add_message(2, instruction);
  protozero::pbf_writer in_module(of_module);
  in_module.add_string(1, module);
  in_module.add_message(3, computation);
  protozero::pbf_writer(hlo).add_message(1, of_module);
  return hlo;
}

TEST(XplaneRead, ProgramsOfTheHostNameCategoriesOnTheCpu) {
  PlaneBuilder programs("/host:metadata");
  programs.about("jit_net(12)", {{"Hlo Proto", Bytes{hlo_of("jit_net")}}});
  programs.stat_of_plane("jaxlib_version", std::string("0.12.0"));
  const Profile profile = read(SpaceBuilder().add(cpu_host()).add(programs).bytes());
  const Op* dot = find_op(profile, "dot.1");
  ASSERT_NE(dot, nullptr);
  EXPECT_EQ(profile.text(dot->kind), "loop fusion");
  EXPECT_EQ(profile.text(dot->node_kind), "");  // of a fusion of several its last operator only
  EXPECT_EQ(profile.text(dot->attributes), "jit(net)/stem/jit(relu)/max");
  EXPECT_EQ(profile.provenance.version, "jaxlib 0.12.0");
}

// A fusion that calls a computation with dot [2,3,8] = [2,3,5] x [5,8], and a convolution next to
// it.
std::string hlo_with_products() {
  const auto instruction = [](const char* name, const char* opcode, std::int64_t id,
                              std::vector<std::int64_t> extents,
                              std::vector<std::int64_t> operands) {
    std::string bytes, shape;
    protozero::pbf_writer of(bytes);
    protozero::pbf_writer of_shape(shape);
    of.add_string(1, name);
    of.add_string(2, opcode);
    of_shape.add_packed_int64(3, extents.begin(), extents.end());
    of.add_message(3, shape);
    of.add_int64(35, id);
    of.add_packed_int64(36, operands.begin(), operands.end());
    return bytes;
  };
  const auto with = [](std::string bytes, std::uint32_t field, const std::string& message) {
    protozero::pbf_writer(bytes).add_message(field, message);
    return bytes;
  };
  std::string contracted, path, kernel;
  const std::vector<std::int64_t> last{2}, called{77};
  protozero::pbf_writer(contracted).add_packed_int64(1, last.begin(), last.end());
  protozero::pbf_writer(path).add_string(2, "jit(net)/head/dot_general");
  protozero::pbf_writer(kernel).add_int64(4, 3);
  std::string inner, entry, module, hlo;
  protozero::pbf_writer in_inner(inner);
  in_inner.add_message(2, instruction("a", "parameter", 1, {2, 3, 5}, {}));
  in_inner.add_message(2, instruction("b", "parameter", 2, {5, 8}, {}));
  in_inner.add_message(
      2, with(with(instruction("d", "dot", 3, {2, 3, 8}, {1, 2}), 30, contracted), 7, path));
  in_inner.add_int64(5, 77);
  std::string fusion = instruction("fusion.1", "fusion", 9, {2, 3, 8}, {});
  protozero::pbf_writer(fusion).add_packed_int64(38, called.begin(), called.end());
  protozero::pbf_writer in_entry(entry);
  in_entry.add_message(2, fusion);
  in_entry.add_message(2, instruction("k", "parameter", 10, {3, 3, 4, 16}, {}));
  in_entry.add_message(
      2, with(instruction("conv.2", "convolution", 11, {1, 7, 7, 16}, {10, 10}), 16, kernel));
  protozero::pbf_writer in_module(module);
  in_module.add_string(1, "jit_net");
  in_module.add_message(3, inner);
  in_module.add_message(3, entry);
  protozero::pbf_writer(hlo).add_message(1, module);
  return hlo;
}

TEST(XplaneRead, ProductsOfAProgramHaveTheirMultiplyAccumulates) {
  PlaneBuilder programs("/host:metadata"), host("/host:CPU");
  programs.about("jit_net(12)", {{"Hlo Proto", Bytes{hlo_with_products()}}});
  host.line(2, "tf_XLAExecute/7", 0,
            {{"fusion.1", 0, 10, op_stats("fusion.1", "jit_net")},
             {"conv.2", 10, 10, op_stats("conv.2", "jit_net")}});
  const Profile profile = read(SpaceBuilder().add(programs).add(host).bytes());
  EXPECT_THAT(numbers_of(profile, "fusion.1"), ElementsAre(Pair("MACs", 2 * 3 * 8 * 5)));
  EXPECT_THAT(numbers_of(profile, "conv.2"), ElementsAre(Pair("MACs", 7 * 7 * 16 * 3 * 3 * 4)));
  const Op* fusion = find_op(profile, "fusion.1");
  ASSERT_NE(fusion, nullptr);
  EXPECT_EQ(profile.text(fusion->kind), "dot fusion");
  EXPECT_EQ(profile.text(fusion->node_kind), "dot_general");
}

TEST(XplaneRead, AggregatedEventsAreNumbersWithoutAPlace) {
  PlaneBuilder tpu("/device:TPU:0");
  tpu.line(3, "XLA Ops", 0,
           {{"fusion.1", 0, 700, {}, 7}, {"fusion.1", 0, 300, {}, 3}, {"copy.1", 50, 20, {}}});
  tpu.line(4, "XLA Modules", 0, {{"jit_net(7)", 0, 1'000, {}, 10}});
  const Profile profile = read(SpaceBuilder().add(tpu).bytes());
  EXPECT_EQ(profile.spans.size(), 1u);
  EXPECT_THAT(numbers_of(profile, "fusion.1"),
              ElementsAre(Pair("executions", 10), Pair("time of all executions", 1'000)));
  EXPECT_THAT(messages(profile), testing::Contains(HasSubstr("sums of many executions")));
}

PlaneBuilder started_at(std::uint64_t ns) {
  PlaneBuilder task("Task Environment");
  task.stat_of_plane("profile_start_time", ns);
  return task;
}

TEST(XplaneRead, HostsAreProcessesOnOneTimeAxis) {
  constexpr std::uint64_t epoch = 1'795'965'523'326'067'695;
  const std::string a = SpaceBuilder().add(cpu_host()).add(started_at(epoch + 2'000)).bytes();
  const std::string b =
      SpaceBuilder().add(cpu_host()).add(started_at(epoch)).text(4, "worker-b").bytes();
  const Profile profile = read({{"run/a.xplane.pb", a}, {"run/b.xplane.pb", b}});
  EXPECT_THAT(profile.provenance.files, ElementsAre("run/a.xplane.pb", "run/b.xplane.pb"));
  std::map<std::string, std::int64_t> first;  // of each process
  for (std::size_t row = 0; row < profile.spans.size(); ++row) {
    const Unit& unit = profile.units[index_of(profile.spans.unit[row])];
    const std::string process(profile.text(profile.units[index_of(unit.parent)].name));
    const auto [place, is_new] = first.try_emplace(process, profile.spans.start[row]);
    place->second = std::min(place->second, profile.spans.start[row]);
  }
  EXPECT_THAT(first,
              ElementsAre(Pair("/host:CPU a", 2'100'000), Pair("/host:CPU worker-b", 100'000)));
  EXPECT_EQ(profile.provenance.inferences, 2u);
  const Profile unknown =
      read({{"a.xplane.pb", SpaceBuilder().add(cpu_host()).bytes()}, {"b.xplane.pb", b}});
  EXPECT_THAT(messages(unknown), testing::Contains(HasSubstr("times of two hosts do not compare")));
}

TEST(XplaneRead, TimesOfTheEpochCountFromTheFirstLine) {
  const std::int64_t epoch = 1'795'965'523'326'067'695;
  const Profile profile = read(SpaceBuilder().add(cpu_host(epoch)).bytes());
  EXPECT_EQ(*std::min_element(profile.spans.start.begin(), profile.spans.start.end()), 0);
  EXPECT_EQ(profile.provenance.inferences, 2u);
}

TEST(XplaneRead, WhatTheProfilerSaysIsANote) {
  const Profile profile = read(
      SpaceBuilder().add(cpu_host()).text(2, "no permission").text(3, "dropped 7 events").bytes());
  EXPECT_THAT(messages(profile),
              testing::AllOf(testing::Contains("the profiler says: no permission"),
                             testing::Contains("the profiler says: dropped 7 events")));
}

TEST(XplaneRead, ACutFileGivesWhatWasThere) {
  const std::string bytes = SpaceBuilder().add(started_at(1)).add(cpu_host()).bytes();
  const std::size_t whole = read(bytes).spans.size();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const std::string cut = bytes.substr(0, length);
    const SpaceFile file{"a.xplane.pb", cut};
    const auto profile = read_profile({&file, 1}, {});
    if (!profile) continue;
    EXPECT_LE(profile->spans.size(), whole);
    EXPECT_FALSE(profile->notes.empty()) << length;
  }
}

TEST(XplaneRead, ChangedBytesNeverDoMoreThanAnError) {
  PlaneBuilder programs("/host:metadata");
  programs.about("jit_net(12)", {{"Hlo Proto", Bytes{hlo_with_products()}}});
  const std::string bytes = SpaceBuilder().add(programs).add(cpu_host()).add(started_at(1)).bytes();
  std::mt19937 random(11);
  for (int round = 0; round < 5'000; ++round) {
    std::string changed = bytes;
    for (int i = 0; i < 3; ++i) changed[random() % changed.size()] = char(random());
    const SpaceFile file{"a.xplane.pb", changed};
    const auto profile = read_profile({&file, 1}, {});
    EXPECT_TRUE(profile || !profile.error().message.empty());
  }
}

TEST(XplaneRead, HostileTimesAreLeftOutAndCounted) {
  PlaneBuilder host("/host:CPU");
  host.line(1, "t", std::numeric_limits<std::int64_t>::max(), {{"a", 0, 5, {}}});
  host.line(2, "t", 0, {{"b", 0, -5, {}}, {"c", 0, 5, {}}});
  host.line(3, "t", 0,
            {{"d",
              std::numeric_limits<std::int64_t>::max(),
              std::numeric_limits<std::int64_t>::max(),
              {}}});
  const Profile profile = read(SpaceBuilder().add(host).bytes());
  EXPECT_EQ(profile.spans.size(), 1u);
  EXPECT_THAT(messages(profile), testing::Contains(HasSubstr("beyond 106 days")));
}

TEST(XplaneRead, ASpaceWithoutEventsIsRefused) {
  const std::string bytes = SpaceBuilder().add(started_at(1)).bytes();
  const SpaceFile file{"a.xplane.pb", bytes};
  const auto profile = read_profile({&file, 1}, {});
  ASSERT_FALSE(profile.has_value());
  EXPECT_THAT(profile.error().message, HasSubstr("without events"));
}

// Programs stand before the events and are most of the file.
TEST(XplaneRead, AFileCutBeforeItsEventsWasOneThatRecordedNothing) {
  PlaneBuilder programs("/host:metadata");
  programs.about("jit_net(12)", {{"Hlo Proto", Bytes{hlo_with_products()}}});
  std::string bytes = SpaceBuilder().add(programs).add(cpu_host()).bytes();
  bytes.resize(40);
  const SpaceFile file{"a.xplane.pb", bytes};
  const auto profile = read_profile({&file, 1}, {});
  ASSERT_FALSE(profile.has_value());
  EXPECT_EQ(profile.error().message,
            "a.xplane.pb: not one event of it can be read: the file ends in the middle of a plane; "
            "copy it again, or record it to its end");
}

TEST(XplaneRead, IsKnownByItsBytes) {
  EXPECT_TRUE(looks_like(SpaceBuilder().add(cpu_host()).bytes()));
  EXPECT_TRUE(looks_like(SpaceBuilder().add(cpu_host()).bytes().substr(0, 100)));
  EXPECT_TRUE(looks_like(SpaceBuilder().add(started_at(1)).bytes()));
  EXPECT_FALSE(looks_like(""));
  EXPECT_FALSE(looks_like("[{\"name\": 1}]"));
  std::string packet;  // of a Perfetto trace
  protozero::pbf_writer of(packet);
  of.add_message(1, std::string("\x40\x07", 2));
  EXPECT_FALSE(looks_like(packet));
  const SpaceBuilder named =
      SpaceBuilder().add(PlaneBuilder("a plane of a user").line(1, "t", 0, {}));
  EXPECT_TRUE(looks_like(named.bytes()));
  std::string hlo;  // of a cache next to it: HloProto{HloModuleProto{name, entry}}
  protozero::pbf_writer(hlo).add_message(1, std::string("\x0a\x03net\x12\x04main"));
  EXPECT_FALSE(looks_like(hlo));
}

// The slow and obvious twin: each message decoded by protozero, sums of durations by line and name.
using Sums = std::map<std::pair<std::string, std::string>, std::pair<std::uint64_t, std::int64_t>>;

Sums sums_slowly(const std::string& bytes) {
  Sums sums;
  protozero::pbf_reader space(bytes);
  while (space.next(1)) {
    const auto plane_bytes = space.get_view();
    std::map<std::int64_t, std::string> names;
    protozero::pbf_reader tables(plane_bytes);
    while (tables.next(4)) {
      protozero::pbf_reader entry = tables.get_message();
      std::int64_t id = 0;
      while (entry.next()) {
        if (entry.tag() == 1) {
          id = entry.get_int64();
        } else {
          protozero::pbf_reader metadata = entry.get_message();
          while (metadata.next()) {
            metadata.tag() == 2 ? void(names[id] = metadata.get_string()) : metadata.skip();
          }
        }
      }
    }
    protozero::pbf_reader lines(plane_bytes);
    while (lines.next(3)) {
      std::string line_name;
      protozero::pbf_reader line = lines.get_message();
      while (line.next()) {
        if (line.tag() == 2) {
          line_name = line.get_string();
        } else if (line.tag() == 4) {
          std::int64_t id = 0, duration = 0;
          protozero::pbf_reader event = line.get_message();
          while (event.next()) {
            switch (event.tag()) {
              case 1: id = event.get_int64(); break;
              case 3: duration = event.get_int64(); break;
              default: event.skip();
            }
          }
          auto& [count, sum] = sums[{line_name, names[id]}];
          count += 1;
          sum += duration;
        } else {
          line.skip();
        }
      }
    }
  }
  return sums;
}

TEST(XplaneTwin, SumsOfRandomSpacesAreTheSame) {
  std::mt19937 random(51);
  const auto below = [&](std::uint32_t limit) { return std::int64_t(random() % limit); };
  for (int round = 0; round < 200; ++round) {
    SpaceBuilder space;
    for (std::int64_t p = 0, planes = 1 + below(3); p < planes; ++p) {
      PlaneBuilder plane(p == 0 ? "/host:CPU" : "/device:TPU:" + std::to_string(p));
      for (std::int64_t l = 0, lines = below(4); l < lines; ++l) {
        std::vector<SpaceEvent> events;
        for (std::int64_t e = 0, count = below(2'000); e < count; ++e) {
          SpaceEvent event{
              "op." + std::to_string(below(9)), below(1'000'000), below(5'000), {}, {}};
          if (below(2) == 0) event.stats.emplace_back("n", below(300));
          if (below(3) == 0) event.stats.emplace_back("of", Ref{"m" + std::to_string(below(3))});
          if (below(4) == 0) event.stats.emplace_back("share", 0.5);
          events.push_back(std::move(event));
        }
        plane.line(l, std::to_string(p) + "/" + std::to_string(l), below(1'000), events);
      }
      space.add(plane);
    }
    const SpaceFile file{"a.xplane.pb", space.bytes()};
    const auto profile = read_profile({&file, 1}, {});
    const Sums expected = sums_slowly(space.bytes());
    if (expected.empty()) {
      EXPECT_FALSE(profile.has_value());
      continue;
    }
    ASSERT_TRUE(profile.has_value());
    Sums sums;
    for (std::size_t row = 0; row < profile->spans.size(); ++row) {
      const Unit* unit = &profile->units[index_of(profile->spans.unit[row])];
      if (unit->lane > 0) unit = &profile->units[index_of(unit->parent)];
      auto& [count, sum] = sums[{std::string(profile->text(unit->name)), op_name(*profile, row)}];
      count += 1;
      sum += profile->spans.duration[row];
    }
    EXPECT_EQ(sums, expected);
  }
}

}  // namespace
}  // namespace npuscope::xplane::test
