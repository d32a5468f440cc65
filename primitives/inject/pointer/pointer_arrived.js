// pointer_arrived answers whether a movement of the pointer came to a document. The browser finds the frame of
// input by what it drew last, so a movement shows where a click would go before anything is clicked.

const arrivals = new Map(); // id -> {came, end}
const movements = ['pointerrawupdate', 'pointermove', 'mousemove', 'pointerover', 'mouseover'];

/** Milliseconds after which a watch that nobody reads ends by itself. */
const arrivalLife = 5000;

/** Pixels by which a movement may miss its point: views of frames are rounded. */
const arrivalSlack = 2;

/** watchArrival hears of movements in the document that win shows. at is where one is expected, in its own pixels. */
function watchArrival(id, win, at) {
  const arrival = { came: false, near: false };
  const onMove = (event) => {
    if (!event.isTrusted) return;
    arrival.came = true;
    if (Math.abs(event.clientX - at.x) <= arrivalSlack && Math.abs(event.clientY - at.y) <= arrivalSlack)
      arrival.near = true;
  };
  const options = { capture: true, passive: true };
  for (const name of movements) listen(win, name, onMove, options);
  const timer = setTimeout(() => arrival.end(), arrivalLife);
  arrival.end = () => {
    clearTimeout(timer);
    for (const name of movements) unlisten(win, name, onMove, options);
    arrivals.delete(id);
  };
  const earlier = arrivals.get(id);
  if (earlier) earlier.end();
  arrivals.set(id, arrival);
}

queries.pointer_arrived = ({ id }) => {
  const arrival = arrivals.get(id);
  if (!arrival) return { came: false, near: false };
  arrival.end();
  return { came: arrival.came, near: arrival.near };
};
