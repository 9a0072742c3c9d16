// swift-tools-version:6.2
import PackageDescription

let strict: [SwiftSetting] = [.strictMemorySafety(), .enableUpcomingFeature("ExistentialAny")]

// How the executable is linked, for a start in about a millisecond: `concord merge` is called for every file of a merge.
let quickStart: [LinkerSetting] = [
    // libgit2 and ICU are bound at their first use (`dlopen` with RTLD_GLOBAL), not at start: most doors need neither, and
    // loading them would double their time. Their functions therefore stay undefined in the executable, to be found by
    // lazy binding; of the linkers in the toolchain lld does that.
    .unsafeFlags(["-use-ld=lld", "-Xlinker", "--unresolved-symbols=ignore-in-object-files", "-Xlinker", "-z", "-Xlinker", "lazy"]),
    // The C++ library and libgcc in whole (see the file in that folder).
    .unsafeFlags(["-LSources/concord/link", "-Xclang-linker", "-static-libgcc"]),
    // At a fixed address: 15,000 addresses in 90 pages need no correction at each start, a tenth of the time of a small merge.
    // (Libraries, heap and stack keep their random places, as in programs written in Go.)
    .unsafeFlags(["-Xclang-linker", "-no-pie"]),
]

let package = Package(
    name: "concord",
    products: [.executable(name: "concord", targets: ["concord"])],
    targets: [
        // C: one shim for each library.
        .systemLibrary(name: "CLibGit2", providers: [.apt(["libgit2-dev"])]),
        .target(name: "CICU"),
        .target(name: "CScan"),
        .target(name: "CLinux"),

        // These three do not know each other.
        .target(name: "StringCatalog", dependencies: ["CScan", "CICU"], swiftSettings: strict, linkerSettings: quickStart),
        .target(name: "StringsTable", dependencies: ["StringCatalog"], swiftSettings: strict),
        .target(name: "Git", dependencies: ["CLibGit2"], swiftSettings: strict, linkerSettings: quickStart),
        .target(name: "Linux", dependencies: ["CLinux"], swiftSettings: strict),

        // The daemon, and the one executable.
        .target(name: "Sync", dependencies: ["StringCatalog", "StringsTable", "Git", "Linux"], swiftSettings: strict),
        .executableTarget(name: "concord", dependencies: ["Sync", "StringCatalog", "StringsTable", "Git", "Linux"], exclude: ["link"], swiftSettings: strict),
        .executableTarget(name: "concord-bench", dependencies: ["StringCatalog", "Linux"], exclude: ["bench.py", "peers"], swiftSettings: strict),

        // What the corpora of catalogs and tables share.
        .target(name: "MergeCases", dependencies: ["StringCatalog"], path: "Tests/MergeCases", swiftSettings: strict),
        .testTarget(name: "StringCatalogTests", dependencies: ["StringCatalog", "MergeCases"], exclude: ["Corpus"], swiftSettings: strict),
        .testTarget(name: "StringsTableTests", dependencies: ["StringsTable", "StringCatalog", "MergeCases"], exclude: ["Corpus"], swiftSettings: strict),
        .testTarget(name: "GitTests", dependencies: ["Git"], swiftSettings: strict),
        .testTarget(name: "LinuxTests", dependencies: ["Linux"], swiftSettings: strict),
        .testTarget(name: "SyncTests", dependencies: ["Sync", "Git", "StringCatalog", "StringsTable"], swiftSettings: strict),
        .testTarget(name: "ConcordTests", dependencies: ["StringCatalog"], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
