// The readers of PDDL: from text to domains and tasks, with located diagnostics.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pddl/domain.hpp"

namespace planlog {

enum class Severity : uint8_t { Error, Unsupported, Warning };

// An error or warning with its position, and a hint how to correct it (may be empty). Lines and
// columns count from 1; columns, and the length of the underlined part, are in bytes.
struct Diagnostic {
    Severity severity;
    uint32_t line;
    uint32_t column;
    uint32_t length;
    std::string message;
    std::string hint;
};

// Return nothing if there was an error. Warnings may accompany a result.
std::optional<Domain> read_domain(std::string_view text, std::vector<Diagnostic>& diagnostics);
std::optional<Task> read_task(const Domain& domain, std::string_view text,
                              std::vector<Diagnostic>& diagnostics);

}  // namespace planlog
