import CLinux

/// The words of the command line from `first` on; the word 0 is the name of the program.
public func commandLineWords(from first: Int) -> [String] {
    // Not CommandLine.arguments: what is generic about it costs 0.1 ms at each start.
    var words: [String] = []
    var i = Int32(first)
    while i < concord_argument_count() {
        unsafe words.append(String(cString: concord_argument(i)))
        i += 1
    }
    return words
}
