"""Take the picture of the report for the README. Run with: make docs-pictures (needs Chromium)."""

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from PIL.PngImagePlugin import PngInfo
from playwright.sync_api import sync_playwright

PICTURE = Path(__file__).parent / "pictures" / "report.png"


def main() -> None:
    """Make the report of the demo and photograph its first screen."""
    with TemporaryDirectory() as folder, sync_playwright() as engine:
        report = Path(folder) / "report.html"
        command = [sys.executable, "-m", "edfkmeans", "demo", "--report", str(report), "--quiet"]
        subprocess.run(command, check=True)
        browser = engine.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1100, "height": 1570})
        page.goto(report.as_uri())
        page.wait_for_selector("#profiles tbody tr")
        page.screenshot(path=PICTURE)
        answer = page.locator(".answer").inner_text()
        browser.close()
    # The answer is kept in the file too: a test holds it to what the library says now.
    told = PngInfo()
    told.add_text("Title", answer)
    with Image.open(PICTURE) as picture:
        picture.save(PICTURE, pnginfo=told, optimize=True)


if __name__ == "__main__":
    main()
