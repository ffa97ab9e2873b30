#include "fields.h"

#include <charconv>

namespace margay_kernels {

Fields::Fields(std::string_view text) {
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size() + (word.size() < text.size() ? 1 : 0));
    if (word.empty()) continue;
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) {
      error_ = "expected NAME=VALUE, got " + std::string(word);
    } else {
      fields_.push_back({word.substr(0, equals), word.substr(equals + 1)});
    }
  }
}

const std::string_view* Fields::take(std::string_view name) {
  known_ += (known_.empty() ? "" : ", ") + std::string(name);
  const std::string_view* value = nullptr;
  for (Field& field : fields_) {
    if (field.name != name) continue;
    field.taken = true;
    value = &field.value;
  }
  return value;
}

void Fields::refuse(std::string_view name, std::string_view value) {
  error_ = std::string(name) + ": cannot be " + (value.empty() ? "empty" : std::string(value));
}

// std::from_chars: the decimal point does not depend on the process's locale.
template <typename Number>
bool Fields::read(std::string_view name, Number& number) {
  const std::string_view* const value = take(name);
  if (value == nullptr) return false;
  const auto [end, status] = std::from_chars(value->data(), value->data() + value->size(), number);
  if (status == std::errc{} && end == value->data() + value->size()) return true;
  refuse(name, *value);
  return false;
}

void Fields::operator()(std::string_view name, const void*& member) {
  if (std::uintptr_t address = 0; read(name, address))
    member = reinterpret_cast<const void*>(address);
}
void Fields::operator()(std::string_view name, void*& member) {
  if (std::uintptr_t address = 0; read(name, address)) member = reinterpret_cast<void*>(address);
}
void Fields::operator()(std::string_view name, std::int64_t& member) { read(name, member); }
void Fields::operator()(std::string_view name, int& member) { read(name, member); }
void Fields::operator()(std::string_view name, bool& member) {
  (*this)(name, member, Words<bool>{{"0", false}, {"1", true}});
}
void Fields::operator()(std::string_view name, float& member) {
  // By way of double, which is what callers have: rounded twice as they would.
  if (double number = 0; read(name, number)) member = static_cast<float>(number);
}

std::string Fields::error(std::string_view operation) const {
  if (!error_.empty()) return error_;
  for (const Field& field : fields_) {
    if (!field.taken)
      return std::string(operation) + " has no field " + std::string(field.name) + "; it has " +
             known_;
  }
  return {};
}

}  // namespace margay_kernels
