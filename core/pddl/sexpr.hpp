// S-expressions: PDDL text as nested lists of tokens.
//
// A document is a flat array of nodes in the order of the text: a list is followed by its members,
// and every node knows where the one after it begins. So a file of several megabytes is read in a
// single pass without recursion.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pddl/diagnostics.hpp"

namespace planlog {

class Document {
  public:
    explicit Document(std::string_view text);
    Document(const Document&) = delete;
    Document& operator=(const Document&) = delete;

    // Parses the text. Reports an error and returns false unless it is one balanced list.
    bool parse(Reporter& report);

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

// A token or a list of a document. Node 0 is the outermost list.
class Expr {
  public:
    Expr(const Document& document, uint32_t node) : document_(&document), node_(node) {}

    bool is_list() const { return node().is_list; }
    size_t begin_byte() const { return node().begin; }
    size_t end_byte() const { return node().end; }
    // The token in lower case; of a list, all its text.
    std::string_view text() const {
        return {document_->lower_.data() + begin_byte(), end_byte() - begin_byte()};
    }
    // The same as written by the user.
    std::string_view written() const {
        return document_->text_.substr(begin_byte(), end_byte() - begin_byte());
    }
    bool is(std::string_view token) const { return !is_list() && text() == token; }
    // The first member of a list if it is a token, otherwise an empty text.
    std::string_view head() const {
        return !is_list() || first() == end() || first().is_list() ? "" : first().text();
    }
    // The members of a list, and those after the first; a token has none.
    std::vector<Expr> members() const;
    std::vector<Expr> arguments() const;
    // The first member and the next sibling, to iterate over long lists; both may be end().
    Expr first() const { return {*document_, node_ + 1}; }
    Expr next() const { return {*document_, node().next}; }
    Expr end() const { return next(); }
    bool operator==(const Expr& other) const { return node_ == other.node_; }

  private:
    const Document::Node& node() const { return document_->nodes_[node_]; }

    const Document* document_;
    uint32_t node_;
};

}  // namespace planlog
