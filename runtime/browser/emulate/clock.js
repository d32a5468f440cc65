// Replaces what scripts of a document or a worker take for the time, and seeds Math.random. It runs in the
// page's own world, which can see it. config is {mode, at, started, seed}: at is the time in milliseconds since
// 1970, started what the real time was then. A second run in one document changes what the first has replaced.
(config) => {
  const key = Symbol.for('outrider.clock');
  const world = globalThis;
  if (world[key]) {
    world[key].set(config);
    return;
  }
  const {
    setTimeout: setNative, clearTimeout: clearNative, setInterval: repeatNative, clearInterval: endNative,
    requestAnimationFrame: frameNative, cancelAnimationFrame: endFrameNative,
    requestIdleCallback: idleNative, cancelIdleCallback: endIdleNative,
    Date: NativeDate, Math: math, MessageChannel: Channel, reportError: report,
  } = world;
  const realNow = NativeDate.now;
  const realRandom = math.random;
  const clock = world.performance;
  const realPerformance = clock.now.bind(clock);
  const frame = 16;
  const most = 100000; // callbacks of one change of the time

  let mode = 'off';
  let at = 0;
  let started = 0;
  let shift = 0; // of performance.now
  let fresh = true; // nothing was set
  let frozen = 0; // performance.now when the clock was paused; 0 in a document that begins so
  let frozenAt = 0; // the time then
  let random = realRandom;
  let settled = Promise.resolve();
  const now = () => {
    if (mode === 'fixed' || mode === 'paused') return at;
    return mode === 'running' ? at + realNow() - started : realNow();
  };
  const elapsed = () => (mode === 'paused' ? frozen + at - frozenAt : realPerformance() + shift);

  // Timers that wait. due is a time of elapsed; native is the browser's timer, 0 while the clock is paused.
  const timers = new Map();
  let last = 0;
  const call = (f, args) => {
    try {
      typeof f === 'function' ? f.apply(world, args) : (0, world.eval)(String(f));
    } catch (error) {
      report(error);
    }
  };
  const argumentsOf = (t) => {
    if (t.kind === 'frame') return [elapsed()];
    return t.kind === 'idle' ? [{didTimeout: false, timeRemaining: () => 0}] : t.args;
  };
  const arm = (t) => {
    const wait = Math.max(0, t.due - elapsed());
    const fire = () => {
      if (t.every === undefined) timers.delete(t.id);
      else {
        t.due = elapsed() + t.every;
        arm(t);
      }
      call(t.f, argumentsOf(t));
    };
    if (t.kind === 'frame') t.native = frameNative.call(world, fire);
    else if (t.kind === 'idle') {
      t.native = idleNative.call(world, (deadline) => {
        timers.delete(t.id);
        call(t.f, [deadline]);
      });
    } else t.native = setNative.call(world, fire, wait);
  };
  const disarm = (t) => {
    if (!t.native) return;
    if (t.kind === 'frame') endFrameNative.call(world, t.native);
    else if (t.kind === 'idle') endIdleNative.call(world, t.native);
    else clearNative.call(world, t.native);
    t.native = 0;
  };
  const add = (t) => {
    t.id = ++last;
    timers.set(t.id, t);
    if (mode !== 'paused') arm(t);
    return t.id;
  };
  const wait = (ms) => Math.max(0, Number(ms) || 0);
  const remove = (kind, native) => function (id) {
    const t = timers.get(id);
    if (!t) return native.call(world, id);
    if (t.kind !== kind) return undefined;
    timers.delete(t.id);
    disarm(t);
    return undefined;
  };
  const replace = (owner, name, value) => {
    if (!owner || !(name in owner)) return;
    const before = Object.getOwnPropertyDescriptor(owner, name);
    Object.defineProperty(owner, name, {
      value, writable: true, enumerable: !before || before.enumerable, configurable: true,
    });
  };
  replace(world, 'setTimeout', function setTimeout(f, ms, ...args) {
    return add({kind: 'timer', f, args, due: elapsed() + wait(ms)});
  });
  replace(world, 'setInterval', function setInterval(f, ms, ...args) {
    const every = Math.max(1, wait(ms));
    return add({kind: 'timer', f, args, due: elapsed() + every, every});
  });
  replace(world, 'clearTimeout', remove('timer', clearNative));
  replace(world, 'clearInterval', remove('timer', endNative));
  replace(world, 'requestAnimationFrame', function requestAnimationFrame(f) {
    return add({kind: 'frame', f, due: elapsed() + frame - (elapsed() % frame)});
  });
  replace(world, 'cancelAnimationFrame', remove('frame', endFrameNative || clearNative));
  replace(world, 'requestIdleCallback', function requestIdleCallback(f) {
    return add({kind: 'idle', f, due: elapsed() + 1});
  });
  replace(world, 'cancelIdleCallback', remove('idle', endIdleNative || clearNative));

  const FakeDate = new Proxy(NativeDate, {
    apply: () => new NativeDate(now()).toString(),
    construct: (target, args, of) => Reflect.construct(target, args.length ? args : [now()], of),
  });
  replace(NativeDate, 'now', {now: () => now()}.now);
  replace(NativeDate.prototype, 'constructor', FakeDate);
  replace(world, 'Date', FakeDate);
  const performances = world.Performance.prototype;
  const origin = Object.getOwnPropertyDescriptor(performances, 'timeOrigin').get;
  replace(performances, 'now', {now() { return elapsed(); }}.now);
  Object.defineProperty(performances, 'timeOrigin', {
    get() { return mode === 'off' || mode === 'fixed' ? origin.call(this) : now() - elapsed(); },
    configurable: true,
    enumerable: true,
  });
  const format = world.Intl && world.Intl.DateTimeFormat.prototype;
  if (format) {
    const getter = Object.getOwnPropertyDescriptor(format, 'format').get;
    Object.defineProperty(format, 'format', {
      get() {
        const native = getter.call(this);
        return (date) => native(date === undefined ? now() : date);
      },
      configurable: true,
    });
    const parts = format.formatToParts;
    replace(format, 'formatToParts', function formatToParts(date) {
      return parts.call(this, date === undefined ? now() : date);
    });
  }
  const temporal = world.Temporal && world.Temporal.Now;
  if (temporal) {
    const zone = temporal.timeZoneId;
    const instant = () => world.Temporal.Instant.fromEpochMilliseconds(Math.floor(now()));
    const zoned = (z) => instant().toZonedDateTimeISO(z === undefined ? zone.call(temporal) : z);
    replace(temporal, 'instant', instant);
    replace(temporal, 'zonedDateTimeISO', zoned);
    replace(temporal, 'plainDateTimeISO', (z) => zoned(z).toPlainDateTime());
    replace(temporal, 'plainDateISO', (z) => zoned(z).toPlainDate());
    replace(temporal, 'plainTimeISO', (z) => zoned(z).toPlainTime());
  }
  replace(math, 'random', () => random.call(math));

  // seeded is mulberry32.
  const seeded = (seed) => {
    let state = seed >>> 0;
    return () => {
      state = (state + 0x6d2b79f5) | 0;
      let t = Math.imul(state ^ (state >>> 15), 1 | state);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
  };

  // turn is the end of the task: what promises wait for happens before it.
  const turn = () => new Promise((done) => {
    const {port1, port2} = new Channel();
    port1.onmessage = () => {
      port1.close();
      done();
    };
    port2.postMessage(0);
  });
  // advance runs the timers that are due until a time, in their order.
  const advance = async (until) => {
    const end = frozen + until - frozenAt;
    for (let n = 0; n < most && mode === 'paused'; n++) {
      let next;
      for (const t of timers.values()) {
        if (t.due <= end && (!next || t.due < next.due)) next = t;
      }
      if (!next) break;
      at = Math.max(at, frozenAt + next.due - frozen);
      if (next.every === undefined) timers.delete(next.id);
      else next.due += next.every;
      call(next.f, argumentsOf(next));
      await turn();
    }
    if (mode === 'paused') at = Math.max(at, until);
  };

  let seed;
  const set = (next) => {
    const was = mode;
    if (next.seed !== seed) {
      seed = next.seed;
      random = seed === undefined ? realRandom : seeded(seed);
    }
    if (was === 'paused' && next.mode === 'paused' && next.at >= at) {
      settled = settled.then(() => advance(next.at));
      return;
    }
    if (next.mode === 'paused') {
      frozen = fresh ? 0 : elapsed();
      for (const t of timers.values()) disarm(t);
    } else if (was === 'paused') shift = elapsed() - realPerformance();
    fresh = false;
    mode = next.mode || 'off';
    at = next.at;
    started = next.started;
    frozenAt = at;
    if (was === 'paused' && mode !== 'paused') for (const t of timers.values()) arm(t);
  };
  Object.defineProperty(world, key, {
    value: {set, get settled() { return settled; }},
    configurable: true,
  });
  set(config);
}
