// A pass that clang loads when `margay hipcc` compiles for the device: of full debug information it
// leaves line tables, and the names and types of kernel parameters.
//
// Reports call a tensor by its name, which needs types, hence -g. But -g also describes where each
// variable lives, by pseudo instructions in the code. With them clang 19's scheduler makes other
// code than without and sometimes dies ("double free" in the machine scheduler). They are
// taken out before anything is optimised, so that the code is that of -gline-tables-only.
#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DebugProgramInstruction.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/TargetParser/Triple.h>

namespace {

using namespace llvm;

/// Operands of a DISubprogram that line tables do without; LLVM has no setters for them.
/// Source: LLVM 19, llvm/IR/DebugInfoMetadata.h, the accessors of DISubprogram.
enum SubprogramOperand : unsigned {
  kScope = 1,
  kLinkageName = 3,
  kDeclaration = 6,
  kContainingType = 8,
  kTemplateParameters = 9
};
/// The same of a DICompositeType, whose setter refuses to make the list shorter.
constexpr unsigned kElements = 4;

using Parameters = SmallVector<Metadata*, 8>;

/// What kernels' parameters are made of, without the functions of classes.
class ParameterTypes {
 public:
  void keep(DIType* type) {
    if (type == nullptr || !seen_.insert(type).second) return;
    if (auto* derived = dyn_cast<DIDerivedType>(type)) return keep(derived->getBaseType());
    auto* composite = dyn_cast<DICompositeType>(type);
    if (composite == nullptr) return;
    keep(composite->getBaseType());
    if (composite->getTag() == dwarf::DW_TAG_array_type) return;  // its elements are bounds
    Parameters fields;
    for (DINode* element : composite->getElements())
      if (is_field(element)) fields.push_back(element);
    // A shared node may become another one when it changes; classes, which matter, have their own.
    if (composite->isDistinct())
      composite->replaceOperandWith(kElements, MDTuple::get(composite->getContext(), fields));
    for (Metadata* field : fields) keep(cast<DIDerivedType>(field));
  }

 private:
  static bool is_field(const DINode* element) {
    const auto* derived = dyn_cast_or_null<DIDerivedType>(element);
    return derived != nullptr && !derived->isStaticMember() &&
           (derived->getTag() == dwarf::DW_TAG_member ||
            derived->getTag() == dwarf::DW_TAG_inheritance);
  }

  SmallPtrSet<const DIType*, 32> seen_;
};

void collect(Parameters& into, DILocalVariable* variable, const DISubprogram* function) {
  if (variable != nullptr && variable->isParameter() && variable->getScope() == function &&
      !is_contained(into, variable))
    into.push_back(variable);
}

/// In their order; optimised builds keep a list, others only say where each is.
Parameters parameters_of(Function& function, DISubprogram* subprogram) {
  Parameters found;
  for (DINode* node : subprogram->getRetainedNodes())
    collect(found, dyn_cast<DILocalVariable>(node), subprogram);
  for (Instruction& instruction : instructions(function)) {
    for (DbgVariableRecord& record : filterDbgVars(instruction.getDbgRecordRange()))
      collect(found, record.getVariable(), subprogram);
    if (auto* said = dyn_cast<DbgVariableIntrinsic>(&instruction))
      collect(found, said->getVariable(), subprogram);
  }
  sort(found, [](Metadata* a, Metadata* b) {
    return cast<DILocalVariable>(a)->getArg() < cast<DILocalVariable>(b)->getArg();
  });
  return found;
}

void drop_places_of_variables(Function& function) {
  for (Instruction& instruction : make_early_inc_range(instructions(function))) {
    instruction.dropDbgRecords();
    if (isa<DbgVariableIntrinsic>(&instruction)) instruction.eraseFromParent();
  }
}

/// As -gline-tables-only writes it.
void reduce(DISubprogram* subprogram) {
  subprogram->replaceOperandWith(kScope, subprogram->getFile());
  for (const unsigned operand : {kLinkageName, kDeclaration, kContainingType, kTemplateParameters})
    if (subprogram->getNumOperands() > operand) subprogram->replaceOperandWith(operand, nullptr);
  LLVMContext& context = subprogram->getContext();
  subprogram->replaceType(DISubroutineType::get(context, DINode::FlagZero, 0,
                                                DITypeRefArray(MDTuple::get(context, {nullptr}))));
}

class KeepArgumentTypes : public PassInfoMixin<KeepArgumentTypes> {
 public:
  static bool isRequired() { return true; }  // at -O0 as well

  PreservedAnalyses run(Module& module, ModuleAnalysisManager&) {
    if (!Triple(module.getTargetTriple()).isAMDGPU()) return PreservedAnalyses::all();
    DebugInfoFinder finder;
    finder.processModule(module);
    ParameterTypes types;
    DenseMap<DISubprogram*, Parameters> kernels;
    for (Function& function : module) {
      DISubprogram* const subprogram = function.getSubprogram();
      if (subprogram != nullptr && function.getCallingConv() == CallingConv::AMDGPU_KERNEL)
        kernels[subprogram] = parameters_of(function, subprogram);
      drop_places_of_variables(function);
    }
    for (DISubprogram* subprogram : finder.subprograms()) {
      if (!subprogram->isDistinct()) continue;  // a declaration, which goes with its class
      reduce(subprogram);
      const Parameters& kept = kernels.lookup(subprogram);
      for (Metadata* parameter : kept) types.keep(cast<DILocalVariable>(parameter)->getType());
      subprogram->replaceRetainedNodes(DINodeArray(MDTuple::get(module.getContext(), kept)));
    }
    for (DICompileUnit* unit : finder.compile_units()) {
      unit->replaceEnumTypes(nullptr);
      unit->replaceRetainedTypes(nullptr);
      unit->replaceGlobalVariables(nullptr);
      unit->replaceImportedEntities(nullptr);
    }
    for (GlobalVariable& variable : module.globals()) variable.eraseMetadata(LLVMContext::MD_dbg);
    return PreservedAnalyses::all();
  }
};

}  // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {
      LLVM_PLUGIN_API_VERSION, "margay-argument-types", "1", [](PassBuilder& builder) {
        builder.registerPipelineStartEPCallback([](ModulePassManager& passes, OptimizationLevel) {
          passes.addPass(KeepArgumentTypes());
        });
      }};
}
