#include "cube/cubepl/parser.hpp"

#include <algorithm>
#include <utility>

#include "cube/archive/error.hpp"

namespace tailrace::cube {
namespace {

constexpr int kMostNested = 500;      // blocks and parentheses
constexpr uint32_t kDeepest = 5'000;  // operators behind one another

class Parser {
 public:
  Parser(std::string_view text, const Source& source, Symbols& symbols)
      : text_(text), tokens_(tokens_of(text, source)), source_(source), symbols_(symbols) {}

  Program program() {
    Program program;
    program.where = source_.where;
    locals_ = &program.locals;
    program.root = expression();
    accept(";");
    if (peek().kind != Token::Kind::end) refuse(source_, peek(), "expected the end of the expression");
    return program;
  }

 private:
  // ---- tokens ----

  const Token& peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const Token& take() {
    const Token& token = peek();
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  bool accept(std::string_view symbol) {
    if (!peek().is(symbol)) return false;
    take();
    return true;
  }
  bool accept_word(std::string_view word) {
    if (!peek().is_word(word)) return false;
    take();
    return true;
  }
  void expect(std::string_view symbol) {
    if (!accept(symbol)) refuse(source_, peek(), "expected `" + std::string(symbol) + "`");
  }

  Node at(const Token& token, Op op, std::vector<Node> children = {}) const {
    Node node;
    node.op = op;
    node.line = token.line;
    node.column = token.column;
    for (const Node& child : children) node.depth = std::max(node.depth, child.depth + 1);
    if (node.depth > kDeepest) refuse(source_, token, "expected at most 5000 operators behind one another, at");
    node.children = std::move(children);
    return node;
  }

  struct Depth {
    Depth(Parser& parser) : depth(parser.depth_) {
      if (++depth > kMostNested) refuse(parser.source_, parser.peek(), "expected at most 500 levels, found more, at");
    }
    ~Depth() { --depth; }
    int& depth;
  };

  // ---- expressions, the loosest operators first ----

  Node expression() {
    const Depth deeper(*this);
    return logical();
  }

  // "and", "or" and "xor" bind equally.
  Node logical() {
    Node left = negation();
    while (peek().is_word("and") || peek().is_word("or") || peek().is_word("xor")) {
      const Token& token = take();
      const Op op = token.text == "and" ? Op::logical_and : token.text == "or" ? Op::logical_or : Op::logical_xor;
      left = pair(token, op, std::move(left), negation());
    }
    return left;
  }

  Node negation() {
    if (!peek().is_word("not")) return comparison();
    const Depth deeper(*this);
    const Token& token = take();
    return at(token, Op::logical_not, only(negation()));
  }

  Node comparison() {
    Node left = sum();
    for (;;) {
      const Token& token = peek();
      const Op op = comparing(token);
      if (op == Op::nothing) return left;
      take();
      if (op == Op::matches) {
        const Token& pattern = take();
        if (pattern.kind != Token::Kind::regex) refuse(source_, pattern, "expected a regular expression, /…/");
        left = at(token, op, only(std::move(left)));
        left.regex = regex(pattern);
      } else {
        left = pair(token, op, std::move(left), sum());
      }
    }
  }

  static Op comparing(const Token& token) {
    static const std::pair<const char*, Op> kSymbols[] = {
        {"<", Op::less},   {"<=", Op::less_equal}, {">", Op::greater}, {">=", Op::greater_equal},
        {"==", Op::equal}, {"!=", Op::not_equal},  {"=~", Op::matches}};
    for (const auto& [symbol, op] : kSymbols) {
      if (token.is(symbol)) return op;
    }
    if (token.is_word("eq")) return Op::same_text;
    return token.is_word("seq") ? Op::same_text_any_case : Op::nothing;
  }

  std::shared_ptr<const Regex> regex(const Token& pattern) const {
    try {
      return std::make_shared<const Regex>(pattern.text);
    } catch (const Error& error) {
      refuse(source_, pattern, std::string("expected Perl's syntax, found ") + error.what());
    }
  }

  Node sum() {
    Node left = product();
    while (peek().is("+") || peek().is("-")) {
      const Token& token = take();
      left = pair(token, token.text == "+" ? Op::add : Op::subtract, std::move(left), product());
    }
    return left;
  }

  Node product() {
    Node left = sign();
    while (peek().is("*") || peek().is("/")) {
      const Token& token = take();
      left = pair(token, token.text == "*" ? Op::multiply : Op::divide, std::move(left), sign());
    }
    return left;
  }

  Node sign() {
    if (!peek().is("-") && !peek().is("+")) return power();
    const Depth deeper(*this);
    const Token& token = take();
    Node operand = sign();
    return token.text == "-" ? at(token, Op::negate, only(std::move(operand))) : operand;
  }

  // Groups from the left.
  Node power() {
    Node base = operand();
    while (peek().is("^")) {
      const Token& token = take();
      base = pair(token, Op::power, std::move(base), exponent());
    }
    return base;
  }

  Node exponent() {
    const Token& token = peek();
    return accept("-") ? at(token, Op::negate, only(operand())) : operand();
  }

  static std::vector<Node> only(Node child) {
    std::vector<Node> children;
    children.push_back(std::move(child));
    return children;
  }

  Node pair(const Token& token, Op op, Node left, Node right) const {
    std::vector<Node> children = only(std::move(left));
    children.push_back(std::move(right));
    return at(token, op, std::move(children));
  }

  // ---- operands ----

  Node operand() {
    const Token& token = peek();
    switch (token.kind) {
      case Token::Kind::number: return constant(take());
      case Token::Kind::text: return text(take());
      case Token::Kind::variable: return variable();
      case Token::Kind::name: return named();
      default: break;
    }
    if (token.is("{")) return block();
    if (accept("(")) {
      Node inner = expression();
      expect(")");
      return inner;
    }
    if (!accept("|")) refuse(source_, token, "expected an expression");
    Node magnitude = at(token, Op::call, only(expression()));
    magnitude.function = Function::abs;
    expect("|");
    return magnitude;
  }

  Node constant(const Token& token) const {
    Node node = at(token, Op::number);
    node.number = token.number;
    return node;
  }

  Node text(const Token& token) const {
    Node node = at(token, Op::text);
    node.text = token.text;
    return node;
  }

  Node variable() {
    const Token& token = take();
    Node node = reference(token, token.text);
    if (accept("[")) {
      node.children.push_back(expression());
      expect("]");
    }
    return node;
  }

  Node reference(const Token& token, const std::string& name) {
    Node node = at(token, Op::local);
    if (const auto known = predefined_of(name)) {
      node.op = Op::predefined;
      node.predefined = *known;
    } else if (symbols_.is_global(name)) {
      node.op = Op::global;
      node.slot = symbols_.global(name);
    } else {
      node.slot = local(name);
    }
    return node;
  }

  uint32_t local(const std::string& name) {
    const auto found = std::find(locals_->begin(), locals_->end(), name);
    if (found != locals_->end()) return static_cast<uint32_t>(found - locals_->begin());
    locals_->push_back(name);
    return static_cast<uint32_t>(locals_->size() - 1);
  }

  Node named() {
    const Token& token = peek();
    if (token.text.starts_with("metric::")) return metric();
    if (token.text.starts_with("cube::metric::get::")) return metric_property("cube::metric::get::", false);
    if (token.text == "arg1" || token.text == "arg2") {
      Node node = at(take(), Op::argument);
      node.slot = token.text == "arg1" ? 1 : 2;
      return node;
    }
    if (token.text == "true" || token.text == "false") {
      Node node = at(take(), Op::number);
      node.number = token.text == "true" ? 1 : 0;
      return node;
    }
    if (token.text == "sizeof" || token.text == "defined") return about_variable();
    return call();
  }

  Node about_variable() {
    const Token& token = take();
    expect("(");
    const Token& name = take();
    if (name.kind != Token::Kind::name && name.kind != Token::Kind::variable) {
      refuse(source_, name, "expected the name of a variable");
    }
    expect(")");
    return at(token, token.text == "sizeof" ? Op::size_of : Op::is_defined, only(reference(name, name.text)));
  }

  Node call() {
    const Token& token = take();
    const auto function = function_of(token.text);
    if (!function) refuse(source_, token, "expected a function, a variable ${…} or a metric metric::…()");
    expect("(");
    Node node = at(token, Op::call);
    node.function = function->function;
    node.children.push_back(expression());
    while (accept(",")) node.children.push_back(expression());
    if (node.children.size() != function->operands) {
      refuse(source_, token,
             "expected " + std::to_string(function->operands) + " operands, found " +
                 std::to_string(node.children.size()) + ", of");
    }
    expect(")");
    return node;
  }

  // ---- metrics ----

  Node metric() {
    const Token& token = take();
    std::string_view name = token.text;
    name.remove_prefix(std::string_view("metric::").size());
    Node node = at(token, Op::metric);
    for (const std::string_view prefix : {"fixed::", "context::", "prederived::", "postderived::"}) {
      if (!name.starts_with(prefix)) continue;
      if (prefix == "fixed::") node.reference.system = Reference::System::whole_program;
      name.remove_prefix(prefix.size());
      break;
    }
    if (name.empty()) refuse(source_, token, "expected the unique name of a metric");
    if (name.find("::") != std::string_view::npos && (name.starts_with("call::") || name.starts_with("set::"))) {
      refuse(source_, token, "expected metric::NAME or metric::fixed::NAME");
    }
    node.text = name;
    node.slot = symbols_.metric(node.text);
    expect("(");
    if (!accept(")")) {
      const bool fixed = node.reference.system != Reference::System::location;
      node.reference.call = flavour();
      if (fixed) node.reference.system = Reference::System::all_locations;
      // The exclusive value of a location and its inclusive one are equal.
      if (accept(",") && flavour() != Reference::Call::as_calculated) {
        node.reference.system = Reference::System::location;
      }
      expect(")");
    }
    return node;
  }

  Reference::Call flavour() {
    if (accept("*")) return Reference::Call::as_calculated;
    if (accept_word("i")) return Reference::Call::inclusive;
    if (accept_word("e")) return Reference::Call::exclusive;
    refuse(source_, peek(), "expected i, e or *");
  }

  // cube::metric::set::NAME("property", value) and cube::metric::get::NAME("property")
  Node metric_property(std::string_view prefix, bool set) {
    const Token& token = take();
    Node node = at(token, set ? Op::set_metric_property : Op::metric_property);
    node.slot = symbols_.metric(token.text.substr(prefix.size()));
    expect("(");
    const Token& property = take();
    if (property.kind != Token::Kind::text)
      refuse(source_, property, "expected a property in quotes, such as \"value\"");
    node.text = property.text;
    if (set) {
      expect(",");
      node.children.push_back(expression());
    }
    expect(")");
    return node;
  }

  // cube::metric::prederived::NAME(e) << expression >>
  Node definition(std::string_view prefix, Metric::Kind kind) {
    const Token& token = take();
    const std::string name = token.text.substr(prefix.size());
    if (accept("(")) {
      if (!peek().is(")") && flavour() == Reference::Call::inclusive && kind == Metric::Kind::prederived_exclusive) {
        kind = Metric::Kind::prederived_inclusive;
      }
      expect(")");
    }
    expect("<<");
    Symbols::Defined defined{name, kind, {}, ""};
    const size_t begin = peek().begin;
    defined.program.where = source_.where + ", metric " + name;
    std::vector<std::string>* const outer = std::exchange(locals_, &defined.program.locals);
    defined.program.root = expression();
    locals_ = outer;
    defined.text = text_.substr(begin, tokens_[at_ - 1].end - begin);
    accept(";");
    expect(">>");
    symbols_.metric(name);
    symbols_.define(std::move(defined));
    return at(token, Op::nothing);
  }

  // ---- statements ----

  Node block() {
    const Depth deeper(*this);
    const Token& token = peek();
    expect("{");
    Node node = at(token, Op::block);
    while (!accept("}")) {
      if (peek().kind == Token::Kind::end) refuse(source_, peek(), "expected }");
      if (accept(";")) continue;
      node.children.push_back(statement());
      if (!peek().is("}")) end_statement(node.children.back().op);
    }
    return node;
  }

  // Statements that end with a block need no semicolon.
  void end_statement(Op op) {
    if (accept(";") || op == Op::choose || op == Op::repeat || op == Op::nothing) return;
    refuse(source_, peek(), "expected ; or }");
  }

  Node statement() {
    const Token& token = peek();
    if (token.kind == Token::Kind::variable) return assignment();
    if (token.is_word("if")) return choice();
    if (token.is_word("while")) return loop();
    if (accept_word("return")) return at(token, Op::give, only(expression()));
    if (token.is_word("global") || token.is_word("local")) return declaration();
    if (token.is_word("print")) return printing();
    if (token.kind == Token::Kind::name && token.text.starts_with("cube::metric::set::")) {
      return metric_property("cube::metric::set::", true);
    }
    if (token.kind == Token::Kind::name && token.text.starts_with("cube::metric::prederived::")) {
      return definition("cube::metric::prederived::", Metric::Kind::prederived_exclusive);
    }
    if (token.kind == Token::Kind::name && token.text.starts_with("cube::metric::postderived::")) {
      return definition("cube::metric::postderived::", Metric::Kind::postderived);
    }
    refuse(source_, token, "expected a statement");
  }

  Node assignment() {
    const Token& token = peek();
    Node target = variable();
    if (target.op == Op::predefined) refuse(source_, token, "expected a variable of your own before =");
    expect("=");
    Node node = at(token, target.op == Op::global ? Op::assign_global : Op::assign_local, only(expression()));
    node.slot = target.slot;
    for (Node& index : target.children) node.children.push_back(std::move(index));
    return node;
  }

  Node choice() {
    Node node = at(take(), Op::choose);
    do {
      node.children.push_back(condition());
      node.children.push_back(block());
    } while (accept_word("elseif"));
    if (accept_word("else")) node.children.push_back(block());
    return node;
  }

  Node loop() {
    const Token& token = take();
    Node test = condition();
    return pair(token, Op::repeat, std::move(test), block());
  }

  Node condition() {
    expect("(");
    Node test = expression();
    expect(")");
    return test;
  }

  Node declaration() {
    const Token& token = take();
    expect("(");
    const Token& name = take();
    if (name.kind != Token::Kind::name && name.kind != Token::Kind::variable) {
      refuse(source_, name, "expected the name of a variable");
    }
    if (token.text == "global") symbols_.global(name.text);
    expect(")");
    return at(token, Op::nothing);
  }

  Node printing() {
    const Token& token = take();
    expect("(");
    Node value = expression();
    expect(")");
    return at(token, Op::print, only(std::move(value)));
  }

  const std::string_view text_;
  const std::vector<Token> tokens_;
  const Source& source_;
  Symbols& symbols_;
  std::vector<std::string>* locals_ = nullptr;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Program parse(std::string_view text, const Source& source, Symbols& symbols) {
  return Parser(text, source, symbols).program();
}

std::string rename_locals(std::string_view text, const Source& source, std::set<std::string>& globals,
                          const std::string& suffix) {
  const std::vector<Token> tokens = tokens_of(text, source);
  const auto named = [&](size_t at) {  // the word before the parenthesis before token `at`
    const bool behind = at > 1 && tokens[at - 1].is("(") && tokens[at - 2].kind == Token::Kind::name;
    return behind ? std::string_view(tokens[at - 2].text) : std::string_view();
  };
  std::string result;
  size_t copied = 0;
  for (size_t at = 0; at < tokens.size(); ++at) {
    const Token& token = tokens[at];
    const std::string_view word = named(at);
    if (word == "global") globals.insert(token.text);
    const bool is_variable =
        token.kind == Token::Kind::variable ||
        (token.kind == Token::Kind::name && (word == "local" || word == "sizeof" || word == "defined"));
    if (!is_variable || globals.contains(token.text) || predefined_of(token.text)) continue;
    const size_t end = text.find(token.text, token.begin) + token.text.size();
    result.append(text.substr(copied, end - copied)).append(suffix);
    copied = end;
  }
  size_t last = tokens.size() - 1;  // the end
  while (last > 0 && (tokens[last].kind == Token::Kind::end || tokens[last].is(";"))) --last;
  return result.append(text.substr(copied, std::max(copied, tokens[last].end) - copied));
}

}  // namespace tailrace::cube
