#include "npuscope/analysis/match_ops.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "analysis/ops/row_names.hpp"
#include "analysis/profile_builder.hpp"

namespace npuscope::analysis::match_ops_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Graph {
  test_support::ProfileBuilder made;

  OpId op(std::string_view name, std::string_view kind, std::string_view shape = "") {
    Op op;
    op.name = made.text(name);
    op.kind = made.text(kind);
    op.shape = made.text(shape);
    made.profile.ops.push_back(op);
    return OpId(std::uint32_t(made.profile.ops.size() - 1));
  }
  void feed(OpId from, OpId to) { made.profile.edges.push_back({from, to, EdgeKind::data}); }
  // Ops of these kinds one after another; names by `name_of`.
  template <class NameOf>
  void chain(const std::vector<std::string>& kinds, NameOf name_of) {
    OpId previous = OpId::none;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      const OpId here = op(name_of(i), kinds[i]);
      if (previous != OpId::none) feed(previous, here);
      previous = here;
    }
  }
};

// "a=b by n" for each pair, "-a why other", "+b why other".
std::vector<std::string> said(const Graph& from, const Graph& to) {
  const OpGroups a(from.made.profile), b(to.made.profile);
  const OpMatching matching = match_ops(a, b);
  const auto names = [](const OpGroups& of, const std::vector<std::uint32_t>& groups) {
    std::string all;
    for (const std::uint32_t group : groups) {
      all += (all.empty() ? "" : ",") + std::string(of.groups()[group].label);
    }
    return all;
  };
  constexpr const char* by[] = {"name", "kernel", "ordinal", "neighbours", "structure"};
  constexpr const char* why[] = {"absent", "named in", "perhaps part of", "bypassed"};
  std::vector<std::string> lines;
  for (const OpPair& pair : matching.pairs) {
    if (a.groups()[pair.a.front()].ops == 0) continue;
    lines.push_back(names(a, pair.a) + "=" + names(b, pair.b) + " by " + by[int(pair.by)]);
  }
  const auto add = [&](const char* sign, const OpGroups& of, const OpGroups& other,
                       const UnmatchedOp& only) {
    lines.push_back(sign + names(of, {only.group}) + " " + why[int(only.reason)]);
    if (only.other != UnmatchedOp::none) lines.back() += " " + names(other, {only.other});
  };
  for (const UnmatchedOp& only : matching.only_a) add("-", a, b, only);
  for (const UnmatchedOp& only : matching.only_b) add("+", b, a, only);
  return lines;
}

TEST(OpNames, LoseWhatCompilersAppend) {
  EXPECT_EQ(without_ordinals("layer.3/n165/__0"), "layer.3/n165");
  EXPECT_EQ(without_ordinals("MatMul_0:OpId_18"), "MatMul_0");
  EXPECT_EQ(without_ordinals("Conv_token_12_3"), "Conv");
  EXPECT_EQ(without_ordinals("a__b/_3"), "a__b/_3");
  EXPECT_EQ(without_ordinals(""), "");
  EXPECT_EQ(last_ordinal("n165/__12"), 12u);
  EXPECT_FALSE(last_ordinal("n165/__12x"));
  EXPECT_FALSE(last_ordinal("n__99999999999999999999999"));
  EXPECT_THAT(name_parts("conv1+relu1; bn"), ElementsAre("conv1", "relu1", "bn"));
  EXPECT_THAT(name_parts("conv1"), IsEmpty());
}

TEST(MatchOps, EqualGraphsMatchByName) {
  Graph a;
  a.op("conv", "conv2d");
  a.op("relu", "relu");
  EXPECT_THAT(said(a, a), ElementsAre("conv=conv by name", "relu=relu by name"));
  const OpGroups groups(a.made.profile);
  EXPECT_TRUE(match_ops(groups, groups).same_structure);
}

TEST(MatchOps, AnotherKernelOfTheSameNode) {
  Graph a, b;
  a.op("conv", "conv2d");
  b.op("conv", "depthwise");
  EXPECT_THAT(said(a, b), ElementsAre("conv=conv by kernel"));
}

TEST(MatchOps, CompilersNumbersAreNoNames) {
  Graph a, b;
  a.op("mm/__1204", "matmul");
  b.op("mm/__77", "matmul");
  EXPECT_THAT(said(a, b), ElementsAre("mm/__1204=mm/__77 by ordinal"));
}

TEST(MatchOps, AnotherTilingIsMatchedAsAWhole) {
  Graph a, b;
  for (const char* name : {"mm/__0", "mm/__1"}) a.op(name, "matmul");
  for (const char* name : {"mm/__0", "mm/__1", "mm/__2"}) b.op(name, "matmul");
  EXPECT_THAT(said(a, b), ElementsAre("mm/__0,mm/__1=mm/__0,mm/__1,mm/__2 by ordinal"));
}

TEST(MatchOps, OneMoreOpOfManyIsNoOtherTiling) {
  Graph a, b;
  for (const char* name : {"/__7", "/__9"}) a.op(std::string("m") + name, "matmul");
  for (const char* name : {"/__7", "/__8", "/__9"}) b.op(std::string("m") + name, "matmul");
  EXPECT_THAT(said(a, b),
              ElementsAre("m/__7=m/__7 by name", "m/__9=m/__9 by name", "+m/__8 absent"));
}

TEST(MatchOps, NeighboursTellWhoIsWho) {
  Graph a, b;
  a.chain({"input", "conv", "relu", "output"}, [](std::size_t i) {
    return std::vector<std::string>{"in", "c", "r", "out"}[i];
  });
  b.chain({"input", "conv", "relu", "output"}, [](std::size_t i) {
    return std::vector<std::string>{"in", "x", "y", "out"}[i];
  });
  EXPECT_THAT(said(a, b), ElementsAre("in=in by name", "c=x by neighbours", "r=y by neighbours",
                                      "out=out by name"));
}

TEST(MatchOps, AnotherShapeIsAnotherOp) {
  Graph a, b;
  a.op("x", "conv", "[1,8]");
  b.op("y", "conv", "[1,9]");
  EXPECT_THAT(said(a, b), ElementsAre("-x absent", "+y absent"));
}

TEST(MatchOps, NamelessKernelsWithoutGraphAreNotGuessed) {
  Graph a, b;
  a.op("foo", "cpu_op");
  b.op("bar", "cpu_op");
  EXPECT_THAT(said(a, b), ElementsAre("-foo absent", "+bar absent"));
}

TEST(MatchOps, FusedByName) {
  Graph a, b;
  a.op("conv", "conv");
  a.op("relu", "relu");
  b.op("conv+relu", "convrelu");
  EXPECT_THAT(said(a, b), ElementsAre("-conv named in conv+relu", "-relu named in conv+relu",
                                      "+conv+relu named in conv"));
}

TEST(MatchOps, FusedByPlace) {
  Graph a, b;
  a.chain({"input", "conv", "relu", "output"}, [](std::size_t i) {
    return std::vector<std::string>{"in", "c", "r", "out"}[i];
  });
  b.chain({"input", "convrelu", "output"}, [](std::size_t i) {
    return std::vector<std::string>{"in", "f", "out"}[i];
  });
  EXPECT_THAT(said(a, b), ElementsAre("in=in by name", "out=out by name", "-c perhaps part of f",
                                      "-r perhaps part of f", "+f perhaps part of c"));
}

TEST(MatchOps, FoldedAway) {
  Graph a, b;
  a.chain({"input", "relu", "output"}, [](std::size_t i) {
    return std::vector<std::string>{"in", "r", "out"}[i];
  });
  b.chain({"input", "output"}, [](std::size_t i) {
    return std::vector<std::string>{"in", "out"}[i];
  });
  EXPECT_THAT(said(a, b), ElementsAre("in=in by name", "out=out by name", "-r bypassed out"));
}

TEST(MatchOps, EmptyProfiles) {
  Graph a, b;
  EXPECT_THAT(said(a, b), IsEmpty());
  b.op("x", "y");
  EXPECT_THAT(said(a, b), ElementsAre("+x absent"));
}

TEST(MatchOps, EdgesToNowhereAndRingsDoNoHarm) {
  Graph a;
  const OpId x = a.op("x", "k"), y = a.op("y", "k");
  a.feed(x, y);
  a.feed(y, x);
  a.feed(x, x);
  a.feed(x, OpId(9'999));
  a.feed(OpId::none, y);
  a.made.profile.tensor_uses.push_back({12, x});
  EXPECT_THAT(said(a, a), ElementsAre("x=x by name", "y=y by name"));
}

// A random graph and the same with every name replaced and the ops in another order: what is
// matched must be the same op, unless the two cannot be told apart.
struct RandomGraph {
  Graph plain, renamed;
  std::map<std::string, std::string> new_name;
};

RandomGraph random_graph(std::mt19937_64& random, bool rename_all) {
  RandomGraph out;
  const std::size_t count = 2 + random() % 30;
  std::vector<std::string> names, kinds, new_names;
  for (std::size_t i = 0; i < count; ++i) {
    names.push_back("op" + std::to_string(i));
    kinds.push_back("kernel" + std::to_string(random() % 5));
    const bool keep = !rename_all && random() % 2 == 0;
    new_names.push_back(keep ? names[i] : "other" + std::to_string(random()));
    out.new_name[names[i]] = new_names[i];
  }
  std::vector<OpId> a, b;
  for (std::size_t i = 0; i < count; ++i) {
    a.push_back(out.plain.op(names[i], kinds[i]));
    b.push_back(out.renamed.op(new_names[i], kinds[i]));
  }
  for (std::size_t to = 1; to < count; ++to) {
    for (std::size_t edge = 0; edge < 1 + random() % 2; ++edge) {
      const std::size_t from = random() % to;
      out.plain.feed(a[from], a[to]);
      out.renamed.feed(b[from], b[to]);
    }
  }
  return out;
}

TEST(MatchOps, FindsRenamedOpsByTheGraph) {
  std::mt19937_64 random(11);
  std::size_t right = 0, all = 0;
  for (int i = 0; i < 500; ++i) {
    RandomGraph graph = random_graph(random, i % 2 == 0);
    const OpGroups a(graph.plain.made.profile), b(graph.renamed.made.profile);
    const OpMatching matching = match_ops(a, b);
    for (const OpPair& pair : matching.pairs) {
      for (std::size_t k = 0; k < pair.a.size(); ++k) {
        if (a.groups()[pair.a[k]].ops == 0) continue;
        const OpGroup& of_a = a.groups()[pair.a[k]];
        const OpGroup& of_b = b.groups()[pair.b[k]];
        ASSERT_EQ(of_a.kind, of_b.kind);
        right += graph.new_name[std::string(of_a.label)] == of_b.label;
      }
    }
    all += graph.plain.made.profile.ops.size();
  }
  EXPECT_GT(double(right), 0.97 * double(all));  // the rest are twins in their graph
}

TEST(MatchOps, SwappingMirrors) {
  std::mt19937_64 random(12);
  for (int i = 0; i < 500; ++i) {
    RandomGraph graph = random_graph(random, i % 2 == 0);
    if (i % 3 == 0) graph.renamed.op("more", "kernel1");
    const OpGroups a(graph.plain.made.profile), b(graph.renamed.made.profile);
    const OpMatching there = match_ops(a, b), back = match_ops(b, a);
    std::map<std::vector<std::uint32_t>, std::vector<std::uint32_t>> pairs, mirrored;
    for (const OpPair& pair : there.pairs) pairs[pair.a] = pair.b;
    for (const OpPair& pair : back.pairs) mirrored[pair.b] = pair.a;
    ASSERT_EQ(pairs, mirrored);
    ASSERT_EQ(there.only_a.size(), back.only_b.size());
    ASSERT_EQ(there.same_structure, back.same_structure);
  }
}

struct Placed {
  const char *label, *kind, *identity;
};
Graph graph_of(std::initializer_list<Placed> ops) {
  Graph graph;
  for (const Placed& each : ops) {
    graph.op(each.label, each.kind);
    graph.made.profile.ops.back().identity = graph.made.text(each.identity);
  }
  return graph;
}

// Comments in front of a model move all of its lines: "conv@L3" is another op then.
TEST(MatchOps, ByIdentityWhereTheSourcesLinesMoved) {
  const Graph before = graph_of({{"conv@L3", "conv", "conv 0"}, {"conv@L4", "conv", "conv 1"}});
  const Graph after = graph_of({{"conv@L4", "conv", "conv 0"}, {"conv@L5", "conv", "conv 1"}});
  EXPECT_THAT(said(before, after),
              ElementsAre("conv@L3=conv@L4 by name", "conv@L4=conv@L5 by name"));
}

// Of two schedules one may do a place with other kernels, so that the places of a kernel are
// counted otherwise.
TEST(MatchOps, ByLabelWhereBothAreOfOneSource) {
  const Graph a = graph_of({{"mm@L3", "fc", "fc 0"}, {"mm@L4", "fc", "fc 1"}});
  const Graph b = graph_of({{"mm@L3", "fast", "fast 0"}, {"mm@L4", "fc", "fc 0"}});
  EXPECT_THAT(said(a, b), ElementsAre("mm@L3=mm@L3 by kernel", "mm@L4=mm@L4 by name"));
}

}  // namespace
}  // namespace npuscope::analysis::match_ops_test
