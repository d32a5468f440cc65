// page_hover answers whether the pointer is over an element, as the page's styles and
// scripts see it.

queries.is_hovered = ({ handle }) => {
  const node = element(handle);
  return {
    hovered: node !== null && isConnected(node) && matchesCSS(node, ':hover'),
    ref: node && isConnected(node) ? refOf(node) : ''
  };
};
