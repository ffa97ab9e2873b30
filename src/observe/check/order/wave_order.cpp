#include "observe/check/order/wave_order.h"

#include <algorithm>
#include <utility>

namespace margay::check {
namespace {

void raise(Clock& to, const Clock& from, unsigned count) {
  for (unsigned w = 0; w < count; ++w) to[w] = std::max(to[w], from[w]);
}

}  // namespace

void WaveOrder::begin_workgroup(std::uint32_t workgroup, unsigned waves) {
  workgroup_ = workgroup;
  count_ = std::min(waves, kMaxWaves);
  waves_ = {};
  versions_.assign(1, Clock{});
  for (auto& bounds : bounds_) bounds.clear();
}

void WaveOrder::new_version(PerWave& wave) {
  wave.version = static_cast<std::uint32_t>(versions_.size());
  versions_.push_back(wave.knowledge.issued);
}

void WaveOrder::join(Knowledge& to, const Knowledge& from) {
  raise(to.lds, from.lds, count_);
  raise(to.lds_atomics, from.lds_atomics, count_);
  raise(to.issued, from.issued, count_);
  raise(to.completed, from.completed, count_);
  raise(to.flushed, from.flushed, count_);
  if (graph_ == nullptr || (to.seen == from.seen && to.acquired == from.acquired)) return;
  const auto lock = graph_->lock();
  to.seen = graph_->join(to.seen, from.seen);
  to.acquired = graph_->join(to.acquired, from.acquired);
}

Knowledge WaveOrder::release(unsigned wave, std::uint32_t lds_completed) {
  PerWave& w = waves_[wave];
  end_segment(w);
  Knowledge& own = w.knowledge;
  own.lds[wave] = std::max(own.lds[wave], lds_completed);
  own.issued[wave] = own.completed[wave] = w.segment - 1;
  return own;
}

SyncGraph::Vertex WaveOrder::publish(unsigned wave, const Knowledge& released) {
  const std::uint32_t own = waves_[wave].segment;
  bound(wave, own - 1);
  bound(wave, own);
  for (unsigned n = 0; n < count_; ++n) {
    bound(n, released.completed[n]);
    bound(n, released.flushed[n]);
  }
  return graph_->release({workgroup_, wave, own}, released.seen,
                         std::span(released.completed).first(count_),
                         std::span(released.flushed).first(count_));
}

void WaveOrder::bound(unsigned wave, std::uint32_t segment) {
  auto& bounds = bounds_[wave];
  const auto at = std::ranges::lower_bound(bounds, segment);
  if (at == bounds.end() || *at != segment) bounds.insert(at, segment);
}

std::uint32_t WaveOrder::canonical(unsigned wave, std::uint32_t segment) const {
  const auto& bounds = bounds_[wave];
  const auto at = std::ranges::lower_bound(bounds, segment);
  return at == bounds.begin() ? 1 : *(at - 1) + 1;
}

void WaveOrder::acquire(unsigned wave, const Knowledge& released) {
  PerWave& w = waves_[wave];
  ++w.changes;
  const Clock before = w.knowledge.issued;
  join(w.knowledge, released);
  if (w.knowledge.issued != before) new_version(w);
}

void WaveOrder::see(unsigned wave, SyncGraph::Vertex vertex) {
  ++waves_[wave].changes;
  Knowledge& own = waves_[wave].knowledge;
  const auto lock = graph_->lock();
  own.seen = graph_->join(own.seen, vertex);
}

void WaveOrder::write_back(unsigned wave) {
  PerWave& w = waves_[wave];
  end_segment(w);
  w.writing_back = w.knowledge.issued;
  w.writing_back[wave] = w.segment - 1;
  w.has_written_back = true;
}

void WaveOrder::written_back(unsigned wave) {
  PerWave& w = waves_[wave];
  if (!w.has_written_back) return;
  w.has_written_back = false;
  ++w.changes;
  raise(w.knowledge.flushed, w.writing_back, count_);
}

bool WaveOrder::invalidate(unsigned wave) {
  ++waves_[wave].changes;
  Knowledge& own = waves_[wave].knowledge;
  return std::exchange(own.acquired, own.seen) != own.seen;
}

void WaveOrder::barrier(const Clock& lds_completed) {
  Knowledge all;
  for (unsigned n = 0; n < count_; ++n) {
    const Knowledge own = release(n, lds_completed[n]);
    join(all, own);
  }
  versions_.assign(1, all.issued);
  for (unsigned n = 0; n < count_; ++n) {
    waves_[n].knowledge = all;
    waves_[n].version = 0;
    ++waves_[n].changes;
  }
}

}  // namespace margay::check
