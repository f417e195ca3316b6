import type { Plugin } from 'vite'
import { schemaOfDocuments } from '../src/cli/manifests/document-schema.ts'
import { manifestSchema, projectSchema } from '../src/manifest/index.ts'

const ID = 'virtual:document-schema'
const KINDS = [
  { kind: 'Installation', schema: manifestSchema },
  { kind: 'Project', schema: projectSchema },
]

/** The JSON Schema of the documents that forms take, made while the dashboard is built: `phaseline explain --json` prints the same. */
export function documentSchema(): Plugin {
  return {
    name: 'phaseline-document-schema',
    resolveId: (id) => (id === ID ? `\0${ID}` : null),
    load: (id) => (id === `\0${ID}` ? `export default ${JSON.stringify(schemaOfDocuments(KINDS))}` : null),
  }
}
