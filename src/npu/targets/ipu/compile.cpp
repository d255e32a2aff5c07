#include "npu/targets/ipu/compile.hpp"

#include <algorithm>

#include "base/arithmetic.hpp"
#include "base/try.hpp"
#include "formats/sigmastar/image.hpp"
#include "formats/sigmastar/model.hpp"
#include "npu/core/target_file.hpp"
#include "npu/graph/import_onnx.hpp"
#include "npu/targets/ipu/lowering.hpp"
#include "npu/targets/ipu/plan.hpp"
#include "npuscope/npu/ipu/build.hpp"

namespace npuscope::npu::ipu {
namespace {

// The tensors of a lowered graph as a fixed model and an offline image hold them.

// Channels innermost where there are four dimensions or more.
Shape shape_on_chip(const Tensor& tensor);

// Element formats as real images have them.
constexpr std::uint32_t format_rgb = 1, format_int16 = 12, format_float32 = 21;

std::int32_t type_of(const Lowered& lowered, TensorId id) {
  return lowered.tensor_types[std::uint32_t(id)];
}

class ModelMaker {
 public:
  explicit ModelMaker(const Lowered& lowered)
      : lowered_(lowered), places_(lowered.graph.tensors.size(), -1) {}

  sigmastar::Model run(const std::vector<std::uint32_t>& marks) {
    for (const TensorId id : lowered_.graph.inputs) model_.inputs.push_back(place(id));
    for (std::size_t i = 0; i < lowered_.operators.size(); ++i) {
      const Operator& op = lowered_.operators[i];
      sigmastar::ModelOperator each;
      each.type = op.type;
      each.is_custom = op.is_custom;
      each.mark = marks[i];
      for (const TensorId id : op.inputs) each.inputs.push_back(place(id));
      for (const TensorId id : op.outputs) each.outputs.push_back(place(id));
      model_.operators.push_back(std::move(each));
    }
    for (const TensorId id : lowered_.graph.outputs) model_.outputs.push_back(place(id));
    return std::move(model_);
  }

 private:
  std::int32_t place(TensorId id) {
    if (id == TensorId::none) return -1;
    std::int32_t& at = places_[std::uint32_t(id)];
    if (at >= 0) return at;
    at = std::int32_t(model_.tensors.size());
    const Tensor& tensor = lowered_.graph[id];
    sigmastar::ModelTensor made{tensor.name, type_of(lowered_, id), {}, 0};
    for (const std::int64_t size : tensor.constant ? tensor.shape : shape_on_chip(tensor)) {
      made.shape.push_back(std::int32_t(size));
    }
    model_.tensors.push_back(std::move(made));
    return at;
  }

  const Lowered& lowered_;
  std::vector<std::int32_t> places_;  // in the model, by tensor
  sigmastar::Model model_;
};

Shape shape_on_chip(const Tensor& tensor) {
  Shape shape = tensor.shape;
  if (shape.size() >= 4) std::rotate(shape.begin() + 1, shape.begin() + 2, shape.end());
  return shape;
}

// Tensors, inputs, outputs and operators; `marks` are the operators' places in their groups.
sigmastar::Model make_model(const Lowered& lowered, const std::vector<std::uint32_t>& marks,
                            const std::string& description) {
  sigmastar::Model model = ModelMaker(lowered).run(marks);
  model.description = description;
  return model;
}

// Of an input or output. `images`: how many lie in one buffer.
sigmastar::ImageTensor image_tensor(const Lowered& lowered, TensorId id, bool is_input,
                                    std::uint32_t images, const Target& target) {
  const Tensor& tensor = lowered.graph[id];
  sigmastar::ImageTensor made;
  made.name = tensor.name;
  made.type = std::uint32_t(type_of(lowered, id));
  for (const std::int64_t size : shape_on_chip(tensor)) made.shape.push_back(std::uint32_t(size));
  if (made.shape.empty()) made.shape.push_back(1);
  const std::uint32_t inner = made.shape.back();
  made.inner_stride_bytes = bytes_of_type(type_of(lowered, id));
  made.padded_width = std::uint32_t(round_up(inner, target.width_alignment));
  made.is_image = is_input && is_image(tensor);
  made.element_format = made.is_image                       ? format_rgb
                        : made.type == tensor_type::int16   ? format_int16
                        : made.type == tensor_type::float32 ? format_float32
                                                            : 0;
  made.scale = 1;
  std::uint64_t bytes = tensor.elements() * made.inner_stride_bytes;
  if (made.is_image) {
    const std::uint64_t line =
        round_up(std::uint64_t{made.shape[2]} * inner, target.width_alignment);
    bytes = made.shape[0] * round_up(made.shape[1], target.height_alignment) * line;
  }
  made.shape[0] *= images;
  made.bytes = std::uint32_t(std::min<std::uint64_t>(bytes * images, 0xffffffff));
  return made;
}

sigmastar::InputFormat input_format(const Lowered& lowered, TensorId id, const Target& target) {
  const Tensor& tensor = lowered.graph[id];
  const std::string layout = tensor.shape.size() >= 4 ? "NHWC" : "";
  if (is_image(tensor)) {
    return {layout, "RGB", "RGB", target.width_alignment, target.height_alignment};
  }
  const std::string raw =
      type_of(lowered, id) == tensor_type::int16 ? "RAWDATA_S16_NHWC" : "RAWDATA";
  return {layout, raw, raw, 1, 1};
}

constexpr std::size_t max_tensors = 60;     // inputs, and outputs, that the vendor's driver takes
constexpr std::size_t max_layers = 0xffff;  // that a log can tell apart
constexpr std::uint32_t max_batch = 1024;
constexpr std::uint64_t max_program_tiles = std::uint64_t{1} << 22;  // 64 MiB of the image

// As the model's operators are marked.
constexpr std::uint32_t mark_alone = 1, mark_first = 2, mark_last = 3, mark_middle = 0;

class Compiler {
 public:
  Compiler(const Target& target, const CompileOptions& options)
      : target_(target), options_(options) {}

  Result<Compiled> run(const Graph& graph) {
    TRY(check(graph));
    TRY_AS(lowered, lower(graph, options_.model_name));
    lowered_ = std::move(*lowered);
    const auto groups = group_operators(lowered_, options_.batch, target_);
    if (groups.size() > max_layers) {
      return usage_error("{}: has {} layers, more than a log can tell apart ({})",
                         options_.model_name, groups.size(), max_layers);
    }
    own_.program.cores = target_.cores;
    own_.program.target = target_.toml;
    for (const OperatorGroup& group : groups) TRY(add_layer(group));
    compiled_.model = make_model(lowered_, marks_of(groups), options_.description);
    compiled_.model.metadata_buffer.assign(8, 0);
    make_image();
    return std::move(compiled_);
  }

 private:
  Status check(const Graph& graph) {
    if (options_.batch < 1 || options_.batch > max_batch) {
      return usage_error("--batch={}: from 1 to {}", options_.batch, max_batch);
    }
    if (options_.cores > target_.cores) {
      return usage_error("--ipu-cores={}: {} has {}", options_.cores, target_.name, target_.cores);
    }
    if (options_.cores > 0) target_.cores = options_.cores;
    if (std::max(graph.inputs.size(), graph.outputs.size()) > max_tensors) {
      return input_error("{}: has {} inputs and {} outputs; the IPU's driver takes {} of each",
                         options_.model_name, graph.inputs.size(), graph.outputs.size(),
                         max_tensors);
    }
    return {};
  }

  Status add_layer(const OperatorGroup& group) {
    const Operator& first = lowered_.operators[group.first];
    const Operator& last = lowered_.operators[group.first + group.count - 1];
    auto plan = plan_layer(group.work, target_);
    if (!plan) {
      return usage_error("{}: operator {} ({}) {}", options_.model_name, group.first, first.type,
                         plan.error().message);
    }
    sigmastar::ProgramLayer layer;
    layer.first_operator = std::uint32_t(group.first);
    layer.operators = std::uint32_t(group.count);
    layer.multiply_accumulates = group.work.multiply_accumulates;
    layer.weight_bytes = group.work.constant_bytes();
    layer.input_bytes = group.work.input_bytes();
    layer.output_bytes = group.work.output_bytes;
    layer.cores = std::move(plan->cores);

    LayerMetrics metrics;
    metrics.type = first.type;
    metrics.output = last.outputs.empty() ? "" : lowered_.graph[last.outputs[0]].name;
    metrics.first_operator = layer.first_operator;
    metrics.operators = layer.operators;
    metrics.multiply_accumulates = layer.multiply_accumulates;
    for (const auto& tiles : layer.cores) metrics.tiles += tiles.empty() ? 0 : tiles.size() - 1;
    tiles_ += metrics.tiles;
    if (tiles_ > max_program_tiles) {
      return usage_error(
          "{}: needs more than {} tiles of {} bytes a core; give it smaller sizes, or "
          "a target with more memory",
          options_.model_name, max_program_tiles, target_.memory_bytes);
    }
    metrics.load_bytes = plan->load_bytes;
    metrics.weight_bytes = layer.weight_bytes;
    metrics.input_bytes = layer.input_bytes;
    metrics.refetch_bytes = plan->load_bytes - layer.weight_bytes - layer.input_bytes;
    metrics.store_bytes = plan->store_bytes;
    compiled_.layers.push_back(std::move(metrics));
    own_.program.layers.push_back(std::move(layer));
    return {};
  }

  std::vector<std::uint32_t> marks_of(const std::vector<OperatorGroup>& groups) const {
    std::vector<std::uint32_t> marks(lowered_.operators.size(), mark_alone);
    for (const OperatorGroup& group : groups) {
      if (group.count == 1) continue;
      std::fill_n(marks.begin() + std::ptrdiff_t(group.first), group.count, mark_middle);
      marks[group.first] = mark_first;
      marks[group.first + group.count - 1] = mark_last;
    }
    return marks;
  }

  // The most bytes of results that layers hand to one another at any time.
  std::uint64_t variable_buffer_bytes() const {
    const auto& operators = lowered_.operators;
    const auto& graph = lowered_.graph;
    std::vector<std::size_t> last_use(graph.tensors.size(), 0);
    for (std::size_t i = 0; i < operators.size(); ++i) {
      for (const TensorId id : present(operators[i].inputs)) last_use[std::uint32_t(id)] = i;
    }
    for (std::size_t i = operators.size(); i-- > 0;) {  // an alias keeps what it is a view of
      if (!operators[i].is_alias()) continue;
      auto& source = last_use[std::uint32_t(operators[i].inputs[0])];
      source = std::max(source, last_use[std::uint32_t(operators[i].outputs[0])]);
    }
    std::vector<std::uint64_t> free_after(operators.size() + 1);
    std::uint64_t now = 0, max = 0;
    const auto bytes = [&](TensorId id) {
      return graph[id].elements() * options_.batch *
             bytes_of_type(lowered_.tensor_types[std::uint32_t(id)]);
    };
    for (std::size_t i = 0; i < operators.size(); ++i) {
      for (const TensorId id : operators[i].outputs) {
        const bool is_output = std::ranges::find(graph.outputs, id) != graph.outputs.end();
        if (is_output || operators[i].is_alias()) continue;
        now += bytes(id);
        free_after[std::max(i, last_use[std::uint32_t(id)])] += bytes(id);
      }
      max = std::max(max, now);
      now -= free_after[i];
    }
    return max;
  }

  void make_image() {
    const bool is_one_buffer = options_.batch_mode == BatchMode::one_buf;
    const std::uint32_t images = is_one_buffer ? options_.batch : 1;
    sigmastar::Image& image = compiled_.image;
    image.header = sigmastar::ImageHeader::s3;
    image.version = target_.image_version;
    image.variable_buffer_bytes =
        std::uint32_t(std::min<std::uint64_t>(variable_buffer_bytes(), 0xffffffff));
    image.model = compiled_.model;
    for (const TensorId id : lowered_.graph.inputs) {
      image.inputs.push_back(image_tensor(lowered_, id, true, images, target_));
      own_.inputs.push_back(input_format(lowered_, id, target_));
    }
    for (const TensorId id : lowered_.graph.outputs) {
      image.outputs.push_back(image_tensor(lowered_, id, false, images, target_));
    }
    own_.batch.max = own_.batch.suggested = options_.batch;
    if (is_one_buffer) own_.batch.supported = {options_.batch};
    own_.batch.mode = name_of(options_.batch_mode);
    image.own = std::move(own_);
  }

  Target target_;
  const CompileOptions& options_;
  Lowered lowered_;
  sigmastar::OwnSection own_;
  Compiled compiled_;
  std::uint64_t tiles_ = 0;
};

}  // namespace

std::string_view name_of(BatchMode mode) { return mode == BatchMode::n_buf ? "n_buf" : "one_buf"; }

Result<Compiled> compile(const Graph& graph, const Target& target, const CompileOptions& options) {
  return Compiler(target, options).run(graph);
}

namespace {

// Of one image, which options.batch repeats; a model that cannot follow keeps its batch, unless the
// caller asked for one.
Result<Graph> import_one_image(const std::filesystem::path& model, ImportOptions options) {
  if (options.batch != 0) return import_onnx_file(model, options);
  options.batch = 1;
  auto graph = import_onnx_file(model, options);
  if (graph) return graph;
  options.batch = 0;
  auto as_it_is = import_onnx_file(model, options);
  if (!as_it_is) return graph;
  as_it_is->warnings.push_back(
      fmt::format("compiled with the batch that the model has: {}", graph.error().message));
  return as_it_is;
}

}  // namespace

Result<BuildResult> build(const std::filesystem::path& model, BuildRequest request) {
  TRY_AS(file, find_target_file(request.target));
  TRY_AS(target, read_target(*file));
  TRY_AS(graph, import_one_image(model, request.import));
  request.options.model_name = model.string();
  request.options.description = model.stem().string();
  TRY_AS(compiled, compile(*graph, *target, request.options));
  return BuildResult{sigmastar::write_model(compiled->model),
                     sigmastar::write_image(compiled->image), graph->warnings,
                     std::make_shared<const Compiled>(std::move(*compiled))};
}

}  // namespace npuscope::npu::ipu
