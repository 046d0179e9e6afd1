// The page's script, second part: the small lines of speed that stand beside the figures.

extension Page {
  /// Two minutes of an interface's speed, drawn from what this page has seen itself.
  static let sparkScript = #"""

    const SPARK = { seconds: 120, width: 120, height: 34 };

    /** Remembers one reading; `rate` null leaves a hole in the line. */
    function remember(readings, now, rate) {
      readings.push({ now, rx: rate ? rate.rx_bytes_per_second : null, tx: rate ? rate.tx_bytes_per_second : null });
      while (readings.length > 0 && now - readings[0].now > SPARK.seconds * 1000) readings.shift();
    }

    // Readings further apart than this are not joined: the page was hidden or the daemon away.
    const sparkHole = () => 4 * pollEvery;

    function sparkRuns(readings, key) {
      const runs = [];
      let last = -Infinity;
      for (const reading of readings) {
        if (reading[key] === null) {
          last = -Infinity;
        } else {
          if (reading.now - last > sparkHole()) runs.push([]);
          runs.at(-1).push(reading);
          last = reading.now;
        }
      }
      return runs;
    }

    function sparkNode() {
      const [area, rx, tx] = ["area", "rx", "tx"].map((name) => svg("path", { class: name }));
      const viewBox = `0 0 ${SPARK.width} ${SPARK.height}`;
      const frame = { class: "spark", viewBox, preserveAspectRatio: "none", "aria-hidden": "true" };
      return { node: svg("svg", frame, area, rx, tx), area, rx, tx };
    }

    function drawSpark(parts, readings, now) {
      let peak = 1024;
      for (const reading of readings) peak = Math.max(peak, reading.rx ?? 0, reading.tx ?? 0);
      set(parts.node, "data-idle", String(readings.every((reading) => !reading.rx && !reading.tx)));
      const x = (reading) => (SPARK.width * (1 - (now - reading.now) / (SPARK.seconds * 1000))).toFixed(1);
      const y = (value) => (SPARK.height - 2 - (SPARK.height - 4) * (value / peak)).toFixed(1);
      const line = (run, key) => "M" + run.map((reading) => `${x(reading)} ${y(reading[key])}`).join("L");
      const rxRuns = sparkRuns(readings, "rx");
      set(parts.rx, "d", rxRuns.map((run) => line(run, "rx")).join(""));
      set(parts.tx, "d", sparkRuns(readings, "tx").map((run) => line(run, "tx")).join(""));
      set(parts.area, "d", rxRuns.map((run) =>
        `${line(run, "rx")}L${x(run.at(-1))} ${SPARK.height}L${x(run[0])} ${SPARK.height}Z`).join(""));
    }
    """#
}
