"""Text files with bytes changed, lines lost or no header: each is read, or refused in words that quote no record."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from campaigns.campaign import Campaign
from campaigns.dialects import file_of, records, style_of
from microagg.errors import MicroaggError
from microagg.recipe.recipe import Recipe
from microagg.releases.input import read_table
from microagg.schema.infer import draft_recipe, guess_schema
from microagg.schema.input_section import input_lines
from microagg.schema.look import look_at
from microagg.tables.frames import Frame
from microagg.tables.text.dialect import STANDARD

TOWNS = ("canary one", "canary-two", "Canary, three", "canary")
INSERTED = (b",", b";", b'"', b"\n", b"\t", b"|", b"%", b"\r", b"unknown", b"-999", b"'", b"=", b"#", b"()", b"1.2.3")
STRANGE = (b"\xff", b"\0", b"9" * 30, b"e", b"\n\n\n", b"nan", b"inf", b"-", b"\xef\xbb\xbf", b"")
QUASI_IDENTIFIER = {"role": "quasi_identifier", "kind": "numeric"}
OTHER = Recipe(k=3, attributes={"age": QUASI_IDENTIFIER, "pay": QUASI_IDENTIFIER, "place": "confidential"})


def damaged(rng: random.Random, data: bytes) -> bytes:
    content = bytearray(data)
    for _ in range(rng.choice([0, 1, 1, 2, 10])):
        place = rng.randrange(len(content) + 1)
        kind = rng.random()
        if kind < 0.3:
            content[place : place + 1] = bytes([rng.randrange(256)])
        elif kind < 0.5:
            del content[place : place + rng.randint(1, 40)]
        elif kind < 0.9:
            content[place:place] = rng.choice([*INSERTED, *STRANGE])
        else:
            del content[place:]
    return bytes(content)


def case(number: int) -> str:
    rng = random.Random(number)
    style = style_of(rng)
    style["thousands"] = None if style["thousands"] == "\u202f" else style["thousands"]  # not all encodings have it
    style["titles"] = 0
    whole = file_of(records(rng, TOWNS), style).decode(style["encoding"])
    headless = rng.random() < 0.4
    text = whole.split(style["line"], 1)[1] if headless else whole
    words = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table{style['suffix']}"
        path.write_bytes(damaged(rng, text.encode(style["encoding"])))
        try:
            looked = look_at(path, STANDARD)
            guesses = guess_schema(Frame.wrap(looked.table), notices=looked.notices)
            lines = input_lines(looked.dialect, looked.decisions, looked.notices)
            draft = draft_recipe(guesses, table_name="table", n_records=looked.table.num_rows, input_lines=lines)
            if any(guess.role == "quasi_identifier" for guess in guesses):
                read_table(path, Recipe.loads(draft))
            outcome = "read"
        except MicroaggError as error:
            words.append(str(error))
            outcome = "refused"
        try:
            read_table(path, OTHER)
        except MicroaggError as error:
            words.append(str(error))
    assert not any("canary" in word.lower() for word in words), words
    return f"{outcome}, {'no header' if headless else 'with header'}"


CAMPAIGN = Campaign(
    name="damaged_files",
    promise="A damaged text file is read, or refused in words that quote no record.",
    case=case,
    quick=60,
    long=3000,
    seconds=30.0,
)
