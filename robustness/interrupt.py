"""Ctrl-C at random moments: how long until the process is gone, and what it leaves behind.

Run with: python robustness/interrupt.py [MOMENTS] [SEED]

A third of the moments each go to `edfkmeans select`, `edfkmeans compare` and the smoke profile of
experiments/reproduce.py. The signal goes to the whole group, as from a terminal, to the process
alone, or to the group twice. Each must be gone within two seconds with exit code 130, without a
traceback, a partial file or a process. Prints the figures and exits with 1 if one is not.

No moment is before FIRST: until Python has come to the first line of the command's own code, it
answers Ctrl-C itself, with a traceback, and nothing can be done about that.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
LIMIT = 2.0
CLI = (sys.executable, "-m", "edfkmeans")
OUTPUTS = ("--json", "j.json", "--plot", "p.svg")
COMMANDS = {
    "select": (*CLI, "select", "t.csv", *OUTPUTS, "--labels", "l.csv", "--report", "r.html"),
    "compare": (*CLI, "compare", "t.csv", *OUTPUTS),
    "reproduce": (
        sys.executable, str(ROOT / "experiments" / "reproduce.py"), "--profile", "smoke",
        "--rows", "rows", "--out", "out",
    ),
}  # fmt: skip
HOWS = ("group", "process", "twice")
# Seconds after which the interrupt comes. Before a tenth Python itself is not up.
FIRST, LAST = 0.3, 6.0


@dataclass
class Outcome:
    """What an interrupt at a moment led to."""

    command: str
    how: str
    moment: float
    seconds: float
    code: int
    wrong: list[str] = field(default_factory=list)
    finished: bool = False


def interrupt(name, moment, folder, how="group"):
    """Start a command in an empty folder, interrupt it at the moment and look at what is left."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 8)) + 8 * rng.integers(0, 4, size=(4000, 1))
    folder = Path(folder)
    names = ",".join(f"x{j}" for j in range(8))
    np.savetxt(folder / "t.csv", X, delimiter=",", header=names, comments="")
    process = subprocess.Popen(
        COMMANDS[name],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=listen,
    )
    try:
        process.wait(moment)
    except subprocess.TimeoutExpired:
        started = time.perf_counter()
        press(process, how)
    else:
        process.communicate()
        return Outcome(name, how, moment, 0.0, process.returncode, finished=True)
    try:
        _, errors = process.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return Outcome(name, how, moment, 30.0, -9, ["it went on"])
    outcome = Outcome(name, how, moment, time.perf_counter() - started, process.returncode)
    # All was written and said: nothing but Python's own end was left.
    outcome.finished = outcome.code == 0 and (folder / OUTPUTS[1]).exists()
    if outcome.finished:
        outcome.wrong += [f"left {file}" for file in folder.glob(".*")]
        return outcome
    if outcome.code != 130:
        outcome.wrong.append(f"exit code {outcome.code}")
    if outcome.seconds > LIMIT:
        outcome.wrong.append(f"{outcome.seconds:.1f} s")
    if "Traceback" in errors or "Interrupted" not in errors:
        outcome.wrong.append(f"said {errors[-200:]!r}")
    if group_lives(process.pid):
        outcome.wrong.append("left a process")
        os.killpg(process.pid, signal.SIGKILL)
    outcome.wrong += [f"left {file}" for file in left_behind(name, folder, errors)]
    return outcome


def press(process, how):
    """Send the interrupt."""
    if how == "process":
        process.send_signal(signal.SIGINT)
        return
    os.killpg(process.pid, signal.SIGINT)
    if how == "twice":
        time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)  # if it is gone it waits to be reaped


def listen():
    """Let the command see the interrupt even if this script is run in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def group_lives(group):
    """Tell whether any process of the group is still there."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def left_behind(name, folder, errors):
    """Name what should not be there: hidden and temporary files, outputs that are not whole."""
    found = [file.relative_to(folder) for file in folder.rglob("*") if file.is_file()]
    if name == "reproduce":  # it keeps the rows that are done
        return [file for file in found if file.name.startswith(".") or cut_off(folder / file)]
    if "the files were written" in errors:
        return [file for file in found if file.name.startswith(".")]
    return [file for file in found if file.name != "t.csv"]


def cut_off(file):
    """Tell whether a text of reproduce.py does not end as it should."""
    ends = {".csv": "\n", ".md": "\n", ".json": "]\n", ".html": "</html>\n"}
    return file.suffix in ends and not file.read_text().endswith(ends[file.suffix])


def main(moments, seed):
    """Interrupt again and again, and print the figures."""
    rng = random.Random(seed)
    outcomes = []
    for index in range(moments):
        name = list(COMMANDS)[index % len(COMMANDS)]
        with tempfile.TemporaryDirectory() as folder:
            how = HOWS[index // len(COMMANDS) % len(HOWS)]
            outcomes.append(interrupt(name, rng.uniform(FIRST, LAST), folder, how))
        one = outcomes[-1]
        end = "finished before" if one.finished else f"gone after {one.seconds:.2f} s"
        moment = f"{one.command:<10}{one.how:<8}at {one.moment:4.1f} s"
        print(f"{moment}: {end}  {'; '.join(one.wrong)}", flush=True)
    for name in COMMANDS:
        mine = [one for one in outcomes if one.command == name and not one.finished]
        if mine:
            slowest = max(one.seconds for one in mine)
            median = float(np.median([one.seconds for one in mine]))
            bad = sum(bool(one.wrong) for one in mine)
            print(
                f"{name:<10}{len(mine)} interrupts: median {median:.2f} s, slowest {slowest:.2f} s,"
                f" {bad} not clean"
            )
    return any(one.wrong for one in outcomes)


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    sys.exit(main(given[0] if given else 24, given[1] if len(given) > 1 else 0))
