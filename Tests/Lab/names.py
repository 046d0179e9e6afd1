"""Names of links that the kernel takes and that something on the way might not, and how each is to be written."""
import os
import unicodedata

# As os.fsdecode has them. What the kernel refuses: white space (the byte A0 too), '/', ':', '%', ".", "..", "all",
# "default", more than 15 bytes.
NAMES = [os.fsdecode(name) for name in (
    b'"', b"'", b"\\", b'a"b\\c', b'\\"', b"\\n", b"{x=y}", b"{{7*7}}${7*7}",
    b"<script>", b"<b>&amp;", b"&", b"a&b=c", b"#", b"?", b"?x=1", b"#id", b",", b"a,b", b"=", b";", b"id;7", b"|",
    b">", b"@", b"+", b"a+b", b"++", b"a", b"b", b"-", b"-rf", b"--json", b".hidden", b"...", b"~", b"$(reboot)",
    b"`id`", b"!x", b"^", b"*", b"a*b", b"[a]", b"[", b"]",
    b"id", b"7", b"0", b"id7", b"title", b"merge", b"totals", b"metrics", b"v1", b"null", b"nan", b"__proto__",
    b"constructor",
    "ö".encode(), "o\u0308".encode(), "網路0".encode(), "🛰️".encode(), "\u202egnp.exe".encode(),
    "\u200b".encode(),
    "a\u200db".encode(), "\u2028".encode(), "\x85".encode(), "ﬃ".encode(), "\u2003".encode(), "\ufeff".encode(),
    b"\x01", b"\x07\x1b[31m", b"\x7f", b"\x1c", b"\xff\xfe", b"\xc3", b"a\xc3b", b"\xed\xbf\x80", b"\xc0\xaf",
    b"\xf0\x9f\x9b",
    "ö".encode() + b"\xff", b"x" * 15, "öööööööx".encode(), b"\xff" * 15,
)]


def written(name):
    """As the API, the metrics and rules write it: control bytes and those that are no UTF-8 as %XX."""
    escaped = ""
    for character in name:
        odd = "\udc80" <= character <= "\udcff"
        escaped += spelled(character) if odd or character < " " or character == "\x7f" else character
    return escaped


def shown(name):
    """As people see it, on a terminal and on the page: also what would hide, reorder or break text as %XX."""
    return "".join(spelled(character) if unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp") else character
                   for character in written(name))


def spelled(text):
    """Every byte as %XX, which is the same name."""
    return "".join(f"%{byte:02X}" for byte in os.fsencode(text))
