import { registerHooks } from 'node:module'

/** The dashboard's rules and the MCP server import the package by its name, which leads to what is built; tests run what is written. */
const SOURCES: Readonly<Record<string, string>> = {
  'phaseline/client': new URL('../../src/client/index.ts', import.meta.url).href,
  'phaseline/client-model': new URL('../../src/client-model/index.ts', import.meta.url).href,
  'phaseline/manifest': new URL('../../src/manifest/index.ts', import.meta.url).href,
}

registerHooks({
  resolve(specifier, context, nextResolve) {
    const url = SOURCES[specifier]
    return url === undefined ? nextResolve(specifier, context) : { url, shortCircuit: true }
  },
})
