"""What the studio takes: from its start to a page, from a file to a frontier that one sees, and the end of a job.

Run with ``make bench`` or ``python benchmarks/studio.py [--quick]``. A studio is started as a user starts it, and asked
over HTTP for what its pages show, as a browser asks. Seconds are of the clock, on whatever else the machine does
meanwhile. Bars: a first page of 150 kB with all that it loads, the server up in 3 s, a CSV of 100,000 x 10 to a
frontier of ten points in 30 s on 2 cores, a Parquet file of 1,000,000 x 6 open in 5 s, a job ended in 2 s in the middle
of a kernel.
"""

from __future__ import annotations

import argparse
import http.client
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet


class Studio:
    """A studio in a process of its own, and what a browser would ask it."""

    def __init__(self, state: Path, *arguments: str) -> None:
        self.started = time.perf_counter()
        environment = {**os.environ, "MICROAGG_STUDIO_STATE": str(state)}
        words = [sys.executable, "-m", "microagg", "studio", "--no-browser", *arguments]
        self.process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=environment)
        assert self.process.stderr is not None
        address = next(found[0] for line in self.process.stderr if (found := re.search(r"http://\S+", line)))
        self.origin, _, entrance = address.partition("/enter")
        self.cookie = ""
        status, headers, _ = self.ask("GET", f"/enter{entrance}")
        assert status == 303
        self.cookie = headers["set-cookie"].partition(";")[0]
        self.ask("GET", "/table")
        self.up = time.perf_counter() - self.started

    def ask(self, method: str, path: str, fields: dict | None = None) -> tuple[int, dict[str, str], str]:
        connection = http.client.HTTPConnection(self.origin.removeprefix("http://"))
        headers = {"cookie": self.cookie, "origin": self.origin, "content-type": "application/x-www-form-urlencoded"}
        connection.request(method, path, urlencode(fields or {}, doseq=True).encode(), headers)
        answer = connection.getresponse()
        return answer.status, {key.lower(): value for key, value in answer.getheaders()}, answer.read().decode()

    def wait_until(self, path: str, words: str) -> float:
        """Seconds since the start until a page says so."""
        while not re.search(words, page := self.ask("GET", path)[2]):
            assert "failed:" not in page, re.findall("failed:[^<]*", page)
            time.sleep(0.05)
        return time.perf_counter() - self.started

    def end(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.communicate()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the records")
    tenth = 10 if parser.parse_args().quick else 1
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        _first_page(here)
        _frontier(here, rng, 100_000 // tenth)
        _parquet_and_cancel(here, rng, 1_000_000 // tenth)


def _first_page(here: Path) -> None:
    studio = Studio(here / "state")
    page = studio.ask("GET", "/table")[2]
    loaded = [studio.ask("GET", path)[2] for path in re.findall(r'(?:src|href)="(/static/[^"]+)"', page)]
    size = sum(len(one.encode()) for one in (page, *loaded))
    print(f"first page {size / 1000:6.0f} kB with all it loads (bar 150), server up in {studio.up:.1f} s (bar 3)")
    studio.end()


def _frontier(here: Path, rng: np.random.Generator, n: int) -> None:
    columns = {f"x{i}": np.round(rng.lognormal(3, 1, n), 2) for i in range(6)}
    columns |= {f"c{i}": rng.choice([f"a{j}" for j in range(8)], n) for i in range(3)} | {"pay": rng.normal(size=n)}
    csv.write_csv(pa.table(columns), here / "data.csv")
    lines = [f'[attributes.{name}]\nrole = "quasi_identifier"\nkind = "numeric"' for name in columns if name[0] == "x"]
    lines += [f'[attributes.{name}]\nrole = "quasi_identifier"\nkind = "nominal"' for name in columns if name[0] == "c"]
    recipe = here / "recipe.toml"
    recipe.write_text("\n".join(["k = 5", *lines, '[attributes.pay]\nrole = "confidential"\nkind = "numeric"', ""]))
    studio = Studio(here / "state", str(here / "data.csv"), "--recipe", str(recipe))
    opened = studio.wait_until("/table", "records of 10 columns")
    form = {"method": ["mdav", "pcp"], "k": "3, 5, 10, 20, 50", "repeats": "1", "sample": "2000", "back": "/frontier"}
    while studio.ask("GET", "/job")[0] == 200:  # one job at a time
        time.sleep(0.05)
    studio.ask("POST", "/frontier/measure", form)
    first = studio.wait_until("/frontier/live", 'class="point')
    done = studio.wait_until("/frontier", "10 of 10 releases")
    print(
        f"{n:,} x 10 CSV: open after {opened:.1f} s, first points after {first:.1f} s, "
        f"ten after {done:.1f} s (bar 30), on a sample of 2,000"
    )
    studio.end()


def _parquet_and_cancel(here: Path, rng: np.random.Generator, n: int) -> None:
    parquet.write_table(pa.table({f"x{i}": rng.normal(size=n) for i in range(6)}), here / "data.parquet")
    studio = Studio(here / "state", str(here / "data.parquet"))
    opened = studio.wait_until("/table", "records of 6 columns")
    print(f"{n:,} x 6 Parquet: open {opened:.1f} s after the start of the studio (bar 5)")
    while studio.ask("GET", "/job")[0] == 200:
        time.sleep(0.05)
    studio.ask("POST", "/release/make", {"back": "/release"})
    studio.wait_until("/job", "forming cells")
    began = time.perf_counter()
    studio.ask("POST", "/job/cancel", {"back": "/release"})
    print(f"a release of it ended in the middle of a kernel within {time.perf_counter() - began:.2f} s (bar 2)")
    studio.end()


if __name__ == "__main__":
    main()
