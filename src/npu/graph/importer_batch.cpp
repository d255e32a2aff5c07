// Another batch for a model whose batch is a constant: the first dimension of all its inputs. What
// the exporter baked in of it are the first values of Reshape's shapes; everything else follows
// from the inputs, or does not, which the outputs show.
#include <algorithm>

#include "npu/graph/importer.hpp"

namespace npuscope::npu {
namespace {

constexpr const char* advice = "export the model with a symbolic batch";

}  // namespace

std::int64_t Importer::rebatched(std::int64_t first_dimension) const {
  return first_dimension / old_batch_ * options_.batch;
}

// Sets old_batch_ where the model's is a constant and another one is asked for.
void Importer::find_old_batch(const GraphSource& source, const Scope& scope) {
  if (options_.batch <= 0) return;
  std::optional<std::int64_t> batch, other;
  for (const Encoded message : source.inputs) {
    const ValueSource value = read_value_source(message);
    const bool is_default = scope.tensors.contains(value.name);
    if (is_default || !value.dimensions || value.dimensions->empty()) continue;
    const auto& first = value.dimensions->front().value;
    if (!first || *first < 0) return;      // open: the option is its value
    if (*first == options_.batch) return;  // it is that batch already
    if (batch && *batch != *first) other = first;
    if (!batch) batch = first;
  }
  if (!batch) return;
  if (other) {
    fail_import(
        "-batchsize={}: its inputs begin with different dimensions, {} and {}, so that none is "
        "known as the batch; {}",
        options_.batch, *batch, *other, advice);
  }
  if (*batch == 0) fail_import("-batchsize={}: its batch is 0; {}", options_.batch, advice);
  old_batch_ = *batch;
  declared_.clear();  // shapes of the old batch
}

// What is computed from shapes has the new batch already.
void Importer::note_shapes(const Node& node) {
  if (old_batch_ == 0) return;
  const bool follows =
      node.op == "Shape" || node.op == "Size" ||
      std::any_of(node.inputs.begin(), node.inputs.end(), [&](TensorId input) {
        return input != TensorId::none && graph_[input].constant && of_shapes_.contains(input);
      });
  if (!follows) return;
  for (const TensorId output : node.outputs) {
    if (output != TensorId::none) of_shapes_.insert(output);
  }
}

// A Reshape of data to a shape that the exporter wrote down.
void Importer::rebatch_reshape(Node& node, Scope& scope) {
  if (old_batch_ == 0 || node.op != "Reshape" || !node.domain.empty() || node.inputs.size() < 2) {
    return;
  }
  const TensorId data = node.inputs[0], shape = node.inputs[1];
  if (data == TensorId::none || shape == TensorId::none || graph_[data].constant ||
      of_shapes_.contains(shape)) {
    return;
  }
  const auto values = graph_[shape].values;
  if (!values || values->empty() || values->front() <= 0) return;  // 0 and -1 follow
  const std::int64_t first = values->front();
  const Shape& from = graph_[data].shape;
  if (first % old_batch_ != 0 || from.empty() || from.front() % options_.batch != 0) {
    fail_import("-batchsize={}: node '{}' reshapes {} to a first dimension of {}; {}",
                options_.batch, node.name, to_text(from), first, advice);
  }
  Tensor adapted = graph_[shape];
  adapted.consumers.clear();
  auto new_values = *values;
  new_values.front() = rebatched(first);
  adapted.values = new_values;
  node.inputs[1] =
      add_tensor(std::move(adapted), own_names_.emplace_back(node.name + ".shape of batch"), scope);
}

// Every output must have the new batch in the place of the old one, and nothing else changed.
void Importer::check_rebatched(const GraphSource& source) const {
  if (old_batch_ == 0) return;
  for (std::size_t i = 0; i < source.outputs.size(); ++i) {
    const ValueSource value = read_value_source(source.outputs[i]);
    const Shape& shape = graph_[graph_.outputs[i]].shape;
    bool fits = !shape.empty() && shape.front() % options_.batch == 0;
    if (value.dimensions) {
      fits = value.dimensions->size() == shape.size() && !shape.empty();
      for (std::size_t axis = 0; fits && axis < shape.size(); ++axis) {
        const auto& stated = (*value.dimensions)[axis].value;
        if (!stated || *stated < 0) continue;
        fits = shape[axis] == (axis == 0 ? rebatched(*stated) : *stated);
      }
    }
    if (!fits) {
      fail_import(
          "-batchsize={}: its output '{}' becomes {}, which is not {} times what it was; {}",
          options_.batch, value.name, to_text(shape), double(options_.batch) / double(old_batch_),
          advice);
    }
  }
}

}  // namespace npuscope::npu
