"""``microagg keygen``: a key to sign releases with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from microagg.cli.terminal import explains_errors, print_json, say

__all__ = ["keygen"]


@explains_errors
def keygen(
    name: Annotated[Path, typer.Argument(help="The files are called NAME.pem and NAME.pub.pem.")],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the names of the files and the fingerprint as JSON.")
    ] = False,
) -> None:
    """Make a private key to sign releases with, and the public key that readers check them with."""
    from microagg.releases.folder.places import refuse_place
    from microagg.releases.folder.signing import fingerprint_of, write_key_pair

    refuse_place(name, what="key")
    secret, public = write_key_pair(name)
    say(f"Wrote {secret}: keep it, and show it to nobody. Sign with: microagg release ... --sign {secret}")
    say(f"Wrote {public}: give it to your readers by another way than the release, for --signed-by {public}")
    if as_json:
        print_json({"private": str(secret), "public": str(public), "fingerprint": fingerprint_of(public)})
    else:
        typer.echo(fingerprint_of(public))
