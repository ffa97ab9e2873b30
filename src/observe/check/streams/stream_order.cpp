#include "observe/check/streams/stream_order.h"

#include <algorithm>

namespace margay::check {

void OrderClock::learn(std::uint32_t line, std::uint64_t number) {
  if (line >= known_.size()) known_.resize(line + 1);
  known_[line] = std::max(known_[line], number);
}

void OrderClock::join(const OrderClock& other) {
  if (known_.size() < other.known_.size()) known_.resize(other.known_.size());
  for (std::size_t line = 0; line < other.known_.size(); ++line)
    known_[line] = std::max(known_[line], other.known_[line]);
}

bool OrderClock::is_within(const OrderClock& other) const {
  for (std::uint32_t line = 0; line < known_.size(); ++line)
    if (known_[line] > other.of(line)) return false;
  return true;
}

std::uint32_t StreamOrder::line_of(const Stream& stream) {
  const auto found = of_stream_.find(stream.id);
  if (found != of_stream_.end()) return found->second;
  // Numbers keep rising, so that knowledge of the old stream does not apply to the new one.
  std::uint32_t line = 0;
  while (line < lines_.size() && !is_over(line)) ++line;
  if (line == lines_.size()) lines_.emplace_back();
  if (lines_[line].has_stream) of_stream_.erase(lines_[line].id);
  lines_[line] = {.id = stream.id,
                  .waits_for_null = stream.waits_for_null,
                  .has_stream = true,
                  .clock = {},
                  .last = lines_[line].last};
  return of_stream_[stream.id] = line;
}

bool StreamOrder::is_over(std::uint32_t number) const {
  const Line& line = lines_[number];
  if (host_.of(number) < line.last) return false;
  // Threads end without notice, and their hipStreamPerThread with them.
  constexpr std::size_t kMany = 256;
  return !line.has_stream || (lines_.size() >= kMany && line.clock.is_within(host_));
}

void StreamOrder::destroyed(const StreamId& id) {
  const auto found = of_stream_.find(id);
  if (found == of_stream_.end()) return;
  lines_[found->second].has_stream = false;
  lines_[found->second].id.handle = &lines_;  // no stream's
  of_stream_.erase(found);
}

OrderClock StreamOrder::point(std::uint32_t number) const {
  const Line& line = lines_[number];
  OrderClock clock = line.clock;
  clock.join(host_);
  for (const Line& other : lines_)
    if (other.id.device == line.id.device && ((line.id.is_null() && other.waits_for_null) ||
                                              (line.waits_for_null && other.id.is_null())))
      clock.join(other.clock);
  return clock;
}

std::shared_ptr<Operation> StreamOrder::begin(const Stream& stream, std::string what) {
  const std::uint32_t number = line_of(stream);
  auto operation = std::make_shared<Operation>();
  operation->line = number;
  operation->owner = this;
  operation->number = ++number_;
  operation->before = point(number);
  operation->stream = stream.name;
  operation->null_stream = stream.id.is_null();
  operation->non_blocking = !stream.waits_for_null && !stream.id.is_null();
  operation->what = std::move(what);
  Line& line = lines_[number];
  line.last = number_;
  line.clock = operation->before;
  line.clock.learn(number, number_);
  return operation;
}

// A chain of parts stays in one line; a branch takes one that belongs to no stream.
std::uint32_t StreamOrder::line_behind(const Operation& whole, const Parts& after,
                                       const OrderClock& clock) {
  for (const auto& part : after)
    if (lines_[part->line].last == part->number) return part->line;
  if (lines_[whole.line].last == whole.number) return whole.line;
  for (std::uint32_t line = 0; line < lines_.size(); ++line)
    if (!lines_[line].has_stream && clock.of(line) >= lines_[line].last) return line;
  Line& line = lines_.emplace_back();
  line.id = {.handle = &lines_, .device = lines_[whole.line].id.device, .thread = 0};
  return static_cast<std::uint32_t>(lines_.size() - 1);
}

std::shared_ptr<Operation> StreamOrder::begin_part(const Operation& whole, const Parts& after) {
  auto operation = std::make_shared<Operation>(whole);
  OrderClock& clock = operation->before;
  clock.learn(whole.line, whole.number);
  for (const auto& part : after) {
    clock.join(part->before);
    clock.learn(part->line, part->number);
  }
  operation->graph = whole.number;
  operation->line = line_behind(whole, after, clock);
  operation->number = ++number_;
  Line& line = lines_[operation->line];
  line.last = number_;
  line.clock = clock;
  line.clock.learn(operation->line, number_);
  return operation;
}

void StreamOrder::end_parts(Operation& whole, const Parts& parts) {
  for (const auto& part : parts) learn(whole, *part);
}

void StreamOrder::learn(Operation& operation, const Operation& earlier) {
  operation.before.join(earlier.before);
  operation.before.learn(earlier.line, earlier.number);
  lines_[operation.line].clock.join(operation.before);
}

OrderClock& StreamOrder::advance(const Stream& stream) {
  const std::uint32_t line = line_of(stream);
  return lines_[line].clock = point(line);
}

// Recording an event and waiting for one are work of the stream as well: in the null stream, the
// next operations of the others follow it.
void StreamOrder::record(const void* event, const Stream& stream) {
  events_[event] = advance(stream);
}

void StreamOrder::record(const void* event, const Operation& operation) {
  OrderClock& clock = events_[event] = operation.before;
  clock.learn(operation.line, operation.number);
}

void StreamOrder::stream_waits(const Stream& stream, const void* event) {
  const auto at = events_.find(event);
  if (at != events_.end()) advance(stream).join(at->second);
}

void StreamOrder::stream_waits_for_all(const Stream& stream) {
  OrderClock& clock = lines_[line_of(stream)].clock;
  for (std::uint32_t line = 0; line < lines_.size(); ++line) clock.learn(line, lines_[line].last);
}

void StreamOrder::host_waits(const Stream& stream) { host_.join(point(line_of(stream))); }

void StreamOrder::host_waits(const Operation& operation) {
  host_.join(operation.before);
  host_.learn(operation.line, operation.number);
}

void StreamOrder::host_waits_for_event(const void* event) {
  const auto at = events_.find(event);
  if (at != events_.end()) host_.join(at->second);
}

void StreamOrder::host_waits_for_device(unsigned device) {
  for (std::uint32_t line = 0; line < lines_.size(); ++line)
    if (lines_[line].id.device == device) {
      host_.join(lines_[line].clock);
      host_.learn(line, lines_[line].last);
    }
}

void StreamOrder::host_waits_for_all() {
  for (std::uint32_t line = 0; line < lines_.size(); ++line) host_.learn(line, lines_[line].last);
}

}  // namespace margay::check
