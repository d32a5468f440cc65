// viewport_info answers how large the viewport and the page are and in what scale they are drawn.
queries.viewport_info = () => ({
  url: documentURLOf(document),
  viewport: {
    width: innerWidth,
    height: innerHeight,
    device_pixel_ratio: devicePixelRatio,
    scroll_x: scrollX,
    scroll_y: scrollY
  },
  page: pageSize()
});

/** pageSize is what scrolling can show of the document. */
function pageSize() {
  const parts = [rootElement(), bodyOf()].filter(Boolean);
  const scroller = protoGet(document, 'scrollingElement');
  const most = (name, least) =>
    Math.ceil(Math.max(least, ...(scroller ? [scroller] : parts).map((node) => protoGet(node, name) || 0)));
  return { width: most('scrollWidth', innerWidth), height: most('scrollHeight', innerHeight) };
}
