"""What margay.jax reads in XLA's text of a module. JAX is not needed."""

import importlib.util
import pathlib
import sys

# The package itself would load JAX.
_FILE = pathlib.Path(__file__).resolve().parents[2] / "python" / "margay" / "jax" / "hlo.py"
_SPEC = importlib.util.spec_from_file_location("margay_jax_hlo", _FILE)
hlo = importlib.util.module_from_spec(_SPEC)
sys.modules["margay_jax_hlo"] = hlo
_SPEC.loader.exec_module(hlo)

TEXT = r"""HloModule jit_f, is_scheduled=true, entry_computation_layout={(f32[8,4]{1,0})->f32[8,4]{1,0}}

FileNames
1 "/src/model.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=8 end_column=23}
2 {file_name_id=1 function_name_id=1 line=5 end_line=5 column=8 end_column=23}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=1}


%fused (p.0: f32[8,4], p.1: bf16[4]) -> (f32[8,4], f32[]) {
  %p.0 = f32[8,4]{0,1} parameter(0)
  %p.1 = bf16[4]{0} parameter(1)
  %mul = f32[8,4]{0,1} multiply(%p.0, %p.0), metadata={op_name="jit(f)/mul" stack_frame_id=1}
  %sum = f32[] constant(0)
  ROOT %both = (f32[8,4]{0,1}, f32[]) tuple(%mul, %sum)
}

%compare (a: f32[], b: f32[]) -> pred[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %lt = pred[] compare(%a, %b), direction=LT
}

%sorted (p: f32[32]) -> f32[32] {
  %p = f32[32]{0} parameter(0)
  ROOT %sort.4.1 = f32[32]{0} sort(%p), dimensions={0}, to_apply=%compare
}

%body (carry: (s32[], f32[8,4])) -> (s32[], f32[8,4]) {
  %carry = (s32[], /*index=1*/f32[8,4]{1,0}) parameter(0)
  %item = f32[8,4]{1,0} get-tuple-element(%carry), index=1
  ROOT %wrapped-add = f32[8,4]{1,0} add(%item, %item), metadata={op_name="jit(f)/while/body/add" source_file="/src/other.py" source_line=9}
}

ENTRY %main.7 (x.1: f32[8,4], Arg_1.2: bf16[4]) -> f32[8,4] {
  %x.1 = f32[8,4]{0,1} parameter(0), metadata={op_name="state[\'w\']"}
  %Arg_1.2 = bf16[4]{0} parameter(1)
  %cast = f32[8,4]{0,1} bitcast(%x.1)
  %loop_fusion.1 = (f32[8,4]{0,1}, f32[]) fusion(%x.1, %cast, %Arg_1.2), kind=kLoop, calls=%fused, metadata={op_name="jit(f)/add;jit(f)/more" stack_frame_id=2}
  %flat = f32[32]{0} bitcast(%x.1)
  %fusion.9 = f32[32]{0} fusion(%flat), kind=kCustom, calls=%sorted
  ROOT %copy = f32[8,4]{1,0} copy(%x.1)
}
"""


def kernels():
    return {name: kernel for kernel in hlo.Module(TEXT).kernels() for name in kernel.names}


def test_which_instructions_are_kernels():
    assert hlo.Module(TEXT).name == "jit_f"
    assert set(kernels()) == {"loop_fusion_1", "both", "fusion_9", "sort_4_1", "copy", "wrapped_add"}


def test_operations_with_their_lines():
    computes = kernels()["loop_fusion_1"].computes
    assert computes == (hlo.Operation("jit(f)/add", "/src/model.py", 5), hlo.Operation("jit(f)/mul", "/src/model.py", 3))
    assert kernels()["wrapped_add"].computes == (hlo.Operation("jit(f)/while/body/add", "/src/other.py", 9),)
    assert not kernels()["copy"].computes


def test_buffers_in_the_order_of_arguments():
    kernel = kernels()["loop_fusion_1"]
    # An operand and its bitcast are one pointer; {0,1} is by columns.
    assert kernel.inputs == 2
    assert kernel.buffers == (
        hlo.Buffer("state['w']", "f32", 4, (1, 1, 4, 8)),
        hlo.Buffer("argument 1", "bf16", 2, (1, 1, 1, 4)),
        hlo.Buffer("loop_fusion.1.0", "f32", 4, (1, 1, 4, 8)),
        hlo.Buffer("loop_fusion.1.1", "f32", 4, (1, 1, 1, 1)),
    )
    assert [buffer.name for buffer in kernels()["copy"].buffers] == ["state['w']", "result"]


def test_a_sort_works_on_its_outputs():
    assert kernels()["sort_4_1"].inputs == 0
    assert [buffer.name for buffer in kernels()["sort_4_1"].buffers] == ["fusion.9"]


def test_what_is_not_understood_is_left_out():
    assert not list(hlo.Module("").kernels())
    assert not list(hlo.Module("HloModule x\n\nENTRY %m () -> f32[] {\n  nonsense (\n  %y = \n}\n").kernels())
    odd = TEXT.replace("f32[32]{0} fusion(%flat)", "s4[32]{0:E(4)} fusion(%flat)")
    kernel = next(k for k in hlo.Module(odd).kernels() if "fusion_9" in k.names)
    assert kernel.buffers[0].element_bytes == 0
