#include "formats/ggml/log_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace npuscope::ggml {
namespace {

struct TextOperand {
  std::string name, type;
  std::int64_t fast, slow;
};

class Generator {
 public:
  explicit Generator(const LogOptions& options)
      : options_(options), counter_(std::int64_t(options.counter)), state_(options.seed) {}

  GeneratedLog make() {
    line('I', "ggml-hex: Hexagon backend (experimental) : allocating new registry : ndev 1");
    line('I', "ggml-hex: Hexagon Arch version v79");
    line('I', fmt::format("ggml-hex: Profiling mode {} : pmu-evt [ "
                          "0x3,0x111,0x100,0x105,0x240,0x256,0x7d,0x8c ]",
                          options_.mode));
    for (int i = 0; i < options_.sessions; ++i) {
      line('I', fmt::format("ggml-hex: {} hwinfo: threads 6, hvx 6, hmx 1, vtcm 8 MB", name(i)));
    }
    for (int i = 0; i < options_.warm_up; ++i) add_step("warm-up", 2);
    add_step("prefill", options_.prompt_tokens);
    for (int i = 0; i < options_.decoded; ++i) add_step("decode", 1);
    line('I', fmt::format("common_perf_print: prompt eval time = {:10.2f} ms / {:5} tokens ( 0.0 "
                          "ms per token, 0.0 tokens per second)",
                          log_.prompt_ms, options_.prompt_tokens));
    line('I', fmt::format("common_perf_print:        eval time = {:10.2f} ms / {:5} runs   ( 0.0 "
                          "ms per token, 0.0 tokens per second)",
                          log_.decode_ms, options_.decoded));
    return std::move(log_);
  }

 private:
  std::string name(int session) const { return fmt::format("{}{}", options_.session, session); }
  // As std::minstd_rand, whose numbers the standard fixes, but which of a range it does not.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    state_ = std::uint64_t{48'271} * state_ % 2'147'483'647;
    return low + std::int64_t(state_ % std::uint64_t(high - low + 1));
  }

  void line(char level, const std::string& text) {
    now_us_ += 3;
    std::string out = options_.before;
    if (options_.is_json) {
      out +=
          fmt::format(R"({{"type":"log","time":{},"level":"debug","msg":"{}\n"}})", now_us_, text);
    } else if (options_.has_prefix) {
      const std::string time =
          fmt::format("{}.{:02}.{:03}.{:03}", now_us_ / 60'000'000, now_us_ / 1'000'000 % 60,
                      now_us_ / 1'000 % 1'000, now_us_ % 1'000);
      out += options_.has_colours
                 ? fmt::format("\x1b[34m{}\x1b[0m \x1b[35m{}\x1b[0m {}\x1b[0m", time, level, text)
                 : fmt::format("{} {} {}", time, level, text);
    } else {
      out += text;
    }
    log_.text += out + "\n";
  }

  void add_step(const std::string& phase, std::int64_t tokens) {
    for (int session = 0; session < options_.sessions; ++session) add_batch(phase, session, tokens);
  }

  void add_batch(const std::string& phase, int session, std::int64_t tokens) {
    TrueBatch batch{.phase = phase, .session = session};
    counter_ += between(1'000, std::int64_t(options_.max_gap));
    batch.start = counter_;
    counter_ += between(500, 4'000);
    lines_.clear();
    const int of_session = options_.layers / options_.sessions;
    const int first = session * of_session;
    const bool is_last = session + 1 == options_.sessions;
    const int end = is_last ? options_.layers : first + of_session;
    for (int layer = first; layer < end; ++layer) {
      // The last layer makes the rows that are asked for.
      add_layer(batch, layer, tokens, layer + 1 == options_.layers ? 1 : tokens);
    }
    if (is_last) {
      add_op(batch, {"RMS_NORM+MUL", "output_norm", -1},
             {{fmt::format("l_out-{}", end - 1), "f32", 256, 1},
              {"output_norm.weight", "f32", 256, 1}},
             {{"result_norm", "f32", 256, 1}}, "row-block vtcm 8192", 3'000);
    }
    counter_ += between(500, 4'000);
    batch.cycles = std::uint64_t(counter_ - batch.start);
    print(batch);
    const double us = double(batch.cycles) / options_.cycles_per_us + 300;
    if (phase == "prefill") log_.prompt_ms += us / 1e3;
    if (phase == "decode") log_.decode_ms += us / 1e3;
    log_.batches.push_back(std::move(batch));
  }

  void add_layer(TrueBatch& batch, int layer, std::int64_t tokens, std::int64_t outputs) {
    const std::string blk = fmt::format("blk.{}.", layer), n = std::to_string(layer);
    const std::string input = layer == 0 ? "inp_embd" : fmt::format("l_out-{}", layer - 1);
    const std::string& w = options_.weights;
    add_op(batch, {"RMS_NORM+MUL", "attn_norm", layer},
           {{input, "f32", 256, tokens}, {blk + "attn_norm.weight", "f32", 256, 1}},
           {{"attn_norm-" + n, "f32", 256, tokens}}, "row-block vtcm 8192", 4'000);
    if (options_.generation >= 6) {
      add_op(batch, {"MUL_MAT_NX", "attn_q+attn_k", layer},
             {{blk + "attn_q.weight", w, 256, 512},
              {blk + "attn_k.weight", w, 256, 128},
              {"attn_norm-" + n, "f32", 256, tokens}},
             {{"Qcur-" + n, "f32", 512, tokens}, {"Kcur-" + n, "f32", 128, tokens}},
             "hmx-tiled vtcm 65536", 60'000);
    } else {
      add_op(batch, {"MUL_MAT", "attn_q", layer},
             {{blk + "attn_q.weight", w, 256, 512}, {"attn_norm-" + n, "f32", 256, tokens}},
             {{"Qcur-" + n, "f32", 512, tokens}}, "hmx-tiled vtcm 65536", 50'000);
    }
    add_op(
        batch, {"SET_ROWS", "SET_ROWS cache_k", layer},
        {{fmt::format("Kcur-{} (view)", layer), "f32", 128, tokens}, {"leaf_9", "i64", tokens, 1}},
        {{fmt::format("cache_k_l{} (view)", layer), "f16", 128, 256}}, "", 2'000);
    // Between two ops of the layer, names of nobody.
    add_op(batch, {"GET_ROWS", "GET_ROWS", layer},
           {{"attn_out", "f32", 256, tokens}, {"leaf_20", "i32", outputs, 1}},
           {{fmt::format("node_{}", 10 + layer), "f32", 256, outputs}}, "flat vtcm 8192", 900);
    add_op(batch, {"MUL_MAT", "ffn_down", layer},
           {{blk + "ffn_down.weight", w, 512, 256}, {"ffn_act-" + n, "f32", 512, outputs}},
           {{"l_out-" + n, "f32", 256, outputs}}, "hvx-tiled vtcm 65536", 80'000);
  }

  struct What {
    std::string op, role;
    int layer;
  };

  static double bits(const std::string& type) {
    return type == "q4_0" ? 4.5 : type == "q4_K" ? 5 : type == "q6_K" ? 7 : 16;
  }

  void add_op(TrueBatch& batch, const What& what, const std::vector<TextOperand>& inputs,
              const std::vector<TextOperand>& outputs, const std::string& kernel,
              std::int64_t about) {
    TrueOp op{what.op, what.role, what.layer};
    op.start = counter_;
    op.cycles = std::uint64_t(between(about * 3 / 4, about * 5 / 4));
    op.usec = std::uint32_t(double(op.cycles) / options_.cycles_per_us);
    if (what.op.starts_with("MUL_MAT")) {
      for (std::size_t i = 0; i + 1 < inputs.size(); ++i) {
        const TextOperand& w = inputs[i];
        op.macs += double(w.fast * w.slow * inputs.back().slow);
        if (options_.generation > 0) {
          op.weight_bytes += double(w.fast * w.slow) * bits(w.type) / 8;
        }
      }
    }
    lines_.push_back(line_of(op, inputs, outputs, kernel));
    if (options_.mode == 3 && options_.generation >= 3) add_events(batch, op);
    counter_ += std::int64_t(op.cycles) + between(0, 400);
    batch.ops.push_back(std::move(op));
  }

  // Vector work on four threads, transfers in flight over each other on the first, and of products
  // jobs of the HMX.
  void add_events(TrueBatch& batch, const TrueOp& op) {
    const auto end = op.start + std::int64_t(op.cycles);
    for (int thread = 0; thread < 4; ++thread) {
      for (std::int64_t at = op.start + between(10, 300); at + 50 < end;) {
        const std::int64_t stop = std::min(end, at + between(40, 6'000));
        add_event(batch, {thread % 2 == 0 ? "HVX_COMP" : "HVX_W_DEQUANT", thread, at, stop});
        at = stop + between(5, 3'000);
      }
    }
    for (int slot = 0; slot < 3; ++slot) {
      const std::int64_t at = op.start + between(1, std::int64_t(op.cycles) / 2);
      add_event(batch, {"DMA", 0, at, std::min(end, at + between(20, std::int64_t(op.cycles)))},
                slot);
    }
    if (op.op.starts_with("MUL_MAT")) {
      add_event(batch, {"HMX_COMP", 10, op.start + 200, end - between(0, 900)});
    }
  }

  struct Edge {
    std::int64_t time;
    int thread, info;
    bool is_start;
    std::string name;
    std::size_t op;
  };

  void add_event(TrueBatch& batch, const TrueEvent& event, int info = 0) {
    if (event.end <= event.start) return;
    const std::size_t op = lines_.size() - 1;
    edges_.push_back({event.start, event.thread, info, true, event.name, op});
    edges_.push_back({event.end, event.thread, info, false, event.name, op});
    batch.events.push_back(event);
  }

  static std::string list(const std::vector<TextOperand>& tensors, auto text_of) {
    std::string text;
    for (const TextOperand& tensor : tensors) text += (text.empty() ? "" : " x ") + text_of(tensor);
    return text;
  }

  std::string line_of(const TrueOp& op, const std::vector<TextOperand>& inputs,
                      const std::vector<TextOperand>& outputs, const std::string& kernel) {
    const auto both = [&](auto text_of) {
      return list(inputs, text_of) + " -> " + list(outputs, text_of);
    };
    const std::string names = both([](const TextOperand& each) { return each.name; });
    const std::string extents =
        both([](const TextOperand& each) { return fmt::format("{}:{}", each.fast, each.slow); });
    const std::string types = both([](const TextOperand& each) { return each.type; });
    const std::string strides = both([](const TextOperand&) { return std::string("4:1024"); });
    const auto call = op.usec + 40;
    const std::string call_numbers =
        fmt::format("op-usec {} op-cycles {} op-pkts {} (2.000000) call-usec {}", op.usec,
                    op.cycles, op.cycles / 2, call);
    if (options_.generation == 0) {
      const std::string with_extents = both([](const TextOperand& each) {
        return fmt::format("{} {}:{}:1:1", each.name, each.fast, each.slow);
      });
      return fmt::format("{} {} : {}", op.op, with_extents, call_numbers);
    }
    std::string numbers = fmt::format("usec {} cycles {}", op.usec, op.cycles);
    if (options_.generation >= 3) {
      const double mhz = op.usec > 0 ? double(op.cycles) / op.usec : 0;
      numbers += fmt::format(" start {} mhz {:.1f}", std::uint32_t(op.start), mhz);
    }
    if (options_.mode == 2) {
      numbers += fmt::format(" pmu [{},1,2,3,{},5,6,7]", op.cycles * 2, op.cycles / 4);
    }
    if (options_.generation == 1) {
      return fmt::format("profile-op {}: {} : {} : {} : {} : HTP0 -> HTP0 : {}", op.op, names,
                         extents, types, strides, call_numbers);
    }
    if (options_.generation <= 3) {
      return fmt::format("profile-op {}: {} : {} : {} : {} : {}", op.op, names, extents, types,
                         strides, numbers);
    }
    const bool has_kernel = options_.generation >= 6 || op.op.starts_with("MUL_MAT");
    return fmt::format("profile-op {}|{}|{}|{}|{}|{}|{}", op.op, names, extents, types, strides,
                       has_kernel && !kernel.empty() ? kernel : "----", numbers);
  }

  // What a buffer of so many takes, by thread in the order of time.
  void lose(TrueBatch& batch, std::array<std::uint64_t, 11>& counts) {
    std::ranges::stable_sort(edges_, [](const Edge& a, const Edge& b) {
      return std::tie(a.thread, a.time, a.is_start) < std::tie(b.thread, b.time, b.is_start);
    });
    std::vector<Edge> kept;
    std::array<std::int64_t, 11> until;
    until.fill(counter_);
    for (const Edge& edge : edges_) {
      std::uint64_t& count = counts[std::size_t(edge.thread)];
      if (options_.lost_after > 0 && count >= options_.lost_after) {
        batch.lost[std::size_t(edge.thread)] += 1;
      } else {
        kept.push_back(edge);
        until[std::size_t(edge.thread)] = edge.time;
      }
      count += 1;
    }
    edges_ = std::move(kept);
    std::erase_if(batch.events, [&](const TrueEvent& event) {
      const std::size_t thread = std::size_t(event.thread);
      return batch.lost[thread] > 0 && event.end > until[thread];
    });
  }

  void print(TrueBatch& batch) {
    const std::string of = "ggml-hex: " + name(batch.session) + " ";
    std::array<std::uint64_t, 11> counts{};
    lose(batch, counts);
    std::uint64_t all_usec = 0;
    for (const TrueOp& op : batch.ops) all_usec += op.usec;
    const auto usec = std::uint64_t(double(batch.cycles) / options_.cycles_per_us);
    now_us_ += std::int64_t(usec) + 250;
    if (options_.generation >= 5) {
      const std::string numbers =
          options_.mode == 3 ? fmt::format("evt-cnt {}", fmt::join(counts, ",")) : "----";
      line('D', fmt::format("{}profile-op OPBATCH|----|n-ops {}|{}|----|----|usec {} cycles {} "
                            "start {} mhz {:.1f}",
                            of, batch.ops.size(), numbers, usec, batch.cycles, batch.start,
                            usec > 0 ? double(batch.cycles) / double(usec) : 0.0));
    }
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      line('D', of + lines_[i]);
      if (options_.generation >= 5) continue;
      for (const Edge& edge : edges_) {
        if (edge.op == i) {
          line('D', fmt::format("{}trace-op {}: thread {} event {} info {} {} {}", of,
                                batch.ops[i].op, edge.thread, edge.name, edge.info,
                                edge.is_start ? "start" : "stop", std::uint32_t(edge.time)));
        }
      }
    }
    if (options_.generation >= 5) {
      for (const Edge& edge : edges_) {
        line('D',
             fmt::format("{}trace-evt {}: thread {} info {} {} {}", of, edge.name, edge.thread,
                         edge.info, edge.is_start ? "start" : "stop", std::uint32_t(edge.time)));
      }
    } else if (options_.generation >= 2) {
      std::string events;
      if (options_.generation >= 3) events = fmt::format(" evt [{}]", fmt::join(counts, ","));
      line('D', fmt::format("{}profile-batch n-ops {} batch-dur-usec {} htp-ops-usec {}{}", of,
                            batch.ops.size(), usec + 100, all_usec, events));
    }
    edges_.clear();
  }

  const LogOptions& options_;
  GeneratedLog log_;
  std::int64_t counter_;
  std::uint64_t state_;
  std::int64_t now_us_ = 1'200'000;
  std::vector<std::string> lines_;
  std::vector<Edge> edges_;
};

}  // namespace

GeneratedLog generate(const LogOptions& options) { return Generator(options).make(); }

}  // namespace npuscope::ggml
