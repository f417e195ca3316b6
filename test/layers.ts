/** The permitted imports. `architecture.test.ts` enforces them, and ARCHITECTURE.md shows them (`npm run generate`). */

/**
 * The walls within a family are its folders, also those of a part of it (`placement/store/`, `placement/cli.ts`). `index.ts` defines it,
 * `server.ts` is its half of a server; its other files are data.
 */
const ROOMS: Readonly<Record<string, string>> = {
  index: 'families/definition',
  server: 'families',
  rules: 'families/pure',
  store: 'families',
  commands: 'families',
  graphql: 'families',
  cli: 'families/cli',
  agents: 'families/agents',
  protocol: 'families/protocol',
}
/** Files of `cli/` that know the families and the server; commands are made of all the others. */
const PROGRAM = /^(main|run|run-process|program)\.ts$|^commands\//

interface Layer {
  /** Its folder or file in `src/`. */
  readonly files: string
  readonly mayImport: readonly string[]
}

/** They make a server of all families. */
const OF_ALL_FAMILIES = new Set(['load-families.ts', 'create-commands.ts'])

export const LAYERS: Readonly<Record<string, Layer>> = {
  core: { files: '`core/`', mayImport: [] },
  'families/pure': {
    files: '`families/<family>/`: `rules/`, `machines.ts`, `words.ts`, `rights.ts`',
    mayImport: ['core', 'families/port', 'projects/pure'],
  },
  families: {
    files: '`families/<family>/`: `store/`, `commands/`, `graphql/`, `server.ts`',
    mayImport: [
      ...['core', 'manifest', 'sandbox', 'standard-webhooks', 'store', 'graphql'],
      ...['families/pure', 'families/port', 'projects', 'projects/pure'],
    ],
  },
  'families/cli': {
    files: '`families/<family>/cli/`',
    mayImport: [
      ...['core', 'documents', 'client', 'client-model', 'manifest'],
      ...['cli/parts', 'families/pure', 'families/port'],
    ],
  },
  'families/agents': {
    files: '`families/<family>/agents/`',
    mayImport: ['core', 'documents', 'client', 'manifest', 'process', 'sandbox', 'agents/parts', 'families/protocol'],
  },
  'families/protocol': {
    files: '`families/<family>/protocol/`: how its agents talk to the API, for those who write their own',
    mayImport: ['core', 'documents', 'client'],
  },
  'families/definition': {
    files: '`families/<family>/index.ts`',
    mayImport: ['families/pure', 'families/port', 'families', 'families/cli', 'families/agents'],
  },
  'families/port': {
    files: '`families/`: what each family implements, or shares',
    mayImport: ['core', 'sandbox', 'store', 'graphql', 'config', 'cli/parts', 'agents/parts'],
  },
  'families/server': {
    files:
      '`families/load-families.ts`, `families/create-commands.ts`: a server has these of all families, and of what belongs to none',
    mayImport: ['store', 'graphql', 'families/port', 'projects', 'hooks'],
  },
  'projects/pure': { files: '`projects/rules/`', mayImport: ['core', 'families/port'] },
  projects: {
    files: '`projects/`: `commands/`, `graphql/`',
    mayImport: ['core', 'store', 'graphql', 'families/port', 'projects/pure'],
  },
  'hooks/pure': { files: '`hooks/rules/`', mayImport: ['core'] },
  hooks: {
    files: '`hooks/`: `commands/`, `graphql/`, `receive/`, `redeliver/`',
    mayImport: ['core', 'sandbox', 'store', 'graphql', 'families/port', 'hooks/pure', 'standard-webhooks'],
  },
  'families/index': {
    files: '`families/index.ts`, `families/machines.ts`',
    mayImport: ['core', 'families/definition', 'families/port'],
  },
  engine: {
    files: '`engine/`',
    mayImport: ['core', 'families/port', 'process', 'sandbox', 'store', 'log', 'logger', 'tracing'],
  },
  process: { files: '`process/`', mayImport: [] },
  store: { files: '`store/`', mayImport: ['core', 'process', 'logger'] },
  log: { files: '`log/`', mayImport: ['core', 'process', 'seal', 'store', 'logger', 'tracing'] },
  seal: { files: '`seal/`', mayImport: [] },
  audit: { files: '`audit/`', mayImport: ['core', 'process', 'store', 'log', 'logger', 'chain-hash'] },
  backup: { files: '`backup/`', mayImport: ['core', 'store', 'log'] },
  'standard-webhooks': { files: '`standard-webhooks.ts`', mayImport: [] },
  'chain-hash': { files: '`chain-hash.ts`', mayImport: ['core'] },
  sandbox: { files: '`sandbox/`', mayImport: ['core', 'manifest', 'tracing'] },
  graphql: { files: '`graphql/`', mayImport: ['core', 'store', 'log', 'logger'] },
  'sign-in': { files: '`sign-in/`', mayImport: ['core', 'client'] },
  oidc: { files: '`oidc/`', mayImport: ['core', 'graphql', 'logger', 'manifest', 'process', 'sign-in', 'store'] },
  server: { files: '`server/`', mayImport: ['core', 'graphql', 'log', 'logger', 'process', 'tracing'] },
  documents: { files: '`documents/`', mayImport: ['core'] },
  client: { files: '`client/`', mayImport: ['core', 'documents', 'tracing', 'families/protocol'] },
  manifest: { files: '`manifest/`', mayImport: ['core'] },
  'client-model': { files: '`client-model/`: what clients know of trees', mayImport: ['core'] },
  agents: {
    files: '`agents/main.ts`',
    mayImport: ['process', 'agents/parts', 'families/index'],
  },
  'agents/parts': {
    files: '`agents/`: what programs of agents share, and what starts their processes',
    mayImport: ['core', 'client', 'process', 'tracing'],
  },
  cli: {
    files: '`cli/`: `main.ts`, `run.ts`, `run-process.ts`, `program.ts`, `commands/`',
    mayImport: [
      ...[
        'core',
        'documents',
        'client',
        'client-model',
        'cli/parts',
        'agents/parts',
        'families/index',
        'families/port',
      ],
      ...['backup', 'serve', 'start'],
    ],
  },
  'cli/parts': {
    files: '`cli/`: what commands are made of',
    mayImport: ['core', 'documents', 'client', 'client-model', 'manifest', 'chain-hash', 'process', 'seal', 'sign-in'],
  },
  config: { files: '`config.ts`', mayImport: ['core', 'tracing'] },
  'secret-keys': { files: '`secret-keys.ts`', mayImport: ['core', 'config'] },
  settings: { files: '`settings.ts`', mayImport: ['config', 'secret-sources'] },
  'secret-sources': { files: '`secret-sources.ts`', mayImport: [] },
  logger: { files: '`logger.ts`', mayImport: ['core', 'tracing'] },
  tracing: { files: '`tracing/`', mayImport: ['core'] },
  system: { files: '`system.ts`', mayImport: ['core'] },
}

/** The layer of a file, by its path within `src/`. */
export function layerOf(file: string): string {
  const [top = '', ...rest] = file.split('/')
  if (top === 'families') return familyLayerOf(rest)
  if (top === 'projects') return rest[0] === 'rules' ? 'projects/pure' : 'projects'
  if (top === 'hooks') return rest[0] === 'rules' ? 'hooks/pure' : 'hooks'
  if (top === 'agents') return rest.join('/') === 'main.ts' ? 'agents' : 'agents/parts'
  if (top === 'cli') return PROGRAM.test(rest.join('/')) ? 'cli' : 'cli/parts'
  return top.replace(/\.ts$/, '')
}

function familyLayerOf([family = '', ...rest]: readonly string[]): string {
  if (OF_ALL_FAMILIES.has(family)) return 'families/server'
  if (rest.length === 0) return family === 'index.ts' || family === 'machines.ts' ? 'families/index' : 'families/port'
  const rooms = rest.flatMap((part) => ROOMS[part.replace(/\.ts$/, '')] ?? [])
  return rooms[0] ?? 'families/pure'
}
