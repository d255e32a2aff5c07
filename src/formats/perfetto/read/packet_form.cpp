#include "formats/perfetto/read/packet_form.hpp"

namespace npuscope::perfetto {
namespace {

// Fields of which each packet of a form has the same.
bool are_repeated(std::string_view fields) {
  FieldReader reader(fields);
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case varint_field(packet_field::sequence_id):
      case varint_field(packet_field::sequence_flags):
      case varint_field(packet_field::timestamp_clock_id):
      case varint_field(packet_field::trusted_uid):
      case varint_field(packet_field::trusted_process):
      case varint_field(packet_field::machine): reader.skip(); break;
      default: return false;
    }
  }
  return true;
}

std::uint64_t mask_of(std::size_t bytes) {
  return bytes == 0 ? 0 : ~std::uint64_t{0} >> 8 * (sizeof(std::uint64_t) - bytes);
}

}  // namespace

void PacketForm::learn_usual(std::string_view bytes, const Packet& packet) {
  if (bytes[0] != tag_of_timestamp) return;
  FieldReader reader(bytes.substr(1));
  reader.get_uint64();
  const char* const begin = bytes.data() + bytes.size() - reader.bytes_left();
  const char* const end = bytes.data() + bytes.size();
  const char* const event = packet.track_event.data();
  const char* const event_end = event + packet.track_event.size();
  constexpr char tag_of_event = bytes_field(packet_field::track_event);
  if (event < begin + 2 || packet.track_event.size() >= 0x80 || event[-2] != tag_of_event) return;
  const auto between_size = std::size_t(event - 1 - begin);
  const auto behind_size = std::size_t(end - event_end);
  if (std::size_t(end - begin) < sizeof between_) return;
  if (between_size > most_between || behind_size > most_behind) return;
  if (!are_repeated({begin, between_size - 1}) || !are_repeated({event_end, behind_size})) return;
  between_size_ = between_size;
  behind_size_ = behind_size;
  between_mask_ = mask_of(between_size);
  behind_mask_ = ~mask_of(most_behind - behind_size);
  std::memcpy(&between_, begin, sizeof between_);
  std::memcpy(&behind_, end - sizeof behind_, sizeof behind_);
  between_ &= between_mask_;
  behind_ &= behind_mask_;
  packet_ = packet;
  packet_.interned = {};
  packet_.rare = nullptr;
}

}  // namespace npuscope::perfetto
