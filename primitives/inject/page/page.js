// page reports which document this is.

/** httpStatus is the status with which the document was answered, 0 when it is not known. */
const httpStatus = () => {
  const [entry] = here.performance.getEntriesByType('navigation');
  return (entry && entry.responseStatus) || 0;
};

/** Types of documents that are no text: the browser shows them by means of its own. */
const fileTypes = /^(?:application\/pdf|text\/pdf|(?:audio|video)\/.+|image\/(?!svg\+xml).+)$/i;

const contentTypeOf = getterOf(Document.prototype, 'contentType');

/** fileHere is what this document is where it is a file: its type, its size where that is known, and its name. */
function fileHere() {
  const type = contentTypeOf(document);
  if (!fileTypes.test(type)) return undefined;
  const [entry] = here.performance.getEntriesByType('navigation');
  const last = here.location.pathname.split('/').pop();
  let name = last;
  try {
    name = decodeURIComponent(last);
  } catch {
    // it stays as it is written
  }
  const file = { content_type: type, name: cut(name, 200) };
  // Of a PDF the browser counts the page that it shows it in, and gives no size of what came.
  if (entry && entry.encodedBodySize > 0) file.bytes = entry.encodedBodySize;
  return file;
}

/** fileWords say what a file is, and how more of it is to be had. */
const fileWords = ({ content_type: type, bytes }) =>
  type + (bytes === undefined ? '' : ', ' + bytes + ' bytes') +
  '; browser.screenshot shows it, page.fetch with encoding base64 reads its bytes';

queries.page_info = () => ({
  url: documentURLOf(document),
  title: documentTitleOf(document),
  http_status: httpStatus() || undefined,
  file: fileHere(),
});
