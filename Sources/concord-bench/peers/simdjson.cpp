// The peer of the in-memory figures: simdjson's DOM parser on the same three files, a fresh parser each round.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <simdjson.h>
#include <vector>

int main(int count, char **words) {
    if (count < 4) return 64;
    simdjson::padded_string files[3];
    for (int i = 0; i < 3; i++) files[i] = simdjson::padded_string::load(words[i + 1]).value();
    const int rounds = count > 4 ? std::atoi(words[4]) : 21;
    std::vector<double> times;
    for (int round = 0; round < rounds; round++) {
        simdjson::dom::parser parser;
        auto started = std::chrono::steady_clock::now();
        for (auto &file : files)
            if (parser.parse(file).error()) return 2;
        times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started).count());
    }
    std::sort(times.begin(), times.end());
    std::printf("%.3f\n", times[times.size() / 2]);
}
