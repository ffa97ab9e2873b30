// See json.h. The field names are part of the tool's interface: add, never rename.
#include "apps/asm/json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apps/asm/names.h"

namespace margay::assembly {
namespace {

using Json = nlohmann::ordered_json;

Json resources_json(const KernelResources& r) {
  return {
      {"vgprs", r.vgprs},
      {"agprs", r.agprs},
      {"allocated_vgprs", r.allocated_vgprs},
      {"sgprs", r.sgprs},
      {"lds_bytes", r.lds_bytes},
      {"scratch_bytes_per_lane", r.scratch_bytes},
      {"dynamic_stack", r.dynamic_stack},
      {"vgpr_spills", r.vgpr_spills},
      {"sgpr_spills", r.sgpr_spills},
      {"code_bytes", r.code_bytes},
      {"max_workgroup_size", r.max_workgroup_size},
  };
}

Json occupancy_json(const KernelResources& r) {
  Json limits = Json::array();
  for (const OccupancyLimit limit : r.limits) limits.push_back(name_of(limit));
  return {
      {"workgroup_size", r.max_workgroup_size},
      {"waves_per_simd_by_registers", r.occupancy.waves_per_simd},
      {"workgroups_per_cu", r.occupancy.workgroups_per_cu},
      {"waves_per_cu", r.occupancy.waves_per_cu},
      {"limits", std::move(limits)},
  };
}

Json arguments_json(const Kernel& kernel) {
  Json arguments = Json::array();
  for (const KernelArgument& argument : kernel.arguments) {
    arguments.push_back({{"name", argument.name},
                         {"type", argument.type_name},
                         {"kind", argument.kind_text},
                         {"offset", argument.offset_bytes},
                         {"size", argument.size_bytes}});
  }
  return arguments;
}

Json instructions_json(const Listing& listing) {
  Json instructions = Json::array();
  for (const ListedInstruction& line : listing.instructions) {
    Json one = {{"pc", line.vaddr},
                {"text", line.text},
                {"mnemonic", line.mnemonic},
                {"class", name_of(line.kind)},
                {"dwords", line.dwords}};
    if (line.label != kNoLabel) one["label"] = fmt::format("L{}", line.label);
    if (line.has_target) one["target"] = line.target;
    Json frames = Json::array();
    for (const SourceFrame& frame : line.frames) {
      frames.push_back({{"function", frame.function},
                        {"file", frame.file},
                        {"line", frame.line},
                        {"column", frame.column}});
    }
    one["source"] = std::move(frames);
    instructions.push_back(std::move(one));
  }
  return instructions;
}

}  // namespace

std::string json_text(const std::string& file, std::span<const KernelReport> kernels) {
  Json document = {{"file", file}, {"kernels", Json::array()}};
  for (const KernelReport& report : kernels) {
    const Kernel& kernel = *report.place.kernel;
    const KernelResources resources = resources_of(*report.place.object, kernel);
    Json one = {
        {"name", split_function_name(kernel.name).signature},
        {"symbol", kernel.name},
        {"target", report.place.object->target()},
        {"code_object_version", report.place.object->version()},
        {"entry", kernel.entry_vaddr},
        {"resources", resources_json(resources)},
        {"occupancy", occupancy_json(resources)},
        {"arguments_bytes", kernel.kernarg_bytes},
        {"arguments", arguments_json(kernel)},
    };
    if (report.listing != nullptr) one["instructions"] = instructions_json(*report.listing);
    document["kernels"].push_back(std::move(one));
  }
  // Names come from the file and need not be UTF-8.
  return document.dump(1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
}

}  // namespace margay::assembly
