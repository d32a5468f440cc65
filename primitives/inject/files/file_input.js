// file_input answers which file input a locator means: the element itself, also
// one that is not rendered, or the control of a label.

queries.file_input = ({ locator, view }) => {
  const { nodes, trace } = locateToAct(locator);
  if (nodes.length === 0) throw notFound(locator, trace);
  const inputOf = (node) => {
    const control = tagOf(node) === 'label' ? protoGet(node, 'control') : node;
    return control && tagOf(control) === 'input' && protoGet(control, 'type') === 'file' ? control : null;
  };
  const inputs = nodes.map(inputOf).filter((node) => node !== null);
  if (inputs.length === 0) return { handle: null, target: actedTarget(nodes[0], viewOf(view)) };
  const input = inputs[0];
  return {
    handle: keep(input), target: actedTarget(input, viewOf(view)), multiple: protoGet(input, 'multiple') === true,
    disabled: isDisabled(input), directory: protoGet(input, 'webkitdirectory') === true,
    name: cut(attributeOf(input, 'name') || '', 200), id: cut(idOf(input) || '', 200), matches: inputs.length,
  };
};

/** chosen_files answers which files a file input has. */
queries.chosen_files = ({ handle }) => {
  const files = protoGet(elementOf(handle), 'files');
  return { names: files ? Array.from(files, (f) => f.name) : [] };
};
