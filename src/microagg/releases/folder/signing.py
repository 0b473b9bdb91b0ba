"""Signatures: who published a release, shown by a key that only they have.

``signature.json`` in the folder of a release signs the SHA-256 of its manifest, which holds those of all other files.
It shows that whoever has the private key published just these files. A signature cannot show whose key that is: a
reader compares the public key with one they got from the publisher on another way.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from microagg.errors import InputError
from microagg.privacy.verify import Finding
from microagg.releases.folder.json_files import read_json
from microagg.releases.folder.places import refuse_place

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = [
    "SIGNATURE",
    "check_signature",
    "fingerprint_of",
    "make_keys",
    "require_key",
    "sign_manifest",
    "write_key_pair",
]

SIGNATURE = "signature.json"
ALGORITHM = "Ed25519"
NEEDED = "signatures need the cryptography library: pip install 'microagg[sign]'"
_PURPOSE = b"microagg release, SHA-256 of manifest.json: "


def sign_manifest(manifest: bytes, key: str | Path) -> str:
    """The content of ``signature.json`` for a manifest.

    Parameters
    ----------
    manifest : bytes
    key : path
        A private Ed25519 key as PEM, without a passphrase (``microagg keygen``, or openssl genpkey).
    """
    private = _private_key(Path(key))
    from cryptography.hazmat.primitives import serialization

    public = private.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    content = {
        "algorithm": ALGORITHM,
        "public_key": base64.b64encode(public).decode(),
        "manifest_sha256": hashlib.sha256(manifest).hexdigest(),
        "signature": base64.b64encode(private.sign(_message(manifest))).decode(),
    }
    return json.dumps(content, indent=2) + "\n"


def make_keys(name: str | Path) -> tuple[Path, Path]:
    """Make a private key to sign releases with, and the public one to check them with; as ``microagg keygen``.

    Parameters
    ----------
    name : path
        The files are called ``NAME.pem``, for nobody else, and ``NAME.pub.pem``.
    """
    path = Path(name)
    refuse_place(path, what="key")
    return write_key_pair(path)


def write_key_pair(path: Path) -> tuple[Path, Path]:
    """Write a new key, for its owner only, to ``<path>.pem``, and the public one to ``<path>.pub.pem``."""
    _require()
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    private = Ed25519PrivateKey.generate()
    secret = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    files = (path.with_name(f"{path.name}.pem"), path.with_name(f"{path.name}.pub.pem"))
    for file in files:
        if file.exists() or file.is_symlink():
            raise InputError(f"{file.name!r} exists; a key is never replaced. Choose another name")
    for file, content, mode in zip(files, (secret, public), (0o600, 0o644), strict=True):
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as stream:
            stream.write(content)
    return files


def check_signature(folder: Path, manifest: Path, signed_by: str | Path | None) -> list[Finding]:
    """Whether a release is signed, and by the key that the reader expects.

    Parameters
    ----------
    folder, manifest : Path
    signed_by : path or None
        A public key as PEM; None if the reader has none, and then nothing is said about who published.
    """
    path = folder / SIGNATURE
    expected = None if signed_by is None else fingerprint(_public_key(Path(signed_by)))
    if not path.is_file():
        if expected is None:
            return []
        return [Finding("signature", False, f"there is none; expected one by the key {expected}")]
    try:
        content = read_json(path)
        raw, signature = (base64.b64decode(content[name], validate=True) for name in ("public_key", "signature"))
        digest = content["manifest_sha256"]
        if set(content) != {"algorithm", "public_key", "manifest_sha256", "signature"}:
            raise ValueError("keys")
        if content["algorithm"] != ALGORITHM or len(raw) != 32:
            raise ValueError("algorithm")
    except (ValueError, KeyError, TypeError, binascii.Error):
        return [Finding("signature", False, "is damaged")]
    key_id = fingerprint(raw)
    if digest != hashlib.sha256(manifest.read_bytes()).hexdigest():
        return [Finding("signature", False, f"signs another manifest than this one (key {key_id})")]
    if expected is not None and key_id != expected:
        return [Finding("signature", False, f"is by the key {key_id}, not by {expected}")]
    if expected is None and find_spec("cryptography") is None:
        return [Finding("signature", True, f"said to be by the key {key_id}, and NOT verified: {NEEDED}")]
    if not _verifies(raw, signature, manifest.read_bytes()):
        return [Finding("signature", False, f"is not that of the key {key_id} under this manifest")]
    if expected is None:
        detail = f"by the key {key_id}, which proves nothing about who that is: compare it with --signed-by PUBLIC.pem"
        return [Finding("signature", True, detail)]
    return [Finding("signature", True, f"by the expected key {key_id}")]


def require_key(path: Path) -> None:
    """Refuse a file that is not a key to sign with, before the work begins."""
    _private_key(path)


def fingerprint_of(path: Path) -> str:
    """The short name of the public key in a file."""
    return fingerprint(_public_key(path))


def fingerprint(public: bytes) -> str:
    """A short name of a public key."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(public).digest()).decode().rstrip("=")


def _message(manifest: bytes) -> bytes:
    return _PURPOSE + hashlib.sha256(manifest).hexdigest().encode()


def _verifies(public: bytes, signature: bytes, manifest: bytes) -> bool:
    _require()
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, _message(manifest))
    except InvalidSignature:
        return False
    return True


def _require() -> None:
    try:
        import cryptography  # noqa: F401
    except ImportError:
        raise InputError(NEEDED) from None


def _private_key(path: Path) -> Ed25519PrivateKey:
    _require()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    try:
        key = serialization.load_pem_private_key(_content(path), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise InputError(
            f"{path.name!r} is not a private Ed25519 key in PEM without a passphrase. 'microagg keygen NAME' makes one"
        )
    return key


def _public_key(path: Path) -> bytes:
    _require()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    key: Any
    try:
        key = serialization.load_pem_public_key(_content(path))
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise InputError(
            f"{path.name!r} is not a public Ed25519 key in PEM, as in name.pub.pem of 'microagg keygen name'"
        )
    raw: bytes = key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    return raw


def _content(path: Path) -> bytes:
    if not path.is_file():
        raise InputError(f"there is no key file named {path.name!r}")
    return path.read_bytes()
