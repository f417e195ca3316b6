/** Who may import whom. `architecture.test.ts` holds the code to it, and ARCHITECTURE.md shows it (`npm run generate`). */

/** A family's files that do I/O; all its others are pure. */
const IMPURE =
  /^(commands|queries|effects|family|root-scope|read-existing|detail-loaders|blocker-queries|export-names|spec-snapshots|event-queries|slots|locks|claim-payload|worker-tokens|fences|requests-of|graphql|server|index)\.ts$|^(commands|graphql)\//

interface Layer {
  /** Where it is: a folder or file of `src/`. */
  readonly files: string
  readonly mayImport: readonly string[]
}

export const LAYERS: Readonly<Record<string, Layer>> = {
  core: { files: '`core/`', mayImport: [] },
  'families/pure': {
    files: '`families/<family>/`: rules, machines, details',
    mayImport: ['core', 'families/port'],
  },
  families: {
    files: '`families/<family>/`: commands, queries, effects, GraphQL',
    mayImport: ['core', 'sandbox', 'store', 'graphql', 'families/pure', 'families/port'],
  },
  'families/port': {
    files: '`families/`: what each family implements, or shares',
    mayImport: ['core', 'sandbox', 'store', 'graphql', 'config'],
  },
  'families/index': {
    files: '`families/index.ts`, `families/machines.ts`',
    mayImport: ['core', 'families', 'families/pure', 'families/port'],
  },
  engine: {
    files: '`engine/`',
    mayImport: ['core', 'families/port', 'sandbox', 'store', 'log', 'logger'],
  },
  process: { files: '`process/`', mayImport: [] },
  store: { files: '`store/`', mayImport: ['core', 'process', 'logger', 'config'] },
  log: { files: '`log/`', mayImport: ['core', 'store', 'logger'] },
  sandbox: { files: '`sandbox/`', mayImport: ['core', 'logger'] },
  graphql: { files: '`graphql/`', mayImport: ['core', 'store', 'log', 'logger', 'config'] },
  server: { files: '`server/`', mayImport: ['core', 'graphql', 'log', 'config', 'logger', 'store'] },
  documents: { files: '`documents/`', mayImport: ['core'] },
  client: { files: '`client/`', mayImport: ['core', 'documents'] },
  manifest: { files: '`manifest/`', mayImport: [] },
  agents: { files: '`agents/`', mayImport: ['core', 'documents', 'client', 'process', 'logger'] },
  cli: { files: '`cli/`', mayImport: ['core', 'documents', 'client', 'manifest', 'serve'] },
  config: { files: '`config.ts`', mayImport: ['core'] },
  'secret-keys': { files: '`secret-keys.ts`', mayImport: ['config'] },
  settings: { files: '`settings.ts`', mayImport: ['config'] },
  logger: { files: '`logger.ts`', mayImport: [] },
  system: { files: '`system.ts`', mayImport: ['core'] },
}

/** Of a file, by its path within `src/`. */
export function layerOf(file: string): string {
  const [top = '', second = '', ...rest] = file.split('/')
  if (top !== 'families') return top.replace(/\.ts$/, '')
  if (rest.length === 0) return second === 'index.ts' || second === 'machines.ts' ? 'families/index' : 'families/port'
  return IMPURE.test(rest.join('/')) ? 'families' : 'families/pure'
}
