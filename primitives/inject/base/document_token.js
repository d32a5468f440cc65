// document_token answers whether two page calls were evaluated in the same document.

// The library is installed once per document, so what it makes up while it
// loads is new in each.
const token = [...crypto.getRandomValues(new Uint32Array(4))].map((n) => n.toString(36)).join('-');

queries.document_token = () => ({ token });
