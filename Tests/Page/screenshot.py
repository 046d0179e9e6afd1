#!/usr/bin/env python3
"""Takes a picture of the page: screenshot.py PNG [ADDRESS] [--dark] [--width=N] [--height=N] [--open=ID/SPAN] [--wait=S] [--sample=NAME].

Without an address it shows a sample of constructed replies.
"""

import random
import sys
import time

import browser
import fake_daemon
import samples


def main(arguments):
    words = [word for word in arguments if not word.startswith("--")]
    options = dict(word[2:].partition("=")[::2] for word in arguments if word.startswith("--"))
    daemon = None
    if len(words) < 2:
        daemon = fake_daemon.FakeDaemon(getattr(samples, options.get("sample", "laptop"))())
        words.append(daemon.address)
    tab = browser.Browser()
    try:
        tab.open(
            words[1] + ("#" + options["open"] if "open" in options else ""),
            int(options.get("width", 1280)),
            int(options.get("height", 1000)),
            "dark" in options,
        )
        if daemon:
            _move(daemon, tab)
        time.sleep(float(options.get("wait", 1)))
        if "height" not in options:
            height = tab.evaluate("document.documentElement.scrollHeight")
            tab.command(
                "Emulation.setDeviceMetricsOverride",
                width=int(options.get("width", 1280)),
                height=height,
                deviceScaleFactor=1,
                mobile=False,
            )
            time.sleep(0.3)
        tab.screenshot(words[0])
    finally:
        tab.close()


def _move(daemon, tab):
    """Lets the sample's speeds wander, and two minutes pass in a moment."""
    source = random.Random(3)
    tab.evaluate(
        "pollEvery = 40; { const real = performance.now.bind(performance); const zero = real();"
        " performance.now = () => zero + (real() - zero) * 50; } 0"
    )
    plain = {link["id"]: link["rate"] for link in daemon.interfaces}
    for _ in range(60):
        swell = source.uniform(0.4, 1.1)
        for link in daemon.interfaces:
            if plain[link["id"]]:
                link["rate"] = {
                    **plain[link["id"]],
                    "rx_bytes_per_second": plain[link["id"]]["rx_bytes_per_second"] * swell,
                    "tx_bytes_per_second": plain[link["id"]]["tx_bytes_per_second"] * source.uniform(0.4, 1.1),
                }
        time.sleep(0.04)
    for link in daemon.interfaces:
        link["rate"] = plain[link["id"]]
    time.sleep(0.3)
    tab.evaluate("pollEvery = 2000")


if __name__ == "__main__":
    main(sys.argv[1:])
