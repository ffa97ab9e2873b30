"""A kernel's profile as one readable screen, and the words of its error messages."""

import difflib

from margay.checker import short_function

_LINES = 6  # of source, at most
_TENSORS = 8
_ADVICE = 3


def title(kernel):
    """The kernel's short name and its launch size."""
    return f"{short_function(kernel.name)}, {size(kernel)}"


def size(kernel):
    """The launch size."""
    return f"grid {_product(kernel.grid)}, workgroup {_product(kernel.workgroup)}"


def kernel_text(kernel):
    """The screen."""
    count = f"{kernel.launches} launch" + ("es" if kernel.launches != 1 else "")
    failed = f", {kernel.failed_launches} of them failed" if kernel.failed_launches else ""
    rows = [
        f"{title(kernel)}, {count}{failed}",
        *_section("time", _indented(kernel.time)),
        *_section("limit", _indented(kernel.limit)),
        *_section("resources", _resources(kernel.resources)),
        *_section("instructions", _instructions(kernel)),
        *_section("LDS", _lds(kernel)),
        *_section("vector memory", _vector_memory(kernel)),
        *_section("L2 and memory", _memory(kernel)),
    ]
    if kernel.tensors:
        rows += _tensors(kernel.tensors)
    rows += _lines(kernel)
    for advice in kernel.advice[:_ADVICE]:
        rows += _section("advice", _indented(advice))
    return "\n".join(rows)


def nearest(name, known):
    """The known names nearest in spelling, for "did you mean"."""
    folded = {each.lower(): each for each in known}
    close = difflib.get_close_matches(name.lower(), folded, n=3, cutoff=0.3) or sorted(folded)[:3]
    names = [folded[each] for each in close]
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def amount(number):
    """Bytes, in the unit that suits."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if number < 1024 or unit == "GiB":
            return f"{number:,.0f} {unit}" if unit == "bytes" else f"{number:.1f} {unit}"
        number /= 1024
    raise AssertionError("unreachable")


def _counted(number, word):
    return f"{number:,} {word}" + ("s" if number != 1 else "")


def _product(extent):
    numbers = list(extent)
    while len(numbers) > 1 and numbers[-1] == 1:
        numbers.pop()
    return " x ".join(map(str, numbers))


def _section(name, text):
    return [f"  {name:<15}{text}"] if text else []


def _indented(lines):
    return str(lines).replace("\n", "\n" + 17 * " ") if lines else ""


def _number(value, form=",.0f", unit=""):
    return "-" if value is None else f"{value:{form}}{unit}"


def _resources(r):
    lds = r.static_lds_bytes + r.dynamic_lds_bytes
    spills = r.vgpr_spills + r.sgpr_spills
    parts = [
        f"{r.vgprs} VGPRs" + (f" ({r.agprs} of them AGPRs)" if r.agprs else ""),
        f"{r.sgprs} SGPRs",
        f"{amount(lds)} of LDS",
    ]
    parts += [f"{r.scratch_bytes} bytes of scratch"] if r.scratch_bytes else []
    parts += [f"{spills} spilled registers"] if spills else []
    limit = f", limited by {r.limit}" if r.limit else ""
    return ", ".join(parts) + f"; {_counted(r.waves_per_cu, 'wave')} per CU{limit}"


def _instructions(k):
    kinds = [
        ("VALU", k.valu_instructions),
        ("MFMA", k.mfma_instructions),
        ("LDS", k.lds_instructions),
        ("vector memory", k.vmem_instructions),
        ("SALU", k.salu_instructions),
        ("scalar memory", k.smem_instructions),
    ]
    shown = ", ".join(f"{number:,.0f} {name}" for name, number in kinds if number)
    return f"{k['SQ_INSTS']:,} by {_counted(k['SQ_WAVES'], 'wave')}: {shown}"


def _lds(k):
    if not k["SQ_INSTS_LDS"]:
        return ""
    return (
        f"{k['SQ_LDS_IDX_ACTIVE']:,} cycles, of them {k['SQ_LDS_BANK_CONFLICT']:,} lost to bank "
        f"conflicts ({_number(k.lds_bank_conflicts_per_access, '.2f')} per access)"
    )


def _vector_memory(k):
    if not k["SQ_INSTS_VMEM"]:
        return ""
    return (
        f"{amount(k.requested_bytes)} asked for, coalescing {_number(k.coalescing, '.3f')}, "
        f"vL1D hit rate {_number(k.vl1d_hit_rate, '.1f', ' %')}"
    )


def _memory(k):
    return (
        f"L2 hit rate {_number(k.l2_hit_rate, '.1f', ' %')}; {amount(k.fabric_read_bytes)} read "
        f"from memory, {amount(k.fabric_write_bytes)} written to it"
    )


def _tensors(tensors):
    busiest = sorted(tensors, key=lambda t: -(t.read_bytes + t.written_bytes))[:_TENSORS]
    names = [_tensor_name(t) for t in busiest]
    width = max(32, *map(len, names))

    def row(name, cells):
        return f"{name:<{width + 4}}" + "".join(f"{cell:>13}" for cell in cells)

    rows = [row("  tensor", ["asked for", "from L2", "from memory", "written"])]
    for name, t in zip(names, busiest):
        ratios = (t.asked_for, t.fetched_from_l2, t.fetched_from_memory)
        cells = [_number(ratio, ".2f", " x") for ratio in ratios]
        cells.append(amount(t.written_bytes) if t.written_bytes else "-")
        rows.append(row(f"    {name}", cells))
    if len(tensors) > len(busiest):
        rows.append(f"    and {len(tensors) - len(busiest)} more")
    return rows


def _tensor_name(tensor):
    shape = " x ".join(map(str, tensor.shape)) if tensor.shape else ""
    if not shape and tensor.bytes:
        shape = amount(tensor.bytes)
    return " ".join(filter(None, [tensor.name, tensor.element, shape]))


def _lines(kernel):
    lines = [line for line in kernel.lines() if line.line]
    if not lines:
        return []
    total = sum(site.issue_cycles for site in kernel.sites) or 1
    rows = ["  issue cycles, by source line"]
    for line in lines[:_LINES]:
        notes = []
        if line.lds_conflict_cycles:
            notes.append(f"{line.lds_conflict_cycles:,} LDS cycles lost to bank conflicts")
        if line.memory.sector_bytes and line.memory.coalescing < 1:
            notes.append(f"coalescing {line.memory.coalescing:.3f}")
        note = f"   ({', '.join(notes)})" if notes else ""
        rows.append(f"    {100 * line.issue_cycles / total:5.1f} %  {line.place}{note}")
    if len(lines) > _LINES:
        rows.append(f"    and {len(lines) - _LINES} more lines")
    return rows
