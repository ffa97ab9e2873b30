"""The package as the wheel has it, with Margay in its folder _home: stand-ins, so that no wheel is built.

tools/check-wheel builds the wheel and tries it whole.
"""

import shutil

import pytest
from conftest import PACKAGE


@pytest.fixture
def site(tmp_path):
    """A site-packages with the package."""
    shutil.copytree(PACKAGE / "margay", tmp_path / "site" / "margay")
    (tmp_path / "site" / "margay" / "_home").mkdir()
    return tmp_path / "site"


def test_the_library_in_the_package(python, stand_ins, site):
    (site / "margay" / "_home" / "lib").symlink_to(stand_ins / "margay" / "lib")
    script = "from margay import library; library.load(); print(library.loaded_paths()[0])"
    done = python(script, PYTHONPATH=site, PATH="/nonexistent")
    assert done.stdout.strip() == f"{site}/margay/_home/lib/libamdhip64.so", done.stderr
    # What the user names comes before it.
    done = python(script, PYTHONPATH=site, MARGAY_HOME=stand_ins / "old")
    assert done.stdout.startswith(str(stand_ins / "old")), done.stderr


def test_the_command_becomes_the_tool(python, site):
    tool = site / "margay" / "_home" / "bin" / "margay"
    tool.parent.mkdir()
    tool.write_text('#!/bin/sh\necho "$@"\nexit 7\n')
    tool.chmod(0o755)
    command = "import sys; sys.argv = ['margay', 'check', '--', 'a b']; from margay import _tool; _tool.main()"
    done = python(command, PYTHONPATH=site)
    assert (done.stdout, done.returncode) == ("check -- a b\n", 7), done.stderr

    tool.unlink()
    done = python(command, PYTHONPATH=site)
    assert done.returncode == 1 and done.stderr.startswith(f"margay: {tool} cannot be started: No such file")
    assert "pip install --force-reinstall" in done.stderr
