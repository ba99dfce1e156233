#include "pddl/sexpr.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace planlog {

namespace {

constexpr size_t max_depth = 250;

enum class CharKind : uint8_t { Illegal, Space, Comment, Open, Close, Token };

constexpr std::array<CharKind, 256> char_kinds = [] {
    std::array<CharKind, 256> kinds{};
    for (size_t c = 0x21; c < 0x7f; ++c) kinds[c] = CharKind::Token;
    for (unsigned char c : {' ', '\t', '\n', '\r', '\f', '\v'}) kinds[c] = CharKind::Space;
    kinds[';'] = CharKind::Comment;
    kinds['('] = CharKind::Open;
    kinds[')'] = CharKind::Close;
    return kinds;
}();

CharKind kind_of(char c) { return char_kinds[static_cast<unsigned char>(c)]; }

// Words that begin a section: where one is met inside another section, a parenthesis is missing.
bool begins_section(std::string_view token) {
    static constexpr std::string_view sections[] = {
        ":requirements", ":types",  ":constants", ":predicates", ":functions", ":action",
        ":derived",      ":domain", ":objects",   ":init",       ":goal",      ":metric"};
    return std::find(std::begin(sections), std::end(sections), token) != std::end(sections);
}

std::string place(std::string_view text, size_t position) {
    const auto [line, column] = locate(text, position);
    return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

}  // namespace

Document::Document(std::string_view text) : text_(text), lower_(text) {
    for (char& c : lower_)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
}

bool Document::parse(Reporter& report) {
    const auto fail = [&](size_t begin, size_t end, std::string message, std::string hint = "") {
        report.add(Severity::Error, begin, end, std::move(message), std::move(hint));
        return false;
    };
    if (text_.size() >= UINT32_MAX / 2) return fail(0, 1, "the file is larger than 2 GB");
    nodes_.reserve(text_.size() / 8 + 16);
    std::vector<uint32_t> open;  // lists not closed yet, outermost first
    for (uint32_t i = 0; i < lower_.size();) {
        const uint32_t begin = i++;
        const auto here = static_cast<uint32_t>(nodes_.size());
        const CharKind kind = kind_of(lower_[begin]);
        if (kind == CharKind::Space) continue;
        if (kind == CharKind::Comment) {
            i = static_cast<uint32_t>(std::min(lower_.find_first_of("\r\n", i), lower_.size()));
            continue;
        }
        if (kind == CharKind::Illegal) {
            char byte[8];
            std::snprintf(byte, sizeof byte, "0x%02x", lower_[begin] & 0xff);
            return fail(begin, i, std::string("illegal character (byte ") + byte + ")",
                        "names consist of ASCII characters");
        }
        // A question mark begins a variable, even without a space before it.
        while (kind == CharKind::Token && i < lower_.size() && kind_of(lower_[i]) == kind &&
               lower_[i] != '?')
            ++i;
        const std::string_view token(lower_.data() + begin, i - begin);
        if (open.empty() && here > 0)
            return fail(begin, i, quoted(token) + " after the end of '(define ...)'",
                        "the ')' at " + place(text_, nodes_[0].end - 1) +
                            " closes it; is there one too many?");
        if (open.empty() && kind != CharKind::Open)
            return fail(begin, i, "expected '(define ...)', found " + quoted(token));
        if (kind == CharKind::Open) {
            if (open.size() == max_depth)
                return fail(begin, i,
                            "lists nested more than " + std::to_string(max_depth) + " deep");
            open.push_back(here);
            nodes_.push_back({begin, 0, 0, true});
        } else if (kind == CharKind::Close) {
            nodes_[open.back()].end = i;
            nodes_[open.back()].next = here;
            open.pop_back();
        } else {
            const bool heads_list = open.back() + 1 == here;
            if (token[0] == ':' && heads_list && open.size() > 2 && begins_section(token)) {
                const size_t unclosed = nodes_[open[open.size() - 2]].begin;
                return fail(unclosed, unclosed + 1,
                            "this '(' is not closed before '(" + std::string(token) + "' at " +
                                place(text_, nodes_[open.back()].begin),
                            "a ')' is missing in between");
            }
            nodes_.push_back({begin, i, here + 1, false});
        }
    }
    if (nodes_.empty()) return fail(0, 1, "the file is empty; expected '(define ...)'");
    if (!open.empty()) {
        const size_t unclosed = nodes_[open.back()].begin;
        return fail(unclosed, unclosed + 1, "the file ends before this '(' is closed",
                    std::to_string(open.size()) + " ')' missing at the end of the file");
    }
    // A sentinel, so that the end of the outermost list is a node as well.
    const auto size = static_cast<uint32_t>(text_.size());
    nodes_.push_back({size, size, static_cast<uint32_t>(nodes_.size()), false});
    return true;
}

std::vector<Expr> Expr::members() const {
    std::vector<Expr> members;
    if (is_list())
        for (Expr member = first(); member != end(); member = member.next())
            members.push_back(member);
    return members;
}

std::vector<Expr> Expr::arguments() const {
    std::vector<Expr> arguments = members();
    if (!arguments.empty()) arguments.erase(arguments.begin());
    return arguments;
}

}  // namespace planlog
