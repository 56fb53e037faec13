// A link beneath each whole model of the book, which opens it in the playground: where one lies beside the book.
(async () => {
  const place = new URL(`${typeof path_to_root === "string" ? path_to_root : ""}playground/`, location.href);
  const models = Array.from(document.querySelectorAll("pre > code[class*=language-bir]"), (code) => [code.parentElement, code.textContent])
    .filter(([, text]) => /^system\b/m.test(text));
  if (models.length === 0) return;
  const answer = await fetch(new URL("page.js", place), { method: "HEAD" }).catch(() => null);
  if (!answer?.ok) return;
  for (const [block, text] of models) {
    const letters = Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");
    const link = document.createElement("a");
    link.href = `${new URL("index.html", place)}#t=${btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
    link.textContent = "open in the playground";
    block.after(link);
  }
})();
