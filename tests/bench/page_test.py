"""bench/page.py with benchmarks made for the purpose."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))

import page  # noqa: E402


def made_up():
    ratio = {"ratio": 12.34, "ratio_min": 9.876, "ratio_max": 123.4}
    job = {**ratio, "wall_s": 10.04, "reference_wall_s": 2.9, "reference_dtype": "bf16", "ns_per_mfma": 150.2, "time_shares": {"MFMA": 0.92, "LDS": 0.05},
           "wave_instructions": 243777536, "mfma_instructions": 134217728}
    return {"host": {"cores": 2, "features": "AVX2, AVX-512", "caches": "L1 32K, L2 1024K"}, "load": 0.04,
            "executor": dict.fromkeys(page.EXECUTOR.values(), 144e6),
            "matrix": {f"{shape}/{mode}/{form}": 65.4 for shape in page.MATRIX for mode in page.MODES
                       for form in ("single", "group")},
            "watching": {(watch, mode): {**ratio, "plain_s": 0.02, "watched_s": 0.17}
                         for watch in page.watch_cost.WATCH for mode in page.MODES},
            "production": dict.fromkeys(page.MODES, {"ships": 70.1, "registers": 101.8, "direct": 85.5}),
            "start": {"tool_ms": 3.2, "first_ms": 9.1, "later_us": 4.5},
            "main_job": dict.fromkeys(page.MODES, job)}


class Form(unittest.TestCase):
    def test_the_page_is_as_the_script_writes_it(self):
        text = (ROOT / "docs" / "performance.md").read_text()
        self.assertTrue(page.has_form(text), "docs/performance.md: run bench/page.py on a quiet machine")

    def test_any_figures_will_do(self):
        text = page.render(made_up())
        self.assertIn("| `fma` | 10.0 s | 2.90 s in bf16 | 12.3 (9.88 to 123) | 150 | MFMA 92 %, LDS 5 % |", text)
        self.assertIn("243 777 536 wave instructions", text)
        self.assertIn("| `v_fma_f32` | 144 M |", text)
        self.assertIn("| `exact` | 70.1 | 102 | 85.5 |", text)
        self.assertTrue(page.has_form(text))

    def test_another_form_is_noticed(self):
        text = page.render(made_up())
        lines = text.splitlines(keepends=True)
        row = next(number for number, line in enumerate(lines) if line.startswith("| `v_add_u32`"))
        for what, other in (("a row is missing", lines[:row] + lines[row + 1:]),
                            ("a row is there twice", lines[:row] + lines[row:row + 1] + lines[row:]),
                            ("a figure is missing", [line.replace("144 M", " M") for line in lines]),
                            ("words differ", [line.replace("one core", "two cores") for line in lines]),
                            ("more follows", [*lines, "\n"])):
            with self.subTest(what):
                self.assertFalse(page.has_form("".join(other)))


class Failures(unittest.TestCase):
    """A benchmark that does not do its work must not pass for one that did."""

    def smoke(self, exec_bench):
        """What --smoke returns and says, where exec_bench is this script. The other benchmarks are missing."""
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "bench" / "exec_bench"
            program.parent.mkdir()
            if exec_bench is not None:
                program.write_text("#!/bin/sh\n" + exec_bench)
                program.chmod(0o755)
            said = io.StringIO()
            sys.argv = ["page.py", "--smoke", "--build", folder]
            with contextlib.redirect_stderr(said):
                code = page.main()
            return code, said.getvalue()

    @staticmethod
    def rows(names, extra=""):
        rows = ",".join(f'{{"run_name": "run/{name}", "run_type": "iteration", "items_per_second": 1e8{extra}}}'
                        for name in names)
        return f"""echo '{{"benchmarks": [{rows}]}}'"""

    def test_that_is_missing(self):
        code, said = self.smoke(None)
        self.assertEqual(code, 1)
        self.assertIn("--target benchmarks", said)

    def test_that_fails(self):
        code, said = self.smoke("echo no such kernel >&2; exit 3")
        self.assertEqual(code, 1)
        self.assertIn("exec_bench", said)
        self.assertIn("exit code 3", said)
        self.assertIn("no such kernel", said)

    def test_that_skips_a_case(self):
        code, said = self.smoke(self.rows(page.EXECUTOR.values(), ', "error_occurred": true'))
        self.assertEqual(code, 1)
        self.assertIn("run/valu_fma_f32 did not run", said)

    def test_that_lacks_a_case(self):
        code, said = self.smoke(self.rows(list(page.EXECUTOR.values())[:-1]))
        self.assertEqual(code, 1)
        self.assertIn("run/global_load_x4 did not run", said)

    def test_that_says_something_else(self):
        code, said = self.smoke("echo Failed to match any benchmarks")
        self.assertEqual(code, 1)
        self.assertIn("exec_bench: Failed to match", said)

    def test_the_next_one_is_noticed_too(self):
        code, said = self.smoke(self.rows(page.EXECUTOR.values()))
        self.assertEqual(code, 1)
        self.assertIn("mfma_bench is missing", said)


if __name__ == "__main__":
    unittest.main()
