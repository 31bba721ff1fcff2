"""Files that act when they are opened, by what they are and by what they call themselves."""

from __future__ import annotations

from typing import Final

# By content: programs, scripts, and documents that a browser would run as a page.
_TYPES: Final = frozenset(
    {
        "application/vnd.microsoft.portable-executable", "application/x-elf", "text/x-shellscript",
        "application/x-ms-shortcut", "application/java-archive", "image/svg+xml", "text/html", "text/xml",
        "application/xhtml+xml", "application/javascript", "text/javascript", "application/x-ole-storage",
        "application/postscript",
    }
)  # fmt: skip
_EXTENSIONS: Final = frozenset(
    [
        "ade",
        "adp",
        "apk",
        "app",
        "appx",
        "asp",
        "aspx",
        "bat",
        "bin",
        "cab",
        "chm",
        "cmd",
        "com",
        "cpl",
        "csh",
        "dll",
        "dmg",
        "docm",
        "dotm",
        "exe",
        "gadget",
        "hta",
        "htm",
        "html",
        "img",
        "inf",
        "ins",
        "iso",
        "isp",
        "jar",
        "jnlp",
        "js",
        "jse",
        "lnk",
        "mht",
        "mhtml",
        "msc",
        "msi",
        "msix",
        "msp",
        "mst",
        "one",
        "pif",
        "pl",
        "potm",
        "ppam",
        "pps1",
        "pptm",
        "ps1",
        "psm1",
        "py",
        "rb",
        "reg",
        "scf",
        "scr",
        "sct",
        "settingcontent-ms",
        "sh",
        "shtml",
        "svg",
        "swf",
        "sys",
        "url",
        "vb",
        "vbe",
        "vbs",
        "vhd",
        "vhdx",
        "website",
        "wsc",
        "wsf",
        "wsh",
        "xbap",
        "xhtml",
        "xlam",
        "xll",
        "xlsm",
        "xltm",
        "xml",
        "xsl",
    ]
)


def is_dangerous(*, filename: str, declared: str, sniffed: str) -> bool:
    """Whether opening it could run something. Any one sign is enough; every extension of a name counts."""
    parts = filename.lower().rstrip(". ").split(".")[1:]
    types = {declared.partition(";")[0].strip().lower(), sniffed}
    return not types.isdisjoint(_TYPES) or not _EXTENSIONS.isdisjoint(part.strip() for part in parts)
