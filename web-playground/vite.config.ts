import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import packageJson from '../package.json' with { type: 'json' }
import { compressed } from './compressed.ts'
import { documentSchema } from './document-schema.ts'

/** Where `npm run dev:web` finds the API. */
const GATEWAY = process.env.PHASELINE_URL ?? 'http://127.0.0.1:4000'

const SRC = join(import.meta.dirname, 'src/')
/** What the dashboard shares with the server and the client. Nothing of it does anything by being loaded, so a page leaves out what it does not use. */
const LIBRARY = join(import.meta.dirname, '../src/')
/** What the first small part of a page has, and loads the rest with: it stays small. */
const FIRST = /\/(?:main|load-part|lazy-part|token|theme)\.tsx?$/
/** Pages that share a module which goes into one file with others: it compresses better, and a page loads a third fewer files. With 8, the first part would load it, too. */
const SHARERS = 9

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), compressed(), documentSchema()],
  define: { 'import.meta.env.PHASELINE_VERSION': JSON.stringify(packageJson.version) },
  resolve: {
    alias: {
      'phaseline/client': fileURLToPath(new URL('../src/client/index.ts', import.meta.url)),
      'phaseline/client-model': fileURLToPath(new URL('../src/client-model/index.ts', import.meta.url)),
      'phaseline/manifest': fileURLToPath(new URL('../src/manifest/index.ts', import.meta.url)),
      'phaseline/sign-in': fileURLToPath(new URL('../src/sign-in/index.ts', import.meta.url)),
      'phaseline/examples': fileURLToPath(new URL('../examples', import.meta.url)),
    },
  },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2022',
    // A data: URL would not be allowed by the page's policy.
    assetsInlineLimit: 0,
    // Browsers of the target know it.
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: ['index.html', 'graphiql.html'].map((page) => join(import.meta.dirname, page)),
      treeshake: { moduleSideEffects: (id) => !id.startsWith(LIBRARY) },
      output: {
        codeSplitting: {
          groups: [{ name: 'shared', test: (id) => id.startsWith(SRC) && !FIRST.test(id), minShareCount: SHARERS }],
        },
      },
      // Compressing takes its time.
      checks: { pluginTimings: false },
    },
  },
  server: {
    // Beside the dashboard's own folder: what is published, and the examples.
    fs: { allow: ['..'] },
    proxy: {
      '^/(graphql|sign-in|livez|healthz|readyz|.well-known/phaseline)$': {
        target: GATEWAY,
        changeOrigin: true,
        ws: true,
        // The gateway refuses pages of other origins; here Vite is its page.
        rewriteWsOrigin: true,
        configure: (proxy) => proxy.on('proxyReq', (request) => request.setHeader('origin', GATEWAY)),
      },
    },
  },
})
