// viewport_info answers how large the viewport is and in what scale it is drawn.
questions.viewport_info = () => ({
  url: documentURLOf(document),
  viewport: { width: innerWidth, height: innerHeight, device_pixel_ratio: devicePixelRatio, scroll_x: scrollX, scroll_y: scrollY },
});
