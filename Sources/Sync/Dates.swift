/// A moment as people read it, UTC: `2026-11-30 08:51`.
package func dateText(_ seconds: Int64) -> String {
    let minutes = Int((seconds >= 0 ? seconds : seconds - 59) / 60)
    let day = minutes >= 0 ? minutes / 1440 : (minutes - 1439) / 1440
    let minute = minutes - day * 1440
    // The civil calendar from a count of days: eras of 400 years that begin on 1 March.
    let shifted = day + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let civilMonth = month < 10 ? month + 3 : month - 9
    let year = yearOfEra + era * 400 + (civilMonth <= 2 ? 1 : 0)
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(year)-\(two(civilMonth))-\(two(dayOfYear - (153 * month + 2) / 5 + 1)) \(two(minute / 60)):\(two(minute % 60))"
}
