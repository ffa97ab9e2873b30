// Names, places and numbers as people read them, for all reports.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/names.h"
#include "code_object/code_object.h"

namespace margay::report {

struct TextOptions {
  bool colour = false;
  std::string directory = {};  ///< Files below it are shown relative to it. Empty: all in full.
  bool full = false;           ///< Nothing is folded.
};

/// For one of the process's streams: its current directory, and colour where the stream is a
/// terminal and neither NO_COLOR nor TERM=dumb speaks against it.
[[nodiscard]] TextOptions text_options(int file_descriptor);
[[nodiscard]] TextOptions stderr_text_options();

// Colours that are readable on dark and on light ground.
inline constexpr std::string_view kRed = "\x1b[31m";
inline constexpr std::string_view kYellow = "\x1b[33m";
inline constexpr std::string_view kBold = "\x1b[1m";
inline constexpr std::string_view kFaint = "\x1b[2m";
inline constexpr std::string_view kPlain = "\x1b[0m";
[[nodiscard]] std::string painted(std::string_view text, std::string_view colour,
                                  const TextOptions& options);

using margay::short_function;
/// Whether `wanted` is a part of the demangled `name`, in full or as reports print it.
[[nodiscard]] bool is_in_name(std::string_view wanted, std::string_view name);

/// "gemm.cpp:71 in load": files below `directory` relative to it. Empty when there is no line.
[[nodiscard]] std::string place_of(const SourceFrame& frame, std::string_view directory);

/// The same with the file's name alone where it is not below `directory`; with `full` as it is.
[[nodiscard]] std::string short_place_of(const SourceFrame& frame, const TextOptions& options);

/// What a kernel computes (Kernel::computes): "jit(f)/div at model.py:6; also model.py:4, 5 more";
/// with `full` all operations.
[[nodiscard]] std::string operations_text(std::span<const SourceFrame> operations,
                                          const TextOptions& options);

/// "1 error", "2 errors": `plural` where it is not the word and an s.
[[nodiscard]] std::string counted(std::uint64_t number, std::string_view word,
                                  std::string_view plural = {});

/// "1.50 GB", "25.2 MB", "512 bytes": powers of ten, three digits.
[[nodiscard]] std::string bytes_text(double bytes);
/// "1.50 G", "25.2 M", "512": three digits.
[[nodiscard]] std::string quantity_text(double number);
/// "8.40 us", "1.25 ms".
[[nodiscard]] std::string seconds_text(double seconds);

}  // namespace margay::report
