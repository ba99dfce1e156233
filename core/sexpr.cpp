#include "sexpr.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace planlog {

namespace {

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

}  // namespace

Document::Document(std::string_view text) : text_(text), lower_(text) {
    for (char& c : lower_)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
}

bool Document::parse(Reporter& report) {
    if (text_.size() >= std::numeric_limits<uint32_t>::max() / 2) {
        report.add(Severity::Error, 0, 1, "the file is larger than 2 GB");
        return false;
    }
    nodes_.reserve(text_.size() / 8 + 16);
    size_t i = 0;
    while (i < lower_.size()) {
        const size_t begin = i++;
        bool good = true;
        switch (kind_of(lower_[begin])) {
            case CharKind::Space: break;
            case CharKind::Comment: i = std::min(lower_.find('\n', i), lower_.size()); break;
            case CharKind::Open: good = open_list(begin, report); break;
            case CharKind::Close: good = close_list(begin, report); break;
            case CharKind::Token:
                while (i < lower_.size() && kind_of(lower_[i]) == CharKind::Token) ++i;
                good = add_token(begin, i, report);
                break;
            case CharKind::Illegal: {
                static constexpr char digits[] = "0123456789abcdef";
                const auto byte = static_cast<unsigned char>(lower_[begin]);
                const std::string code{'0', 'x', digits[byte >> 4], digits[byte & 15]};
                report.add(Severity::Error, begin, i, "character (byte " + code + ") outside of ASCII",
                           "names consist of letters, digits, '-' and '_'");
                good = false;
            }
        }
        if (!good) return false;
    }
    if (!open_.empty()) {
        const size_t position = nodes_[open_.back()].begin;
        report.add(Severity::Error, position, position + 1,
                   "the file ends before this '(' is closed",
                   std::to_string(open_.size()) + " ')' missing at the end of the file");
        return false;
    }
    if (nodes_.empty())
        report.add(Severity::Error, 0, 1, "the file is empty; expected '(define ...)'");
    // A sentinel, so that the end of the outermost list is a node as well.
    const auto end = static_cast<uint32_t>(text_.size());
    nodes_.push_back({end, end, static_cast<uint32_t>(nodes_.size()), false});
    return nodes_.size() > 1;
}

bool Document::open_list(size_t position, Reporter& report) {
    if (open_.empty() && !nodes_.empty())
        return report_text_after_end(position, position + 1, report);
    if (open_.size() == max_depth) {
        report.add(Severity::Error, position, position + 1,
                   "lists nested more than " + std::to_string(max_depth) + " deep");
        return false;
    }
    open_.push_back(static_cast<uint32_t>(nodes_.size()));
    nodes_.push_back({static_cast<uint32_t>(position), 0, 0, true});
    return true;
}

bool Document::close_list(size_t position, Reporter& report) {
    if (open_.empty()) {
        if (!nodes_.empty()) return report_text_after_end(position, position + 1, report);
        report.add(Severity::Error, position, position + 1, "')' without a '(' before it");
        return false;
    }
    Node& node = nodes_[open_.back()];
    node.end = static_cast<uint32_t>(position + 1);
    node.next = static_cast<uint32_t>(nodes_.size());
    open_.pop_back();
    return true;
}

bool Document::add_token(size_t begin, size_t end, Reporter& report) {
    if (open_.empty()) {
        if (!nodes_.empty()) return report_text_after_end(begin, end, report);
        report.add(Severity::Error, begin, end,
                   "expected '(define ...)', found " + quoted(text_.substr(begin, end - begin)));
        return false;
    }
    const bool first_of_list = open_.back() + 1 == nodes_.size();
    if (lower_[begin] == ':' && first_of_list && open_.size() > 2) {
        const std::string_view token = std::string_view(lower_).substr(begin, end - begin);
        if (begins_section(token)) {
            const size_t unclosed = nodes_[open_[open_.size() - 2]].begin;
            report.add(Severity::Error, unclosed, unclosed + 1,
                       "this '(' is not closed before '(" + std::string(token) + "' at " +
                           place(nodes_[open_.back()].begin),
                       "a ')' is missing in between");
            return false;
        }
    }
    const auto next = static_cast<uint32_t>(nodes_.size() + 1);
    nodes_.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(end), next, false});
    return true;
}

bool Document::report_text_after_end(size_t begin, size_t end, Reporter& report) {
    report.add(Severity::Error, begin, end,
               quoted(text_.substr(begin, end - begin)) + " after the end of '(define ...)'",
               "the ')' at " + place(nodes_[0].end - 1) + " closes it; is there one too many?");
    return false;
}

std::string Document::place(size_t position) const {
    std::vector<Diagnostic> found;
    Reporter(text_, found).add(Severity::Error, position, position + 1, {});
    return "line " + std::to_string(found[0].line) + ", column " + std::to_string(found[0].column);
}

std::vector<Expr> Expr::members() const {
    std::vector<Expr> members;
    if (is_list())
        for (Expr member = first(); member != end(); member = member.next())
            members.push_back(member);
    return members;
}

}  // namespace planlog
