"""Reads the page out of the Swift sources, so that the browser tests need no build."""

import pathlib
import re

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "Sources" / "iftallyd"


def _constants():
    """Every `static let NAME = ...` of the Page*.swift files: a literal's text, or the names that are joined."""
    constants = {}
    for path in sorted(SOURCES.glob("Page*.swift")):
        source = path.read_text(encoding="utf-8")
        for match in re.finditer(r'static let (\w+) = (#?)"""\n(.*?)\n( *)"""\2', source, re.DOTALL):
            name, raw, body, margin = match.groups()
            lines = [line.removeprefix(margin) for line in body.split("\n")]
            text = "\n".join(lines)
            constants[name] = text if raw else text.replace("\\\n", "")
        for match in re.finditer(r"static let (\w+) = ((?:\w+ \+ )+\w+)\n", source):
            constants[match.group(1)] = match.group(2).split(" + ")
    return constants


def read_page():
    """The three bodies and the policy: a dict of html, style, script and contentSecurityPolicy."""
    constants = _constants()

    def text(name):
        value = constants[name]
        return value if isinstance(value, str) else "".join(text(part) for part in value)

    return {name: text(name) for name in ("html", "style", "script", "contentSecurityPolicy")}
