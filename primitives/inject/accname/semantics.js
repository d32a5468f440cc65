// semantics answers what custom elements say of themselves where no attribute
// shows it: role, name and states that a component gives the browser through its
// ElementInternals. Only the browser's accessibility tree has them.
//
// The first elements of each custom tag are handed to the host, which queries
// the browser and calls outrider.describe with the result. A tag whose elements have
// no semantics of their own is not queried again. Of the other tags each element is
// queried, and once more for every snapshot, since states change. What is not exposed
// is not queried: the browser says nothing of it. It is queried once it is shown.

const maxQueries = 512; // elements that one walk queries
const maxUnseen = 5; // times that the browser may say nothing of an element that looks exposed
const maxSamples = 3; // elements of one tag that are queried before the tag counts as plain

/** semanticsOf is the role, label and states that a custom element gives itself, or undefined. */
const semanticsOf = (node, tag) =>
  memory.queriedTags.size > 0 && tag.includes('-') ? memory.semantics.get(node) : undefined;

/** speakingTags are the tags of elements that have a role of their own making. */
const speakingTags = () =>
  [...memory.queriedTags].filter(([, record]) => record.hasSemantics).map(([tag]) => CSS.escape(tag));

/** mayQuery: the browser may know of a custom element what we do not. */
function mayQuery(node, tag) {
  if (memory.queriedHosts.has(node)) return memory.semantics.has(node);
  if ((memory.unseenHosts.get(node) || 0) >= maxUnseen || unexposed(node)) return false;
  const record = memory.queriedTags.get(tag);
  return !(record && !record.hasSemantics && record.queried >= maxSamples) && matchesCSS(node, ':defined');
}

/**
 * wantsSemantics: the browser should be queried about a custom element, for the first
 * time, or again because its states may have changed. The first walk of a snapshot queries
 * all that have semantics, and the walks after it those that were not queried yet.
 */
function wantsSemantics(node, tag, walk) {
  if (!tag.includes('-')) return false;
  if (!memory.queriedHosts.has(node)) return mayQuery(node, tag);
  const own = walk !== undefined && memory.semantics.get(node);
  return Boolean(own) && (walk === 'first' || !own.fresh);
}

/** querySemantics is the handle of an element, marked when the browser is to be queried about it. */
function querySemantics(node) {
  const tag = localNameOf(node);
  if (!tag.includes('-') || !mayQuery(node, tag)) return keep(node);
  memory.queriedHosts.add(node);
  if (memory.semantics.has(node)) memory.semantics.get(node).fresh = false;
  if (!memory.queriedTags.has(tag)) memory.queriedTags.set(tag, { queried: 0, hasSemantics: false });
  return '?' + keep(node);
}

const reportedStates = [
  'checked', 'selected', 'expanded', 'pressed', 'disabled', 'required', 'invalid', 'readonly', 'level', 'hasPopup',
  'valuetext'
];
const checkedRoles = /^(?:checkbox|menuitemcheckbox|menuitemradio|radio|switch)$/;

/**
 * describe takes what the browser reports of an element: {role, name, value, ignored,
 * unseen, states}. It returns whether that is more than attributes have. unseen: the
 * browser left it out because it is not shown, and can be queried again.
 */
outrider.describe = (handle, reported) => {
  const node = element(handle);
  if (!node) return false;
  const tag = localNameOf(node);
  const about = memory.queriedTags.get(tag) || { queried: 0, hasSemantics: false };
  memory.queriedTags.set(tag, about);
  if (reported.ignored && reported.unseen) {
    if (!memory.semantics.has(node)) {
      memory.queriedHosts.delete(node);
      memory.unseenHosts.set(node, (memory.unseenHosts.get(node) || 0) + 1);
    } else memory.semantics.get(node).fresh = true;
    return false;
  }
  about.queried++;
  const explicit = explicitRole(node);
  let role = reported.ignored ? '' : reported.role === 'image' ? 'img' : reported.role.toLowerCase();
  if (!knownRoles.has(role) || role === 'generic' || role === 'none' || role === 'presentation' || explicit !== '')
    role = '';
  const states = {};
  for (const state of reportedStates) if (reported.states[state] !== undefined) states[state] = reported.states[state];
  if (typeof reported.value === 'string' || typeof reported.value === 'number') states.value = String(reported.value);
  const implied = checkedRoles.test(explicit) && !hasAttribute(node, 'aria-checked') && states.checked !== undefined ||
    explicit === 'option' && !hasAttribute(node, 'aria-selected') && states.selected === true ||
    explicit !== '' && states.expanded !== undefined && !hasAttribute(node, 'aria-expanded');
  if (role === '' && !implied) {
    memory.semantics.delete(node);
    return false;
  }
  about.hasSemantics = true;
  memory.semantics.set(node, { role, label: '', states, fresh: true });
  const name = norm(reported.name);
  if (name !== '' && nameOf(node) !== name) memory.semantics.get(node).label = name;
  return true;
};

/** fillOwnStates adds to a row the states that no attribute gives. */
function fillOwnStates(row, node, tag, role) {
  const own = semanticsOf(node, tag);
  if (!own) return;
  const { states } = own;
  const yes = (value) => value === true || value === 'true';
  if (checkedRoles.test(role) && states.checked !== undefined && !hasAttribute(node, 'aria-checked'))
    row.checked = states.checked === 'mixed' ? 'mixed' : yes(states.checked);
  if (row.selected !== true && yes(states.selected)) row.selected = true;
  if (row.expanded === undefined && states.expanded !== undefined) row.expanded = yes(states.expanded);
  if (row.pressed === undefined && role === 'button' && states.pressed !== undefined)
    row.pressed = states.pressed === 'mixed' ? 'mixed' : yes(states.pressed);
  for (const state of ['disabled', 'required', 'readonly']) if (yes(states[state])) row[state] = true;
  if (states.invalid !== undefined && String(states.invalid) !== 'false') row.invalid = true;
  if (
    row.haspopup === undefined &&
    states.hasPopup !== undefined &&
    states.hasPopup !== 'false' &&
    states.hasPopup !== ''
  )
    row.haspopup = cut(String(states.hasPopup), 20);
  if (role === 'heading' && !hasAttribute(node, 'aria-level') && states.level > 0) row.level = states.level;
  if (
    row.value === undefined &&
    (states.valuetext || states.value) &&
    /^(?:combobox|meter|progressbar|scrollbar|slider|spinbutton)$/.test(role)
  )
    row.value = cut(String(states.valuetext || states.value), maxRowName);
}
