// Collection of located diagnostics, and suggestions for misspelt names.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pddl/pddl.hpp"

namespace planlog {

// Turns byte ranges of a text into diagnostics. After `limit` errors it is full: it drops further
// ones, and readers stop early. It also keeps at most `limit` warnings.
class Reporter {
  public:
    static constexpr size_t limit = 50;

    Reporter(std::string_view text, std::vector<Diagnostic>& diagnostics)
        : text_(text), diagnostics_(diagnostics) {}
    ~Reporter();  // sorts the diagnostics by position
    Reporter(const Reporter&) = delete;
    Reporter& operator=(const Reporter&) = delete;

    void add(Severity severity, size_t begin, size_t end, std::string message, std::string hint);
    bool full() const { return errors_ >= limit; }
    bool failed() const { return errors_ > 0; }

  private:
    std::string_view text_;
    std::vector<Diagnostic>& diagnostics_;
    size_t errors_ = 0, warnings_ = 0;
};

// Line and column of a byte of the text, both counted from 1.
std::pair<uint32_t, uint32_t> locate(std::string_view text, size_t position);

// Names in lower case to their ids; the views must outlive the map.
using Names = std::unordered_map<std::string_view, uint32_t>;

// "did you mean 'x'?" for the nearest candidate in edit distance; empty if none is near, or if
// there are too many to compare.
std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& candidates);
std::string did_you_mean(std::string_view name, const Names& candidates);

// The text in quotes, shortened if it is long.
std::string quoted(std::string_view text);

}  // namespace planlog
