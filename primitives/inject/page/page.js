// page reports which document this is.

/** httpStatus is the status with which the document was answered, 0 when it is not known. */
const httpStatus = () => {
  const [entry] = performance.getEntriesByType('navigation');
  return (entry && entry.responseStatus) || 0;
};

queries.page_info = () => ({
  url: documentURLOf(document),
  title: documentTitleOf(document),
  http_status: httpStatus() || undefined
});
