// After each merge, also in release: the output is read again, its difference from the target must be the plan and
// nothing else, and a second merge of the same sides must plan nothing.

/// Holds an output against its plan; throws what does not fit.
func check(
    _ output: Bytes, against plan: MergePlan, of merger: Merger, base: CatalogDocument, ours: CatalogDocument,
    theirs: CatalogDocument, policy: MergePolicy
) throws(MergeFault) {
    let written = try ours.written(output, as: plan, of: merger)

    var quietly = policy
    quietly.recordsLosses = false
    var again = Merger(base: base, ours: written, theirs: theirs, policy: quietly, knowing: merger.sides)
    var settled = [Bool](repeating: false, count: written.entries.count)
    if let alignment = written.alignment {
        for (i, at) in alignment.entry.enumerated() where at >= 0 && alignment.isSame[i] && plan.entries[i] == nil { settled[Int(at)] = true }
    }
    let second = again.plan(settled: settled)
    if let entry = second.entries.first {
        let key = String(decoding: decoded(output, written.entries[entry].name), as: UTF8.self)
        throw MergeFault(description: "a second merge would change the key \"\(key)\" again", key: key)
    }
    if let key = second.added.first.map({ merger.sides.text($0.name) }) {
        throw MergeFault(description: "a second merge would add the key \"\(key)\" again", key: key)
    }
    guard second.isEmpty else { throw MergeFault(description: "a second merge would change the catalog again") }
}

extension CatalogDocument {
    /// The output of this target's plan, read again; throws what in it is not the plan's.
    func written(_ output: Bytes, as plan: MergePlan, of merger: Merger) throws(MergeFault) -> CatalogDocument {
        let ours = self
        let written: CatalogDocument
        do {
            written = try CatalogDocument(parsing: output, limits: CatalogLimits(bytesMax: .max, depthMax: 63), like: ours)
        } catch {
            throw MergeFault(description: "the merged catalog does not parse: \(error)")
        }
        let sides = merger.sides.with(output: output)
        let comparison = Comparison(sides: sides)

        // The top level: what the plan names, and the rest as it was.
        for (name, values) in sides.paired(ThreeWay(base: nil, ours: ours.topItems(.ours), theirs: written.topItems(.output))) {
            if sides.isNamed(name, "strings"), ours.stringsMember != nil { continue }
            let expected = plan.top.last { sides.isSame($0.name, name) }?.merged ?? values.ours.map { .value($0) } ?? .absent
            guard comparison.equal(expected, values.theirs) else {
                throw MergeFault(description: "the merged catalog differs from its plan at \"\(sides.text(name))\"")
            }
        }
        for patch in plan.top where !patch.merged.isAbsent && !written.topItems(.output).contains(where: { sides.isSame($0.name, patch.name) }) {
            throw MergeFault(description: "the merged catalog lacks \"\(sides.text(patch.name))\", which the plan adds")
        }

        // The entries: those of the target in their order, with the planned changes, and the new ones in their places.
        if ours.stringsMember != nil {
            var at = 0
            func fault(_ bytes: Bytes, _ member: Member) -> MergeFault {
                let key = String(decoding: decoded(bytes, member.name), as: UTF8.self)
                return MergeFault(description: "the merged catalog differs from its plan at the key \"\(key)\"", key: key)
            }
            var next = 0
            func added(after index: Int) throws(MergeFault) {
                while next < plan.added.count, plan.added[next].after == index {
                    let entry = plan.added[next]
                    guard at < written.entries.count else { throw MergeFault(description: "the merged catalog ends before its plan does") }
                    let member = written.entries[at]
                    guard sides.isSame(entry.name, .read(.output, member.name, isEscaped: member.isEscaped)),
                        comparison.equal(entry.merged, Value(.output, member.value))
                    else { throw fault(output, member) }
                    at += 1
                    next += 1
                }
            }
            try added(after: -1)
            for (i, member) in ours.entries.enumerated() {
                let change = plan.entries[i]
                if change?.isAbsent != true {
                    guard at < written.entries.count, sameName(ours.bytes, member, output, written.entries[at]) else { throw fault(ours.bytes, member) }
                    let value = Value(.output, written.entries[at].value)
                    // Reading the output beside the target has compared most entries already.
                    let isSame = written.alignment.map { $0.isSame[i] && Int($0.entry[i]) == at } ?? false
                    let holds = change.map { comparison.equal($0, value) } ?? (isSame || ours.bytes.equal(member.value, output, value.range))
                    guard holds else { throw fault(ours.bytes, member) }
                    at += 1
                }
                try added(after: i)
            }
            guard at == written.entries.count, next == plan.added.count else {
                throw MergeFault(description: "the merged catalog has entries that are not in its plan")
            }
        }
        return written
    }
}

/// Compares what was planned with what was written.
struct Comparison {
    let sides: Sides

    func equal(_ merged: Merged, _ value: Value?) -> Bool {
        guard let value else { return merged.isAbsent }
        switch merged {
        case .absent: return false
        case .value(let planned): return sides.equal(planned, value)
        case .literal(let bytes): return sides[value.side].array(value.range) == bytes
        case .fresh(let patches): return equal(patches, value)
        case .patched(let host, let patches, _):
            return equalInPlace(host, patches, value) ?? equal(composed(sides, host, patches) { _, _ in false }, value, like: host)
        }
    }

    /// The same where the members stand as those of the host do and patches only change some, as most do; nil otherwise.
    private func equalInPlace(_ host: Value, _ patches: [Patch], _ value: Value) -> Bool? {
        guard sides.isObject(value) else { return false }
        let old = sides.items(host)
        let new = sides.items(value, like: host)
        guard old.count == new.count, sides.effective(old).count == old.count else { return nil }
        var patched = 0
        for i in old.indices {
            guard sides.isSame(old[i].name, new[i].name) else { return nil }
            if let patch = patches.first(where: { sides.isSame($0.name, old[i].name) }) {
                patched += 1
                guard equal(patch.merged, new[i].value) else { return false }
            } else {
                guard sides.equal(old[i].value, new[i].value) else { return false }
            }
        }
        return patched == patches.count ? true : nil
    }

    private func equal(_ members: [Patch], _ value: Value, like host: Value? = nil) -> Bool {
        guard sides.isObject(value) else { return false }
        let items = sides.effective(sides.items(value, like: host))
        guard items.count == members.count else { return false }
        return items.indices.allSatisfy { i in
            let item = items[i]
            // Mostly the members stand in the same order.
            let member = sides.isSame(members[i].name, item.name) ? members[i] : members.first { sides.isSame($0.name, item.name) }
            return member.map { equal($0.merged, item.value) } ?? false
        }
    }
}
