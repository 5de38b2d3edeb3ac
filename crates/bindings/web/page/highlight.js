// Colours of source text.

const escapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Text as HTML. */
export const escapeHtml = (text) => text.replace(/[&<>"]/g, (c) => escapes[c]);

const KEYWORDS = new RegExp("^(?:Op[A-Z]\\w*|" + [
  "define", "declare", "ret", "br", "phi", "load", "store", "getelementptr", "call", "tail", "alloca", "icmp", "fcmp", "add", "sub", "mul", "fadd", "fsub",
  "fmul", "fdiv", "select", "type", "target", "attributes", "let", "in", "if", "then", "else", "loop", "for", "do", "while", "def", "entry", "fn",
  "var", "const", "return", "struct", "override", "func", "module", "kernel", "map", "reduce", "scan", "iota", "replicate", "with", "val", "import", "open",
  "local", "launch", "host", "true", "false", "void", "continue", "break", "switch",
].join("|") + ")$");

// Comments, strings, ids, numbers, words.
const TOKEN = /(\/\/.*|--(?![>-]).*|;.*)|("(?:[^"\\\n]|\\.)*")|([%@!#][-\w.$]+)|(\b\d[\w.+-]*|\b0x[\da-fA-F]+)|([A-Za-z_][\w.]*)/g;

/** A line as HTML. In languages whose comments begin with a semicolon alone, `semicolon` is true. */
export function colourLine(line, semicolon) {
  let html = "";
  let end = 0;
  for (const token of line.matchAll(TOKEN)) {
    const [text, comment, string, id, number, word] = token;
    if (comment && comment.startsWith(";") !== semicolon) {
      // A mark of comments in another language.
      if (!semicolon && comment.startsWith(";")) {
        html += escapeHtml(line.slice(end, token.index + 1));
        html += colourLine(line.slice(token.index + 1), semicolon);
        return html;
      }
      if (semicolon) { html += escapeHtml(line.slice(end, token.index)) + escapeHtml(text); end = token.index + text.length; continue; }
    }
    html += escapeHtml(line.slice(end, token.index));
    end = token.index + text.length;
    const kind = comment ? "c" : string ? "s" : id ? "n" : number ? "l" : KEYWORDS.test(word) ? "k" : "";
    html += kind ? `<span class="${kind}">${escapeHtml(text)}</span>` : escapeHtml(text);
  }
  return html + escapeHtml(line.slice(end));
}

/** Whether comments of a text begin with semicolons. */
export const hasSemicolonComments = (text) => /^\s*(?:;|OpCapability|target |define |%\S+ = Op)/m.test(text.slice(0, 4000));
