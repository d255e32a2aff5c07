#include "formats/sigmastar/write_image.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "formats/sigmastar/image_layout.hpp"
#include "formats/sigmastar/write_model.hpp"

namespace npuscope::sigmastar {
namespace {

void put(std::string& bytes, std::uint64_t at, std::uint32_t value) {
  std::memcpy(bytes.data() + at, &value, sizeof(value));
}

// Descriptors at the end of `bytes`, their names behind them.
void add_tensors(std::string& bytes, std::uint32_t field, const std::vector<ImageTensor>& tensors) {
  const std::size_t begin = bytes.size();
  put(bytes, field, std::uint32_t(begin));
  put(bytes, field + 4, std::uint32_t(tensors.size() * descriptor_bytes));
  bytes.resize(begin + tensors.size() * descriptor_bytes, '\0');
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const ImageTensor& tensor = tensors[i];
    const auto set = [&](std::uint32_t word, std::uint32_t value) {
      put(bytes, begin + i * descriptor_bytes + 4 * std::size_t{word}, value);
    };
    const auto rank = std::uint32_t(std::min<std::size_t>(tensor.shape.size(), descriptor_rank));
    for (std::uint32_t d = 0; d < descriptor_rank - rank; ++d) set(d, 1);
    for (std::uint32_t d = 0; d < rank; ++d) set(descriptor_rank - rank + d, tensor.shape[d]);
    set(word::padded_width, tensor.padded_width);
    set(word::type, tensor.type);
    set(word::inner_stride, tensor.inner_stride_bytes);
    set(word::bytes, tensor.bytes);
    set(word::element_format, tensor.element_format);
    set(word::is_image, tensor.is_image ? 1 : 0);
    set(word::zero_point, std::uint32_t(tensor.zero_point));
    set(word::zero_point + 1, std::uint32_t(std::uint64_t(tensor.zero_point) >> 32));
    set(word::scale, std::bit_cast<std::uint32_t>(tensor.scale));
    set(word::rank, rank);
    set(word::name_length, std::uint32_t(tensor.name.size()));
    set(word::name_offset, std::uint32_t(bytes.size()));
    bytes += tensor.name;
  }
  bytes.resize((bytes.size() + 3) / 4 * 4, '\0');
}

}  // namespace

std::string write_image(const Image& image) {
  const ImageFields& fields = image.header == ImageHeader::s3 ? s3_fields : s1_fields;
  Model model = image.model.value_or(Model{});
  model.metadata_buffer.clear();
  for (const std::uint32_t counter : image.counters) {
    model.metadata_buffer.push_back(std::int32_t(counter));
  }
  const std::string within = write_model(model);
  std::string bytes(model_offset, '\0');
  bytes.replace(0, image_magic.size(), image_magic);
  bytes.replace(fields.version, std::min<std::size_t>(image.version.size(), longest_version - 1),
                image.version, 0, longest_version - 1);
  put(bytes, section_field, model_offset);
  put(bytes, section_field + 4, std::uint32_t(within.size()));
  put(bytes, variable_buffer_field, image.variable_buffer_bytes);
  for (std::uint32_t i = 0; i < image.counters.size(); ++i) {
    put(bytes, fields.counters + 4 * i, image.counters[i]);
  }
  bytes += within;
  add_tensors(bytes, fields.inputs, image.inputs);
  add_tensors(bytes, fields.outputs, image.outputs);
  if (image.own) {
    const std::string own = write_own_section(*image.own);
    bytes.replace(own_field, own_mark.size(), own_mark);
    put(bytes, own_field + 8, std::uint32_t(bytes.size()));
    put(bytes, own_field + 12, std::uint32_t(own.size()));
    bytes += own;
  }
  put(bytes, fields.file_bytes, std::uint32_t(bytes.size()));
  return bytes;
}

}  // namespace npuscope::sigmastar
