"""Replies of a daemon as the contract writes them, constructed: ordinary, hostile, empty, many, huge."""

import datetime
import random

ZONE = datetime.timezone(datetime.timedelta(hours=1))
NOW = datetime.datetime(2025, 11, 30, 14, 3, 22, tzinfo=ZONE)
U64_MAX = 2**64 - 1

HOSTILE_NAMES = [
    "<img src=x onerror=window.hacked=1>",
    "\"'><script>window.hacked=1</script>",
    "\u202egnp.exe",
    "%1B%07%FF",
    "-rf",
    "__proto__",
    "{{7*7}}${7*7}",
]


def stamp(moment):
    return moment.isoformat(timespec="seconds")


def quality(completeness="complete", coverage=1.0, resets=0, gaps=0, since=NOW - datetime.timedelta(days=200)):
    return {
        "completeness": completeness,
        "coverage": coverage,
        "since": stamp(since),
        "as_of": stamp(NOW),
        "resets": resets,
        "gaps": gaps,
    }


def figure(rx, tx, **rest):
    return {
        "rx_bytes": rx,
        "tx_bytes": tx,
        "rx_packets": rx // 900,
        "tx_packets": tx // 700,
        "quality": quality(**rest),
    }


COUNTS = {
    "wired": "Ethernet frames without preamble, padding and checksum, as the driver sees them",
    "wifi": "Ethernet frames after the radio's own headers are taken off; retries are not seen",
    "cellular": "IP packets to and from the modem",
    "tunnel": "inner packets before encryption; the carrier counts them again with overhead",
    "loopback": "IP packets; every packet is seen as received and as sent",
}


def interface(number, name, kind, kind_type, medium, why, today, total, **rest):
    reply = {
        "id": f"id:{number}",
        "name": name,
        "kind": kind,
        "type": kind_type,
        "touches_medium": medium,
        "why": why,
        "present": True,
        "up": True,
        "ifindex": number,
        "mtu": 1500,
        "addresses": [],
        "counts": COUNTS.get(kind, "frames as the software device sees them"),
        "first_seen": stamp(NOW - datetime.timedelta(days=200)),
        "last_seen": stamp(NOW),
        "incarnations": 1,
        "today": today,
        "total": total,
        "rate": {"rx_bytes_per_second": 0.0, "tx_bytes_per_second": 0.0, "over_seconds": 2.0},
    }
    reply.update(rest)
    return reply


def rate(rx, tx):
    return {"rx_bytes_per_second": rx, "tx_bytes_per_second": tx, "over_seconds": 2.0}


def laptop():
    """A laptop with a VPN over Wi-Fi, a modem, a dock, containers and a tunnel that is gone."""
    inner = "inner traffic; the carrier counts it again with overhead"
    today = NOW.replace(hour=0, minute=0, second=0)
    return [
        interface(
            1,
            "lo",
            "loopback",
            "loopback",
            False,
            "every packet is seen as rx and as tx",
            figure(48_213_004, 48_213_004, since=today),
            figure(9_120_331_200, 9_120_331_200),
            mtu=65536,
            addresses=["127.0.0.1/8", "::1/128"],
            rate=rate(1800.0, 1800.0),
        ),
        interface(
            2,
            "enp0s31f6",
            "wired",
            "ethernet",
            True,
            "hardware, no kind, no DEVTYPE",
            figure(0, 0, since=today),
            figure(812_340_112_900, 96_455_210_331),
            up=False,
            mac="54:ee:75:00:11:22",
            driver="e1000e",
        ),
        interface(
            3,
            "wlp4s0",
            "wifi",
            "station",
            True,
            "a radio link",
            figure(2_348_112_904, 311_204_551, since=today),
            figure(418_233_900_112, 51_093_221_004, completeness="at_least", coverage=0.9978, resets=3, gaps=2),
            mac="a4:34:d9:00:33:44",
            driver="iwlwifi",
            speed_mbit=866,
            addresses=["192.0.2.57/24", "fe80::a634:d9ff:fe00:3344/64", "2001:db8:7::57/64"],
            rate=rate(1_482_330.4, 96_201.0),
        ),
        interface(
            4,
            "wwan0",
            "cellular",
            "qmi_wwan",
            True,
            "a modem: DEVTYPE wwan, whatever the driver",
            figure(18_220_114, 4_120_993, since=today, completeness="placed"),
            figure(22_830_114_220, 2_904_113_008, completeness="placed", resets=14),
            driver="qmi_wwan",
            incarnations=15,
            addresses=["198.51.100.14/30"],
            rate=rate(0.0, 0.0),
        ),
        interface(
            5,
            "wg0",
            "tunnel",
            "wireguard",
            False,
            inner,
            figure(1_904_551_020, 240_118_330, since=today),
            figure(96_220_190_334, 11_093_220_118),
            carrier={"id": "id:3", "name": "wlp4s0"},
            mtu=1420,
            addresses=["10.8.0.2/24", "fd00:8::2/64"],
            rate=rate(1_390_112.0, 84_110.0),
        ),
        interface(
            6,
            "tun0",
            "tunnel",
            "tun",
            False,
            "inner traffic of a userspace tunnel; the carrier counts it again with overhead",
            figure(0, 0, since=today),
            figure(5_233_190_334, 411_093_220, completeness="at_least", coverage=0.981, resets=21, gaps=4),
            present=False,
            up=False,
            incarnations=22,
            rate=None,
            last_seen=stamp(NOW - datetime.timedelta(days=2, hours=3)),
        ),
        interface(
            7,
            "docker0",
            "bridge",
            "bridge",
            False,
            "its ports carry and count the bytes",
            figure(120_443, 2_330_118, since=today),
            figure(3_120_443_118, 812_330_118),
            addresses=["172.17.0.1/16"],
        ),
        interface(
            8,
            "veth3f2a91c",
            "virtual",
            "veth",
            False,
            "a container or VM end",
            figure(130_220, 2_344_901, since=today),
            figure(130_220, 2_344_901),
            master={"id": "id:7", "name": "docker0"},
            rate=rate(220.0, 180.0),
        ),
        interface(
            9,
            "enp0s31f6.20",
            "vlan",
            "vlan",
            False,
            "its parent carries and counts the bytes",
            figure(0, 0, since=today),
            figure(40_112_900_331, 6_455_210_331),
            carrier={"id": "id:2", "name": "enp0s31f6"},
            up=False,
        ),
    ]


def hostile():
    """Names and texts that would be markup, keys of Object's prototype, or control characters, if anything let them."""
    links = []
    for number, name in enumerate(HOSTILE_NAMES, start=1):
        links.append(
            interface(
                number,
                name,
                "wired",
                name,
                True,
                name,
                figure(1024, 2048),
                figure(4096, 8192),
                counts=name,
                addresses=[name],
                driver=name,
                mac=name,
                master={"name": name},
            )
        )
    links.append(
        interface(
            90,
            "odd",
            "constructor",
            "toString",
            False,
            "a kind of a newer daemon",
            figure(1, 1),
            figure(1, 1, completeness="hasOwnProperty"),
            carrier={"id": "id:91", "name": "cycle"},
        )
    )
    links.append(
        interface(
            91,
            "cycle",
            "tunnel",
            "tun",
            False,
            "carried by what it carries",
            figure(1, 1),
            figure(1, 1),
            carrier={"id": "id:90", "name": "odd"},
        )
    )
    return links


def many(count=300):
    source = random.Random(7)
    links = []
    for number in range(1, count + 1):
        medium = number % 10 == 0
        total = source.randrange(10**6, 10**13)
        links.append(
            interface(
                number,
                f"{'eth' if medium else 'veth'}{number}",
                "wired" if medium else "virtual",
                "ethernet" if medium else "veth",
                medium,
                "made for a test",
                figure(total // 90, total // 500),
                figure(total, total // 5),
                rate=rate(source.random() * 10**6, source.random() * 10**5),
            )
        )
    return links


def huge():
    """Figures that a double cannot hold, and history that still loads."""
    return [
        interface(1, "eth0", "wired", "ethernet", True, "made for a test", None, figure(U64_MAX, 2**53 + 1), rate=None)
    ]


def status(**rest):
    reply = {
        "nature": "estimate",
        "as_of": stamp(NOW),
        "version": "0.1.0",
        "since": stamp(NOW - datetime.timedelta(days=3)),
        "namespace": {"inode": 4026531840, "note": "other network namespaces are not counted"},
        "source": {"name": "netlink", "counter_bits": 64, "events": "inherited from systemd", "receive_buffer_bytes": 67108864,
                   "peer_events": False},
        "clock": {"timezone": "Europe/Berlin", "steps": []},
        "store": {"path": "/var/lib/iftally/iftally.db", "state": "ok", "size_bytes": 1 << 20},
        "links": {"present": 8, "known": 9},
        "warnings": [],
    }
    reply.update(rest)
    return reply


def problem(code, status_code, title, detail, remedy=None):
    reply = {
        "type": f"urn:iftally:problem:{code}",
        "title": title,
        "status": status_code,
        "detail": detail,
        "code": code,
    }
    if remedy:
        reply["remedy"] = remedy
    return reply


LOADING = problem("loading", 503, "No sample yet", "the first sample is not finished", "Ask again in a moment.")


def usage(link, resolution):
    """History of one interface: a day's rhythm, one period without traffic, one that was placed, one at least."""
    source = random.Random(f"{link['id']} {resolution}")
    periods = _periods(resolution)
    points = []
    for index, (start, end) in enumerate(periods):
        if index == 4:
            continue
        busy = source.uniform(0.2, 1.0) * (0.08 if resolution == "hour" and start.hour in range(1, 7) else 1.0)
        rx = int(busy * {"hour": 0.6e9, "day": 4.2e9, "month": 80e9}[resolution])
        completeness = {7: "placed", 10: "at_least"}.get(index, "complete")
        points.append(
            {
                "start": stamp(start),
                "end": stamp(end),
                "rx_bytes": rx,
                "tx_bytes": int(rx * source.uniform(0.05, 0.3)),
                "rx_packets": rx // 900,
                "tx_packets": rx // 2000,
                "completeness": completeness,
                "coverage": 0.8125 if completeness == "at_least" else 1.0,
            }
        )
    if link["total"]["rx_bytes"] == 0:
        points = []
    total = figure(
        sum(p["rx_bytes"] for p in points),
        sum(p["tx_bytes"] for p in points),
        completeness="at_least",
        coverage=0.9921,
        gaps=1,
        since=periods[0][0],
    )
    described = {key: link[key] for key in ("id", "name", "kind", "type", "present")}
    return {
        "nature": "estimate",
        "as_of": stamp(NOW),
        "from": stamp(periods[0][0]),
        "to": stamp(periods[-1][1]),
        "resolution": resolution,
        "timezone": "Europe/Berlin",
        "series": [{"interface": described, "points": points, "sum": total}],
    }


def _periods(resolution):
    hour = NOW.replace(minute=0, second=0)
    if resolution == "hour":
        starts = [hour - datetime.timedelta(hours=back) for back in range(23, -2, -1)]
    elif resolution == "day":
        midnight = hour.replace(hour=0)
        starts = [midnight - datetime.timedelta(days=back) for back in range(29, -2, -1)]
    else:
        months = range(NOW.year * 12 + NOW.month - 12, NOW.year * 12 + NOW.month + 1)
        starts = [datetime.datetime(month // 12, month % 12 + 1, 1, tzinfo=ZONE) for month in months]
    return list(zip(starts, starts[1:]))
