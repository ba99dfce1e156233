#include "pddl/diagnostics.hpp"

#include <algorithm>

namespace planlog {

std::pair<uint32_t, uint32_t> locate(std::string_view text, size_t position) {
    // Lines end with \n, \r\n or, in very old files, \r.
    uint32_t line = 1;
    size_t line_begin = 0;
    for (size_t i = 0; i < std::min(position, text.size()); ++i) {
        if (text[i] != '\n' && (text[i] != '\r' || text.substr(i + 1).starts_with('\n'))) continue;
        ++line;
        line_begin = i + 1;
    }
    return {line, static_cast<uint32_t>(position - line_begin + 1)};
}

void Reporter::add(Severity severity, size_t begin, size_t end, std::string message,
                   std::string hint) {
    size_t& count = severity == Severity::Warning ? warnings_ : errors_;
    if (count >= limit) return;
    ++count;
    const auto [line, column] = locate(text_, begin);
    // Only the first line of a longer range is underlined.
    const size_t line_end = std::min(text_.find_first_of("\r\n", begin), text_.size());
    const size_t length = std::max<size_t>(1, std::min(end, line_end) - begin);
    diagnostics_.push_back({severity, line, column, static_cast<uint32_t>(length),
                            std::move(message), std::move(hint)});
}

Reporter::~Reporter() {
    const auto before = [](const Diagnostic& a, const Diagnostic& b) {
        return std::pair(a.line, a.column) < std::pair(b.line, b.column);
    };
    std::stable_sort(diagnostics_.begin(), diagnostics_.end(), before);
}

namespace {

// The edit distance with transpositions of neighbours (optimal string alignment).
size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<size_t> two_back, previous(b.size() + 1), current(b.size() + 1);
    for (size_t j = 0; j <= b.size(); ++j) previous[j] = j;
    for (size_t i = 1; i <= a.size(); ++i) {
        current[0] = i;
        for (size_t j = 1; j <= b.size(); ++j) {
            const size_t substituted = previous[j - 1] + (a[i - 1] != b[j - 1]);
            current[j] = std::min({previous[j] + 1, current[j - 1] + 1, substituted});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                current[j] = std::min(current[j], two_back[j - 2] + 1);
        }
        two_back = previous;
        std::swap(previous, current);
    }
    return previous[b.size()];
}

}  // namespace

std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& candidates) {
    constexpr size_t longest_compared = 64;
    constexpr size_t most_compared = 5'000;  // a million objects would take seconds
    if (name.size() < 3) return "";          // too short: every name would be near
    if (candidates.size() > most_compared) return "";
    size_t best = name.size() / 3 + 1;
    std::string_view nearest;
    for (std::string_view candidate : candidates) {
        const size_t longer = std::max(name.size(), candidate.size());
        const size_t shorter = std::min(name.size(), candidate.size());
        if (longer > longest_compared || longer - shorter > best) continue;
        const size_t distance = edit_distance(name, candidate);
        // Ties go to the alphabetically first, so that the answer does not depend on hashing.
        const bool first_of_ties = distance == best && !nearest.empty() && candidate < nearest;
        if (distance >= best && !first_of_ties) continue;
        best = distance;
        nearest = candidate;
    }
    return nearest.empty() ? "" : "did you mean " + quoted(nearest) + "?";
}

std::string did_you_mean(std::string_view name, const Names& candidates) {
    std::vector<std::string_view> names;
    for (const auto& [candidate, id] : candidates) names.push_back(candidate);
    return did_you_mean(name, names);
}

std::string quoted(std::string_view text) {
    constexpr size_t shown = 60;
    return "'" + std::string(text.substr(0, shown)) + (text.size() > shown ? "...'" : "'");
}

}  // namespace planlog
