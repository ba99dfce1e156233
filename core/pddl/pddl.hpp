// PDDL text to domains and tasks, with located diagnostics.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pddl/domain.hpp"

namespace planlog {

enum class Severity : uint8_t { Error, Unsupported, Warning };

// What is wrong at a place of the text, and how to mend it (the hint, often empty).
// Lines and columns count from 1; columns count bytes, as does the length of the
// underlined part.
struct Diagnostic {
    Severity severity;
    uint32_t line;
    uint32_t column;
    uint32_t length;
    std::string message;
    std::string hint;
};

// Nothing is returned if there was an error; warnings may come with a result.
std::optional<Domain> read_domain(std::string_view text, std::vector<Diagnostic>& diagnostics);
std::optional<Task> read_task(const Domain& domain, std::string_view text,
                              std::vector<Diagnostic>& diagnostics);

}  // namespace planlog
