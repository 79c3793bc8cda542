"""Ask for known vulnerabilities of every version in locks/.

Run with: python tasks.py audit    (or make audit)

Exits with 1 where one is known, and where the service gave no answer or did not know a package:
what was not looked up is not called safe.
"""

import json
import subprocess
import sys
from pathlib import Path

LOCKS = Path(__file__).resolve().parents[1] / "locks"


def main():
    """Audit the locks and tell."""
    files = [word for lock in sorted(LOCKS.glob("*.txt")) for word in ("-r", str(lock))]
    options = ("--require-hashes", "--disable-pip", "--format", "json", "--progress-spinner", "off")
    tool = Path(sys.executable).with_name("pip-audit")
    done = subprocess.run(
        [tool, *files, *options, "--timeout", "20"], capture_output=True, text=True
    )
    try:
        found = json.loads(done.stdout)["dependencies"]
    except ValueError:
        sys.exit(f"NOT AUDITED: the service gave no answer.\n{done.stderr.strip()[-600:]}")
    missed = sorted({one["name"] for one in found if "skip_reason" in one})
    known = [one for one in found if one.get("vulns")]
    for one in known:
        for each in one["vulns"]:
            fixed = ", ".join(each["fix_versions"]) or "no version yet"
            print(f"{one['name']} {one['version']}: {each['id']}, fixed in {fixed}")
    print(
        f"{len(found) - len(missed)} versions looked up, {len(known)} with known vulnerabilities."
    )
    if missed:
        print(f"NOT AUDITED, unknown to the service (a mirror?): {' '.join(missed)}")
    sys.exit(1 if known or missed else 0)


if __name__ == "__main__":
    main()
