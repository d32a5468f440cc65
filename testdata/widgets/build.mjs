// Bundles the entry of one library: node build.mjs FOLDER ENTRY OUT. The folder has node_modules.
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, entry, out] = process.argv.slice(2);
const require = createRequire(path.join(folder, 'package.json'));
const load = async (name) => import(pathToFileURL(require.resolve(name)));
const esbuild = await load('esbuild');
const plugins = [];
if (entry.includes('svelte')) {
  const svelte = await load('esbuild-svelte');
  plugins.push((svelte.default.default || svelte.default)({ compilerOptions: { css: 'injected' } }));
}
// A component of Svelte is put into the page by two lines of its own.
const component = entry.endsWith('.svelte') && {
  contents: [
    "import { mount } from 'svelte';",
    `import App from ${JSON.stringify(entry)};`,
    "mount(App, { target: document.getElementById('root') });"
  ].join('\n'),
  resolveDir: folder
};
await esbuild.build({
  absWorkingDir: folder,
  ...(component ? { stdin: component } : { entryPoints: [entry] }),
  outfile: out,
  bundle: true,
  format: 'iife',
  jsx: 'automatic',
  logLevel: 'error',
  minify: true,
  mainFields: ['svelte', 'browser', 'module', 'main'],
  conditions: ['svelte', 'browser', 'production'],
  define: {
    'process.env.NODE_ENV': '"production"',
    'process.env': '{}',
    __VUE_OPTIONS_API__: 'true',
    __VUE_PROD_DEVTOOLS__: 'false',
    __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false'
  },
  alias: folder.endsWith('vue') ? { vue: 'vue/dist/vue.esm-bundler.js' } : {},
  tsconfigRaw: { compilerOptions: { experimentalDecorators: true, useDefineForClassFields: false } },
  loader: {
    '.woff': 'empty', '.woff2': 'empty', '.ttf': 'empty', '.eot': 'empty', '.svg': 'dataurl', '.png': 'dataurl',
    '.gif': 'dataurl', '.jpg': 'empty'
  },
  plugins
});
