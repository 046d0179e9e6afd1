// swift-tools-version: 6.0
// The targets are the architecture: each name says what the target owns, and dependencies point one way.
import PackageDescription

let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .unsafeFlags(["-warnings-as-errors"]),
]
let strictC: [CSetting] = [
  .unsafeFlags(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"])
]

let package = Package(
  name: "iftally",
  products: [
    .executable(name: "iftallyd", targets: ["iftallyd"]),
    .executable(name: "iftally", targets: ["iftally"]),
  ],
  targets: [
    // C shims: one narrow header each, no third-party type in it.
    .systemLibrary(name: "CNetlink", pkgConfig: "libnl-route-3.0", providers: [.apt(["libnl-route-3-dev"])]),
    .target(name: "CLinkStats", dependencies: ["CNetlink"], cSettings: strictC),
    .target(name: "CSQLite", cSettings: strictC, linkerSettings: [.linkedLibrary("sqlite3")]),
    .target(name: "CHTTP", cSettings: strictC, linkerSettings: [.linkedLibrary("microhttpd")]),
    .target(name: "CSystemd", cSettings: strictC, linkerSettings: [.linkedLibrary("systemd")]),
    .target(name: "CInih", cSettings: strictC, linkerSettings: [.linkedLibrary("inih")]),

    .target(name: "TallyCore", swiftSettings: strict),
    .target(name: "LinkSource", dependencies: ["TallyCore", "CLinkStats"], swiftSettings: strict),
    .target(name: "TallyStore", dependencies: ["TallyCore", "CSQLite"], swiftSettings: strict),
    .target(name: "LocalHTTP", dependencies: ["CHTTP"], swiftSettings: strict),
    .target(name: "TallyConfig", dependencies: ["CInih", "TallyCore"], swiftSettings: strict),
    .target(name: "TallyWire", swiftSettings: strict),
    .target(name: "TallyRender", dependencies: ["TallyWire"], swiftSettings: strict),

    .executableTarget(
      name: "iftallyd",
      dependencies: ["TallyCore", "LinkSource", "TallyStore", "LocalHTTP", "TallyConfig", "TallyWire", "CSystemd"],
      swiftSettings: strict),
    .executableTarget(
      name: "iftally",
      dependencies: ["TallyCore", "TallyRender", "TallyWire", "TallyConfig", "TallyStore", "LocalHTTP"],
      swiftSettings: strict),

    // What `make bench` runs.
    .executableTarget(
      name: "iftally-sample-bench", dependencies: ["TallyCore", "LinkSource", "CLinkStats"],
      path: "Tests/SampleBench", swiftSettings: strict),

    // What tests play with instead of a kernel and a disk.
    .target(name: "Toys", dependencies: ["TallyCore"], path: "Tests/Toys", swiftSettings: strict),
    .testTarget(name: "TallyCoreTests", dependencies: ["TallyCore", "Toys"], swiftSettings: strict),
    .testTarget(
      name: "LinkSourceTests", dependencies: ["LinkSource", "CLinkStats", "TallyCore", "CNetlink"],
      exclude: ["Fixtures"], swiftSettings: strict),
    .testTarget(name: "TallyStoreTests", dependencies: ["TallyStore", "TallyCore"], swiftSettings: strict),
    .testTarget(
      name: "iftallydTests",
      dependencies: ["iftallyd", "LinkSource", "LocalHTTP", "TallyCore", "TallyStore", "TallyWire"],
      swiftSettings: strict),
    .testTarget(
      name: "SimulationTests", dependencies: ["iftallyd", "LinkSource", "TallyCore", "TallyStore", "Toys"],
      swiftSettings: strict),
    .testTarget(name: "LocalHTTPTests", dependencies: ["LocalHTTP"], swiftSettings: strict),
    .testTarget(name: "TallyConfigTests", dependencies: ["TallyConfig", "TallyCore"], swiftSettings: strict),
    .testTarget(
      name: "TallyWireTests", dependencies: ["TallyWire"], exclude: ["Golden"], swiftSettings: strict),
    .testTarget(
      name: "TallyRenderTests", dependencies: ["TallyRender", "TallyWire"], exclude: ["Golden"], swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
