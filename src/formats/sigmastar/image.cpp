#include "formats/sigmastar/image.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/text.hpp"
#include "formats/sigmastar/image_layout.hpp"
#include "formats/sigmastar/model.hpp"

namespace npuscope::sigmastar {

namespace {

constexpr std::uint32_t max_tensors = 1024;  // the vendor's driver takes 60

class ImageReader {
 public:
  ImageReader(ByteSpan bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  Result<Image> read();

 private:
  // Of a place that is there.
  std::uint32_t number(std::uint64_t at) const {
    std::uint32_t value;
    std::memcpy(&value, bytes_.data() + at, sizeof(value));
    return value;
  }
  bool holds(std::uint64_t at, std::uint64_t size) const {
    return at <= bytes_.size() && size <= bytes_.size() - at;
  }
  bool has_version_at(std::uint32_t at) const;
  std::string text_at(std::uint32_t at) const;
  void read_tensors(std::uint32_t field, const char* what, std::vector<ImageTensor>& tensors);
  std::optional<ImageTensor> read_tensor(std::uint64_t at);
  void read_model_within();
  void read_own();
  template <class... Args>
  void problem(fmt::format_string<Args...> text, Args&&... args) {
    image_.problems.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  ByteSpan bytes_;
  const std::string& name_;
  Image image_;
};

// "S3.1.2", "S1.0.9_verified_..."
bool ImageReader::has_version_at(std::uint32_t at) const {
  const std::string_view text = as_text(bytes_).substr(at, 4);
  return text[0] == 'S' && is_digit(text[1]) && text[2] == '.' && is_digit(text[3]);
}

std::string ImageReader::text_at(std::uint32_t at) const {
  std::string_view text = as_text(bytes_).substr(at, longest_version);
  return std::string(text.substr(0, text.find('\0')));
}

Result<Image> ImageReader::read() {
  if (bytes_.empty()) return input_error("{}: an empty file; copy it again", name_);
  if (!looks_like_image(as_text(bytes_))) {
    return input_error(
        "{}: no offline model (it begins with '{}', not SGSI); if it is a product's file it may be "
        "encrypted: take the one from before encryption",
        name_, printable(as_text(bytes_).substr(0, image_magic.size())));
  }
  if (bytes_.size() < header_end) {
    return input_error("{}: ends at byte {}, inside its header of {}; copy the file again", name_,
                       bytes_.size(), header_end);
  }
  const bool is_s3 = has_version_at(s3_fields.version);
  if (!is_s3 && !has_version_at(s1_fields.version)) {
    return input_error(
        "{}: has no version like S3.1.2 at byte {} or {}; it is of a generation that npuscope does "
        "not know",
        name_, s3_fields.version, s1_fields.version);
  }
  const ImageFields& fields = is_s3 ? s3_fields : s1_fields;
  image_.header = is_s3 ? ImageHeader::s3 : ImageHeader::s1;
  image_.version = text_at(fields.version);
  image_.stated_bytes = number(fields.file_bytes);
  image_.file_bytes = bytes_.size();
  image_.variable_buffer_bytes = number(variable_buffer_field);
  image_.section_offset = number(section_field);
  image_.section_bytes = number(section_field + 4);
  for (std::uint32_t i = 0; i < image_.counters.size(); ++i) {
    image_.counters[i] = number(fields.counters + 4 * i);
  }
  if (image_.stated_bytes != image_.file_bytes) {
    problem("the header says {} bytes but the file has {}: {}", image_.stated_bytes,
            image_.file_bytes,
            image_.stated_bytes > image_.file_bytes ? "it is cut, copy it again"
                                                    : "something was appended");
  }
  if (!holds(image_.section_offset, image_.section_bytes)) {
    problem("the section of {} bytes at {} reaches beyond the file", image_.section_bytes,
            image_.section_offset);
  }
  read_tensors(fields.inputs, "input", image_.inputs);
  read_tensors(fields.outputs, "output", image_.outputs);
  read_model_within();
  read_own();
  return std::move(image_);
}

void ImageReader::read_tensors(std::uint32_t field, const char* what,
                               std::vector<ImageTensor>& tensors) {
  const std::uint32_t offset = number(field), size = number(field + 4);
  if (size % descriptor_bytes != 0 || size / descriptor_bytes > max_tensors) {
    return problem("{} bytes of {} descriptors are not some of {} bytes each: left out", size, what,
                   descriptor_bytes);
  }
  if (!holds(offset, size)) {
    return problem("the {} descriptors at {} reach beyond the file: left out", what, offset);
  }
  for (std::uint32_t at = 0; at < size; at += descriptor_bytes) {
    if (auto tensor = read_tensor(std::uint64_t{offset} + at)) {
      tensors.push_back(std::move(*tensor));
    } else {
      problem("the {} descriptor at {} has a rank or a name that cannot be: left out", what,
              std::uint64_t{offset} + at);
    }
  }
}

std::optional<ImageTensor> ImageReader::read_tensor(std::uint64_t at) {
  const auto get = [&](std::uint32_t place) { return number(at + 4 * std::uint64_t{place}); };
  const std::uint32_t rank = get(word::rank);
  const std::uint32_t name_at = get(word::name_offset), name_bytes = get(word::name_length);
  constexpr std::uint32_t longest_name = 1 << 16;
  if (rank > descriptor_rank || name_bytes > longest_name || !holds(name_at, name_bytes)) {
    return std::nullopt;
  }
  ImageTensor tensor;
  tensor.name = as_text(bytes_).substr(name_at, name_bytes);
  for (std::uint32_t i = descriptor_rank - rank; i < descriptor_rank; ++i) {
    tensor.shape.push_back(get(i));
  }
  tensor.padded_width = get(word::padded_width);
  tensor.type = get(word::type);
  tensor.inner_stride_bytes = get(word::inner_stride);
  tensor.bytes = get(word::bytes);
  tensor.element_format = get(word::element_format);
  tensor.is_image = get(word::is_image) == 1;
  tensor.zero_point = std::int64_t(std::uint64_t{get(word::zero_point)} |
                                   std::uint64_t{get(word::zero_point + 1)} << 32);
  tensor.scale = std::bit_cast<float>(get(word::scale));
  return tensor;
}

void ImageReader::read_model_within() {
  if (bytes_.size() <= model_offset) {
    return problem("the file ends before its model at byte {}", model_offset);
  }
  auto model = read_model(bytes_.subspan(model_offset),
                          fmt::format("its model, from byte {} on", model_offset));
  if (!model) return problem("{}", model.error().message);
  image_.model = std::move(*model);
  const auto& told = image_.model->metadata_buffer;
  const bool agrees =
      told.size() == image_.counters.size() &&
      std::equal(told.begin(), told.end(), image_.counters.begin(),
                 [](std::int32_t a, std::uint32_t b) { return std::uint32_t(a) == b; });
  if (!told.empty() && !agrees) {
    problem("the header's eight counters are not those of its model: parts of two files?");
  }
}

void ImageReader::read_own() {
  if (!holds(own_field, model_offset - own_field) ||
      as_text(bytes_).substr(own_field, own_mark.size()) != own_mark) {
    return;
  }
  const std::uint32_t offset = number(own_field + 8), size = number(own_field + 12);
  if (!holds(offset, size)) {
    return problem("npuscope's section of {} bytes at {} reaches beyond the file: left out", size,
                   offset);
  }
  auto own = read_own_section(bytes_.subspan(offset, size), name_);
  if (!own) return problem("{}", own.error().message);
  image_.own = std::move(*own);
}

}  // namespace

std::string element_format_name(std::uint32_t format) {
  switch (format) {
    case 1: return "RGB or BGR";
    case 4: return "BGRA";
    case 5: return "YUV_NV12";
    case 12: return "INT16";
    case 21: return "FLOAT32";
    default: return {};
  }
}

namespace {

std::uint64_t elements_of(const ImageTensor& tensor, std::size_t dimensions) {
  std::uint64_t count = 1;
  for (std::size_t i = 0; i < dimensions; ++i) {
    if (__builtin_mul_overflow(count, std::uint64_t{tensor.shape[i]}, &count)) return 0;
  }
  return count;
}

}  // namespace

std::optional<std::uint64_t> data_bytes(const ImageTensor& tensor) {
  constexpr std::uint32_t bgra = 4, nv12 = 5, int16 = 12, float32 = 21;
  const bool is_image = tensor.is_image && tensor.shape.size() == 4;  // NHWC
  if (is_image && (tensor.element_format == bgra || tensor.element_format == nv12)) {
    const std::uint64_t pixels = elements_of(tensor, 3);
    return tensor.element_format == bgra ? 4 * pixels : pixels + pixels / 2;
  }
  const auto bytes = tensor.element_format == int16     ? 2
                     : tensor.element_format == float32 ? 4
                                                        : bytes_of_tensor_type(tensor.type);
  if (!bytes) return std::nullopt;
  return *bytes * elements_of(tensor, tensor.shape.size());
}

bool looks_like_image(std::string_view head) { return head.starts_with(image_magic); }

Result<Image> read_image(ByteSpan bytes, const std::string& name) {
  return ImageReader(bytes, name).read();
}

Result<Model> read_model_or_image(ByteSpan bytes, const std::string& name) {
  if (!looks_like_image(as_text(bytes))) return read_model(bytes, name);
  auto image = read_image(bytes, name);
  if (image && image->model && !image->is_stripped()) return std::move(*image->model);
  return input_error("{}; npuscope ipu info -m shows what it holds",
                     !image         ? image.error().message
                     : image->model ? name + ": its operators have been stripped"
                                    : name + ": " + image->problems.back());
}

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
