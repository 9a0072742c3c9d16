// swift-tools-version:6.2
import PackageDescription

let strict: [SwiftSetting] = [.strictMemorySafety(), .enableUpcomingFeature("ExistentialAny")]

// libgit2 and ICU are bound at their first use (`dlopen` with RTLD_GLOBAL), not at start: `concord merge` needs
// neither, and loading them would double its run time. Their functions therefore stay undefined in the executable,
// to be found by lazy binding; of the linkers in the toolchain lld does that.
let boundAtFirstUse: [LinkerSetting] = [
    .unsafeFlags(["-use-ld=lld", "-Xlinker", "--unresolved-symbols=ignore-in-object-files", "-Xlinker", "-z", "-Xlinker", "lazy"])
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
        .target(name: "StringCatalog", dependencies: ["CScan", "CICU"], swiftSettings: strict, linkerSettings: boundAtFirstUse),
        .target(name: "StringsTable", dependencies: ["StringCatalog"], swiftSettings: strict),
        .target(name: "Git", dependencies: ["CLibGit2"], swiftSettings: strict, linkerSettings: boundAtFirstUse),
        .target(name: "Linux", dependencies: ["CLinux"], swiftSettings: strict),

        // The daemon, and the one executable.
        .target(name: "Sync", dependencies: ["StringCatalog", "Git", "Linux"], swiftSettings: strict),
        .executableTarget(name: "concord", dependencies: ["Sync", "StringCatalog", "StringsTable", "Git", "Linux"], swiftSettings: strict),
        .executableTarget(name: "concord-bench", dependencies: ["StringCatalog", "Linux"], exclude: ["bench.py", "peers"], swiftSettings: strict),

        .testTarget(name: "StringCatalogTests", dependencies: ["StringCatalog"], exclude: ["Corpus"], swiftSettings: strict),
        .testTarget(name: "StringsTableTests", dependencies: ["StringsTable", "StringCatalog"], swiftSettings: strict),
        .testTarget(name: "GitTests", dependencies: ["Git"], swiftSettings: strict),
        .testTarget(name: "LinuxTests", dependencies: ["Linux"], swiftSettings: strict),
        .testTarget(name: "SyncTests", dependencies: ["Sync", "Git", "StringCatalog"], swiftSettings: strict),
        .testTarget(name: "ConcordTests", dependencies: ["StringCatalog"], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
