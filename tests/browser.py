"""Pages in a browser: what a script finds in one, and how many sheets it prints on. Nothing is fetched."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from microagg.errors import InputError
from microagg.releases.folder.pdf import find_browser, print_page
from optional_packages import need

QUIET = ("--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
QUIET = (*QUIET, "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND")
DARK = "--blink-settings=preferredColorScheme=0"
FOUND = re.compile(r'<pre id="found-by-test">(.*?)</pre>', re.DOTALL)


def browser() -> Path:
    """The browser of this machine, or skip the test."""
    try:
        return find_browser()
    except InputError:
        pytest.skip("needs Chromium")


def found_in(page: Path, script: str, *options: str, size: tuple[int, int] = (1366, 768)) -> Any:
    """What a script, whose value may be a promise, finds in a copy of a page without its policy against scripts."""
    text = page.read_text(encoding="utf-8")
    policy = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
    assert len(policy.findall(text)) == 1
    told = (
        f"Promise.resolve((() => {{{script}}})()).then(found => {{ const told = document.createElement('pre');"
        "told.id = 'found-by-test'; told.textContent = JSON.stringify(found); document.body.appendChild(told); })"
    )
    copy = page.with_name(f"{page.stem}-with-script.html")
    copy.write_text(policy.sub("", text) + f"<script>{told}</script>", encoding="utf-8")
    as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
    command = [str(browser()), *QUIET, *as_root, *options, f"--user-data-dir={page.parent / 'profile'}"]
    command += [f"--window-size={size[0]},{size[1]}", "--virtual-time-budget=20000", "--dump-dom", copy.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return json.loads(html.unescape(FOUND.findall(done.stdout)[-1]))


def axe_violations(page: Path, *options: str) -> list[str]:
    """What axe finds wrong with a page, by rule and place."""
    need("axe_playwright_python")
    rules = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    told = "r.violations.flatMap(one => one.nodes.map(node => one.id + ': ' + node.html.slice(0, 200)))"
    return list(found_in(page, f"{rules}; return axe.run().then(r => {told});", *options))


def n_sheets(page: Path) -> int:
    """On how many sheets of paper a page prints."""
    printed = print_page(page, page.with_suffix(".pdf"), browser=browser(), readable=False)
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", printed.read_bytes()))
