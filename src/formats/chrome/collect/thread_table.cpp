#include "formats/chrome/collect/thread_table.hpp"

namespace npuscope::chrome {

void ThreadTable::add(const Metadata& metadata) {
  using enum Metadata::What;
  if (metadata.what == thread_name || metadata.what == thread_sort_index) {
    const std::uint32_t thread = index(metadata.process_id, metadata.thread_id);
    if (thread >= named_.size()) named_.resize(thread + 1);
    if (metadata.what == thread_name) {
      named_[thread].name = metadata.text;
    } else {
      named_[thread].sort_index = metadata.number;
    }
    return;
  }
  const auto [process, is_new] = processes_.try_emplace(std::uint32_t(metadata.process_id));
  if (is_new) process_order_.push_back(metadata.process_id);
  if (metadata.what == process_name) process->second.name = metadata.text;
  if (metadata.what == process_labels) process->second.labels = metadata.text;
  if (metadata.what == process_sort_index) process->second.sort_index = metadata.number;
}

std::vector<Thread> ThreadTable::take_threads() {
  std::vector<Thread> threads;
  threads.reserve(threads_.size());
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    Thread& thread = threads.emplace_back();
    thread.process_id = StringId(threads_.high(i));
    thread.thread_id = StringId(threads_.low(i));
    if (i < named_.size()) {
      thread.thread_name = named_[i].name;
      thread.thread_sort_index = named_[i].sort_index;
    }
    const auto process = processes_.find(threads_.high(i));
    if (process == processes_.end()) continue;
    process->second.has_thread = true;
    thread.process_name = process->second.name;
    thread.process_labels = process->second.labels;
    thread.process_sort_index = process->second.sort_index;
  }
  for (const StringId id : process_order_) {
    const Process& process = processes_[std::uint32_t(id)];
    if (process.has_thread) continue;
    threads.push_back({id, StringId::empty, process.name, StringId::empty, process.labels,
                       process.sort_index, 0});
  }
  return threads;
}

}  // namespace npuscope::chrome
