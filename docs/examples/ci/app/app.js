const editor = document.querySelector("#editor");
document.querySelector("#new").addEventListener("click", () => editor.showModal());
document.querySelector("#cancel").addEventListener("click", () => editor.close());
