import { LineCounter } from 'yaml'
import { placeAt } from './place.ts'
import { readYaml } from './read-yaml.ts'
import { writeYaml } from './write-yaml.ts'

/**
 * Kubeconfigs as credentials of a target: whole in themselves, so that they say who may do what at which cluster, and nothing of
 * the machine that uses them. No message quotes a value, since any may be a credential.
 */

/** One cluster, one user and one context, with fields of `FIELDS` only. */
export interface FlatKubeconfig {
  readonly apiVersion: 'v1'
  readonly kind: 'Config'
  readonly 'current-context': string
  readonly clusters: readonly [{ readonly name: string; readonly cluster: Fields }]
  readonly users: readonly [{ readonly name: string; readonly user: Fields }]
  readonly contexts: readonly [{ readonly name: string; readonly context: Fields }]
}
type Fields = Readonly<Record<string, unknown>>
export type ReadKubeconfig<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly string[] }

const FIELDS = {
  cluster: ['server', 'certificate-authority-data', 'tls-server-name'],
  user: ['token', 'client-certificate-data', 'client-key-data', 'username', 'password'],
  context: ['cluster', 'user', 'namespace'],
} as const
type Part = keyof typeof FIELDS

/** Fields that mean nothing to a client. */
const IGNORED: readonly string[] = ['extensions', 'disable-compression']

const OF_MACHINE = 'is a file of one machine: embed its content, as `phaseline target import` does'
const PROGRAM =
  'runs a program on the machine that uses it: give the token of a service account instead (kubectl create token)'
/** Why a field is refused. */
const REFUSED: Readonly<Record<string, string>> = {
  'certificate-authority': OF_MACHINE,
  'client-certificate': OF_MACHINE,
  'client-key': OF_MACHINE,
  tokenFile: OF_MACHINE,
  exec: PROGRAM,
  'auth-provider': PROGRAM,
  'insecure-skip-tls-verify':
    'would send the credentials to whoever answers at that address: give certificate-authority-data instead',
  'proxy-url': 'is a matter of the deployer’s network: set it there',
}

/** Reads a kubeconfig that is whole in itself. */
export function readFlatKubeconfig(text: string): ReadKubeconfig<FlatKubeconfig> {
  const read = readFields(text)
  if (!read.ok) return read
  const several = (['clusters', 'users', 'contexts'] as const).filter((key) => listOf(read.value[key]).length > 1)
  if (several.length > 0)
    return refuse(`it has several ${several.join(' and ')}: one of each, as \`phaseline target import\` writes it`)
  const chosen = choose(read.value, undefined)
  if (!chosen.ok) return chosen
  const { cluster, user, context } = chosen.value
  const problems = [
    ...problemsOf('cluster', cluster),
    ...problemsOf('user', user),
    ...problemsOf('context', context),
    ...problemsOfServer(cluster.server),
    ...problemsOfUser(user),
  ]
  return problems.length > 0 ? { ok: false, problems } : { ok: true, value: flat(chosen.value) }
}

/**
 * One context of a kubeconfig, by default the current one, with the content of the files that it names. Returns it as text.
 * @param readFile null: it cannot be read
 */
export async function flattenKubeconfig(
  text: string,
  context: string | undefined,
  readFile: (path: string) => Promise<Uint8Array | null>,
): Promise<ReadKubeconfig<string>> {
  const read = readFields(text)
  const chosen = read.ok ? choose(read.value, context) : read
  if (!chosen.ok) return chosen
  const problems: string[] = []
  const embed = async (part: Fields, [field, into]: readonly [string, string]): Promise<Fields> => {
    const { [field]: path, ...rest } = part
    if (path === undefined || rest[into] !== undefined) return rest
    const content = typeof path === 'string' ? await readFile(path) : null
    if (!content) {
      problems.push(`the file of ${field} cannot be read`)
      return rest
    }
    const bytes = Buffer.from(content)
    return { ...rest, [into]: into === 'token' ? bytes.toString().trim() : bytes.toString('base64') }
  }
  let { cluster, user } = chosen.value
  cluster = await embed(cluster, ['certificate-authority', 'certificate-authority-data'])
  for (const files of USER_FILES) user = await embed(user, files)
  const written = writeYaml(flat({ ...chosen.value, cluster, user }))
  const judged = readFlatKubeconfig(written)
  if (!judged.ok) problems.push(...judged.problems)
  return problems.length > 0 ? { ok: false, problems } : { ok: true, value: written }
}
const USER_FILES = [
  ['client-certificate', 'client-certificate-data'],
  ['client-key', 'client-key-data'],
  ['tokenFile', 'token'],
] as const

interface Chosen {
  readonly name: string
  readonly cluster: Fields
  readonly user: Fields
  readonly context: Fields
}

/** The parser's own words may quote a credential, so they are dropped. */
function readFields(text: string): ReadKubeconfig<Fields> {
  const lines = new LineCounter()
  try {
    const document = readYaml(text, lines)
    const [error] = document.errors
    if (error) return refuse(`it is not valid YAML at line ${placeAt(lines, error.pos[0]).line}`)
    const fields = fieldsOf(document.toJS())
    return fields.kind === undefined || fields.kind === 'Config'
      ? { ok: true, value: fields }
      : refuse('its kind is not Config')
  } catch {
    // An alias of nothing, or a nesting that is too deep.
    return refuse('it is not valid YAML')
  }
}

function choose(config: Fields, wanted: string | undefined): ReadKubeconfig<Chosen> {
  const contexts = listOf(config.contexts)
  const current = config['current-context'] || (contexts.length === 1 ? contexts[0]?.name : undefined)
  const name = wanted ?? current
  const context = contexts.find((one) => one.name === name)
  if (typeof name !== 'string' || !context)
    return refuse(wanted === undefined ? 'it has no current context' : `it has no context ${wanted}`)
  const fields = fieldsOf(context.context)
  const cluster = listOf(config.clusters).find((one) => one.name === fields.cluster)
  const user = listOf(config.users).find((one) => one.name === fields.user)
  if (!cluster) return refuse('it lacks the cluster of its context')
  if (!user) return refuse('it lacks the user of its context')
  return { ok: true, value: { name, cluster: fieldsOf(cluster.cluster), user: fieldsOf(user.user), context: fields } }
}

function problemsOf(part: Part, fields: Fields): readonly string[] {
  const known: readonly string[] = FIELDS[part]
  return Object.entries(meaningful(fields)).flatMap(([key, value]) => {
    const refused = REFUSED[key]
    if (refused) return [`${part}.${key} ${refused}`]
    if (!known.includes(key)) return [`the ${part} has a field that targets do not take`]
    if (typeof value !== 'string') return [`${part}.${key} must be text`]
    return key.endsWith('-data') && !isPem(value) ? [`${part}.${key} must be base64 of PEM`] : []
  })
}

const isPem = (text: string): boolean => Buffer.from(text, 'base64').includes('-----BEGIN ')

function problemsOfServer(server: unknown): readonly string[] {
  if (typeof server !== 'string' || !URL.canParse(server))
    return ['cluster.server must be the address of an API server']
  const { protocol, username, password, search, hash } = new URL(server)
  if (protocol !== 'https:') return ['cluster.server must begin with https:// since credentials are sent there']
  return username || password || search || hash ? ['cluster.server must be an address and a path, and no more'] : []
}

function problemsOfUser(user: Fields): readonly string[] {
  const has = (...keys: readonly string[]): boolean =>
    keys.every((key) => typeof user[key] === 'string' && user[key] !== '')
  return has('token') || has('client-certificate-data', 'client-key-data') || has('username', 'password')
    ? []
    : ['the user has neither a token nor a certificate with its key']
}

const flat = ({ name, cluster, user, context }: Chosen): FlatKubeconfig => ({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': name,
  clusters: [{ name, cluster: meaningful(cluster) }],
  users: [{ name, user: meaningful(user) }],
  contexts: [{ name, context: { ...meaningful(context), cluster: name, user: name } }],
})

/** Without fields that say nothing to a client, and those that say what holds anyway. */
const meaningful = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).filter(([key, value]) => !IGNORED.includes(key) && value !== null && value !== false),
  )

const refuse = (problem: string): { readonly ok: false; readonly problems: readonly string[] } => ({
  ok: false,
  problems: [problem],
})
const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.map(fieldsOf) : [])
