// PDDL text as nested lists of tokens.
//
// A document is one flat array of nodes in the order of the text: a list is
// followed by its members, and every node knows where the one after it begins.
// Reading a file of several megabytes is a single pass without recursion.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pddl/diagnostics.hpp"

namespace planlog {

class Document;

// A token or a list of a document.
class Expr {
  public:
    Expr(const Document& document, uint32_t node) : document_(&document), node_(node) {}

    bool is_list() const;
    size_t begin_byte() const;
    size_t end_byte() const;
    std::string_view text() const;     // the token in lower case; of a list, all its text
    std::string_view written() const;  // the same as written by the user
    bool is(std::string_view token) const { return !is_list() && text() == token; }
    // The first member of a list if that is a token, else an empty text.
    std::string_view head() const;
    // The members of a list, and those after the first; a token has none.
    std::vector<Expr> members() const;
    std::vector<Expr> arguments() const;
    // First member and next sibling, for walking through long lists; both may be end().
    Expr first() const { return {*document_, node_ + 1}; }
    Expr next() const;
    Expr end() const { return next(); }
    bool operator==(const Expr& other) const { return node_ == other.node_; }

  private:
    const Document* document_;
    uint32_t node_;
};

class Document {
  public:
    explicit Document(std::string_view text);
    Document(const Document&) = delete;
    Document& operator=(const Document&) = delete;

    // Whether the text is one balanced list; if not, the reason was reported.
    bool parse(Reporter& report);
    Expr root() const { return {*this, 0}; }

  private:
    friend class Expr;
    struct Node {
        uint32_t begin, end;  // bytes
        uint32_t next;        // the node after this one and all its members
        bool is_list;
    };

    std::string_view text_;
    std::string lower_;
    std::vector<Node> nodes_;
};

inline bool Expr::is_list() const { return document_->nodes_[node_].is_list; }
inline size_t Expr::begin_byte() const { return document_->nodes_[node_].begin; }
inline size_t Expr::end_byte() const { return document_->nodes_[node_].end; }
inline Expr Expr::next() const { return {*document_, document_->nodes_[node_].next}; }
inline std::string_view Expr::text() const {
    return {document_->lower_.data() + begin_byte(), end_byte() - begin_byte()};
}
inline std::string_view Expr::written() const {
    return document_->text_.substr(begin_byte(), end_byte() - begin_byte());
}
inline std::string_view Expr::head() const {
    return !is_list() || first() == end() || first().is_list() ? "" : first().text();
}

}  // namespace planlog
