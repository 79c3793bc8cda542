"""Windows and macOS: what is not there may not be used, or only where it is said so.

The tests run on Linux alone here. These read the sources for what is known to break elsewhere:
a list, not a proof.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import edfkmeans

ROOT = Path(__file__).parents[1]
# What breaks, and where.
ASSUMPTIONS = {
    r"\bos\.(fork|forkpty|killpg|setsid|getuid|geteuid|getpgid|uname|mkfifo|nice)\b": "Windows",
    r"\bos\.kill\(": "Windows, where it ends a process whatever the signal",
    r"\bos\.sched_\w+": "Windows and macOS",
    # In quotation marks it is a name that is looked for, and may not be there.
    r"(?<!['\"])\bSIG(KILL|ALRM|HUP|QUIT|USR1|USR2|PIPE|CHLD|XCPU|STOP|CONT)\b": "Windows",
    r"\bsignal\.(alarm|setitimer|pause|pthread_kill|sigwait|siginterrupt)\b": "Windows",
    r"\bpreexec_fn\b|\bstart_new_session\b|\bprocess_group=": "Windows",
    r"get_context\(.fork.\)|set_start_method\(.fork.": "Windows, and macOS with threads",
    r"^\s*(import|from) (fcntl|grp|posix|pty|pwd|resource|termios|tty)\b": "Windows",
    r"[\"'](/tmp|/proc|/dev|/etc|/usr|/bin|/home|/var)\b": "Windows, and /proc on macOS",
    r"\.symlink_to\(|\bos\.symlink\(": "Windows, without a developer's rights",
    r"strftime\([^)]*%-": "Windows",
    r"shell=True|\[\"(sh|bash)\"": "Windows, whose shell is another one",
    r"[\"'][^\"']*\.venv/bin|/bin/python": "Windows, where it is Scripts",
}
# Marks of tests that are left out where the system lacks something: tests/conftest.py.
MARKED = re.compile(r"posix_only|linux_only|skipif\(.fork. not in")
# What runs on Linux, and in part on macOS, as docs/release.md says: no part of the package.
NOT_HELD = {"experiments", "benchmarks", "robustness"}


def uses(text):
    """Every line with an assumption, and what breaks."""
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, where in ASSUMPTIONS.items():
            if re.search(pattern, line):
                yield number, line.strip(), where


def test_a_name_that_may_not_be_there_is_no_assumption():
    assert not list(uses('hasattr(signal, "SIGHUP")'))


def sources(*folders):
    for folder in folders:
        yield from sorted((ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize(
    "line",
    [
        "os.fork()", "signal.signal(signal.SIGALRM, f)", "signal.setitimer(0, 1)",
        "import resource", "    from fcntl import flock", 'open("/tmp/x")', "os.kill(pid, 2)",
        'Path("/proc/self/status")', "Popen(c, preexec_fn=f)", "os.sched_getaffinity(0)",
        "link.symlink_to(file)", 'run(["bash", "-c", x])', 'run(".venv/bin/ruff")',
        'get_context("fork")', 'now.strftime("%-d")', "run(x, shell=True)",
    ],
)  # fmt: skip
def test_the_list_sees(line):
    assert list(uses(line))


def test_the_package_assumes_nothing_of_the_system():
    found = [
        (str(file.relative_to(ROOT)), *use)
        for file in (*sources("src", "release", "docs"), ROOT / "tasks.py")
        for use in uses(file.read_text(encoding="utf-8"))
    ]
    assert not found


def test_tests_that_assume_something_say_so():
    unmarked = []
    for file in sources("tests"):
        if file == Path(__file__):
            continue
        text = file.read_text(encoding="utf-8")
        tree = ast.parse(text)
        marked = "pytestmark = posix_only" in text
        for number, line, where in uses(text):
            if not marked and not _allowed(tree, number):
                unmarked.append((str(file.relative_to(ROOT)), number, line, where))
    assert not unmarked


def _allowed(tree, number):
    """Whether a line is in a test with a mark, or in what none but such tests use."""
    for node in tree.body:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        if not first <= number <= node.end_lineno:
            continue
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            return _marked(node)
        name = node.targets[0].id if isinstance(node, ast.Assign) else getattr(node, "name", None)
        users = [
            other
            for other in tree.body
            if isinstance(other, ast.FunctionDef) and other is not node
            and any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(other))
        ]  # fmt: skip
        return bool(users) and all(map(_marked, users))
    return False


def _marked(function):
    return any(MARKED.search(ast.unparse(mark)) for mark in function.decorator_list)


def without_encoding(text):
    """Lines that read or write text in whatever encoding the system prefers."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call) or any(k.arg == "encoding" for k in node.keywords):
            continue
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("read_text", "write_text"):
            if len(node.args) < (1 if node.func.attr == "read_text" else 2):
                yield node.lineno
        elif isinstance(node.func, ast.Name) and node.func.id == "open":
            modes = [a.value for a in node.args[1:2] if isinstance(a, ast.Constant)]
            if not any("b" in mode for mode in modes):
                yield node.lineno


def test_text_names_its_encoding():
    assert list(without_encoding("p.read_text()\np.write_text(x)\nopen(f)")) == [1, 2, 3]
    assert not list(without_encoding('p.read_text("utf-8")\nopen(f, "rb")\nopen(f, encoding=x)'))
    found = [
        (str(file.relative_to(ROOT)), line)
        for file in (*sources("src", "release", "docs", "tests"), ROOT / "tasks.py")
        for line in without_encoding(file.read_text(encoding="utf-8"))
    ]
    assert not found


def test_every_folder_of_python_is_held_or_named():
    folders = {file.relative_to(ROOT).parts[0] for file in ROOT.glob("*/**/*.py")}
    held = {"src", "release", "docs", "tests"}
    assert {f for f in folders if not f.startswith((".", "build", "dist"))} == held | NOT_HELD
    page = (ROOT / "docs" / "release.md").read_text(encoding="utf-8")
    for name in NOT_HELD:
        assert f"`{name}/`" in page


def test_the_command_works_where_the_default_encoding_is_not_utf8(tmp_path):
    """As on Windows: a table in UTF-8, and EncodingWarning where the default would be used."""
    (tmp_path / "tablé.csv").write_text("größe,é\n1,2\n1,3\n9,8\n9,9\n", encoding="utf-8")
    done = subprocess.run(
        [
            sys.executable, "-X", "warn_default_encoding", "-W", "error::EncodingWarning:edfkmeans",
            "-m", "edfkmeans", "select", "tablé.csv", "--method", "paper", "--k-max", "2",
            "--json", "j.json", "--labels", "l.csv", "--report", "r.html",
        ],
        cwd=tmp_path, capture_output=True, text=True, encoding="utf-8",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    ours = [line for line in done.stderr.splitlines() if "EncodingWarning" in line]
    here = str(Path(edfkmeans.__file__).parent)
    assert not [line for line in ours if here in line]
