// platform_name answers whether a global name is the platform's own, seen from
// a world that no script of the page has touched: fetch and eval are, a function
// of the page is not.

queries.platform_name = ({ name }) => ({ platform: Object.hasOwn(globalThis, name) && !ourGlobals.includes(name) });

const ourGlobals = ['outrider', 'outriderInstall', 'outriderMemory', 'outriderRefs', 'outriderWorld'];
