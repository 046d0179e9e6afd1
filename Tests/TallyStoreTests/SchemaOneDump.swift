// A store of schema 1 as text, kept as it was released: later versions must open it for ever.

/// Tables as the first migration made them, and rows with the extremes of every column.
let schemaOneDump = """
  PRAGMA application_id = 1768322169;
  PRAGMA user_version = 1;
  CREATE TABLE meta (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    sequence INTEGER NOT NULL,
    utc INTEGER,
    boot INTEGER,
    boot_id_high INTEGER,
    boot_id_low INTEGER,
    folded_five_minutes INTEGER NOT NULL,
    folded_hour INTEGER NOT NULL,
    folded_day INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE link (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    name BLOB NOT NULL,
    kind TEXT NOT NULL,
    type TEXT NOT NULL,
    first_seen INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE link_total (
    link INTEGER PRIMARY KEY REFERENCES link (id),
    last_seen INTEGER NOT NULL,
    rx_bytes INTEGER NOT NULL,
    tx_bytes INTEGER NOT NULL,
    rx_packets INTEGER NOT NULL,
    tx_packets INTEGER NOT NULL,
    at_least INTEGER NOT NULL,
    resets INTEGER NOT NULL,
    -- The baseline: all NULL when the link is not present.
    base_utc INTEGER,
    base_boot INTEGER,
    base_boot_id_high INTEGER,
    base_boot_id_low INTEGER,
    base_ifindex INTEGER,
    base_inode INTEGER,
    base_rx_bytes INTEGER,
    base_tx_bytes INTEGER,
    base_rx_packets INTEGER,
    base_tx_packets INTEGER
  ) STRICT;

  CREATE TABLE incarnation (
    link INTEGER NOT NULL,
    boot_id_high INTEGER NOT NULL,
    boot_id_low INTEGER NOT NULL,
    ifindex INTEGER NOT NULL,
    opened INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    birth TEXT NOT NULL,
    closed INTEGER,
    death TEXT,
    PRIMARY KEY (link, boot_id_high, boot_id_low, ifindex, opened)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE bucket (
    tier INTEGER NOT NULL,
    start INTEGER NOT NULL,
    link INTEGER NOT NULL,
    rx_bytes INTEGER NOT NULL,
    tx_bytes INTEGER NOT NULL,
    rx_packets INTEGER NOT NULL,
    tx_packets INTEGER NOT NULL,
    placed_rx INTEGER NOT NULL,
    placed_tx INTEGER NOT NULL,
    flags INTEGER NOT NULL,
    PRIMARY KEY (tier DESC, start, link)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE gap (
    -- NULL: every link.
    link INTEGER,
    started INTEGER NOT NULL,
    ended INTEGER NOT NULL,
    reason TEXT NOT NULL,
    lossy INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE clock_step (
    at INTEGER NOT NULL,
    by_nanoseconds INTEGER NOT NULL
  ) STRICT;

  INSERT INTO meta VALUES (1, 77, 1781524800000000005, 100000000000, -81985529216486896, -9223372036854775807, 1781524800, 1781524800, 1781481600);
  INSERT INTO link VALUES (1, 'tunnel:tun1', X'74FF0001', 'tunnel', 'wireguard', 1781523800);
  INSERT INTO link VALUES (3, 'tunnel:tun3', X'74FF0003', 'tunnel', 'wireguard', 1781523800);
  INSERT INTO link_total VALUES (1, 1781524800, -10, 9223372036854775803, 184467440737095516, 92233720368547758, 0, 0,
    1781524800000000005, 100000000000, -81985529216486896, -9223372036854775807, 4294967295, -2, -3, -9223372036854775806, -1, -9223372036854775808);
  INSERT INTO link_total VALUES (3, 1781524800, 3000, 1500, 30, 15, 0, 0,
    NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
  INSERT INTO incarnation VALUES (3, -81985529216486896, -9223372036854775807, 9, 1781523900, -1, 'born_unseen', 1781524800, 'vanished');
  INSERT INTO bucket VALUES (3, 1781395200, 1, 5000, 0, 50, 0, 0, 0, 1);
  INSERT INTO bucket VALUES (1, 1781524500, 3, 0, 700, 0, 7, 9, 0, 4);
  INSERT INTO bucket VALUES (0, 1781524800, 1, -1, 0, 184467440737095516, 0, 0, 0, 0);
  INSERT INTO gap VALUES (NULL, 1781524200, 1781524500, 'reboot', 1);
  INSERT INTO gap VALUES (3, 1781524800, 1781524800, 'counter_reset', 0);
  INSERT INTO clock_step VALUES (1781524800, -1500000000);
  """
