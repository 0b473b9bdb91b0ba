"""A report as PDF, printed by a browser that is on the machine; nothing is fetched, and no port is opened."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from microagg.errors import InputError
from microagg.releases.folder.atomic import refuse_existing, whole_file
from microagg.releases.folder.places import MANIFEST

__all__ = ["BROWSERS", "find_browser", "print_page", "refuse_pdf_place"]

BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "microsoft-edge-stable",
    "msedge",
)
"""Browsers that print a page without a window, as they are called on the search path."""

_SECONDS = 120
_QUIET = (
    *("--headless", "--disable-gpu", "--disable-extensions", "--no-first-run", "--no-default-browser-check"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic"),
    *("--host-resolver-rules=MAP * ~NOTFOUND", "--no-pdf-header-footer"),
)


def find_browser() -> Path:
    """The first browser on the search path that can print.

    Raises
    ------
    InputError
        If there is none; the message says what to do.
    """
    for name in BROWSERS:
        found = shutil.which(name)
        if found is not None:
            return Path(found)
    raise InputError(
        "no browser that prints is on this machine (Chromium, Chrome or Edge). Install one, as by 'apt install "
        "chromium', or leave out --pdf and print the page from your own browser"
    )


def refuse_pdf_place(pdf: Path, *, overwrite: bool) -> None:
    """Refuse a place where no PDF may go, before anything is written."""
    if pdf.suffix != ".pdf":
        raise InputError(f"the name of a PDF must end in .pdf, not {pdf.name!r}")
    if (pdf.absolute().parent / MANIFEST).is_file():
        raise InputError(
            "a PDF is not written into the folder of a release: a check would not know it. Choose another place: --pdf"
        )
    refuse_existing(pdf, overwrite)


def print_page(page: Path, pdf: Path, *, browser: Path, readable: bool) -> Path:
    """Print a page that is complete in itself, for its owner only unless others may read it.

    Parameters
    ----------
    page, pdf : Path
    browser : Path
        As :func:`find_browser` finds it.
    readable : bool
        Whether others may read the PDF: never one of an internal report.
    """
    pdf = pdf.absolute()
    pdf.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="microagg-pdf-") as own, whole_file(pdf) as partial:
        copy, printed = Path(own) / "report.html", Path(own) / "report.pdf"
        shutil.copyfile(page, copy)
        # The sandbox does not start for root; the page has no script, and its policy lets it load nothing.
        as_root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        command = [str(browser), *_QUIET, *as_root, f"--user-data-dir={own}/profile", f"--print-to-pdf={printed}"]
        try:
            subprocess.run([*command, copy.as_uri()], check=True, capture_output=True, timeout=_SECONDS)
        except (OSError, subprocess.SubprocessError):
            raise InputError(_failed(browser, page)) from None
        if not printed.is_file() or not printed.read_bytes().startswith(b"%PDF"):
            raise InputError(_failed(browser, page))
        shutil.copyfile(printed, partial)
        if readable:
            partial.chmod(page.stat().st_mode & 0o666)
    return pdf


def _failed(browser: Path, page: Path) -> str:
    return (
        f"{browser.name} did not print the page. {page.name!r} is written: open it in a browser and print it from there"
    )
