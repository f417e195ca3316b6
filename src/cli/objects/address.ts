import { type Command, Option } from 'commander'
import { invalid, notFoundRefusal, type Outcome, refused } from '../../client-model/index.ts'
import { OBJECT_KINDS, type ObjectKind } from '../../core/vocabulary.ts'
import { type FragmentOf, gql } from '../../documents/gql.ts'
import { withCompletion } from '../completed.ts'
import { parseKind } from '../options.ts'
import type { Session } from '../session.ts'
import { words } from '../terminal/text.ts'
import { checkWords, hasProject } from './check-words.ts'
import { suggestPaths } from './suggest-paths.ts'

export interface AddressOptions {
  readonly project?: string
  readonly kind?: ObjectKind
}

/** One object, as the user names it. */
export type Address =
  | { readonly by: 'id'; readonly id: string }
  | { readonly by: 'path'; readonly path: readonly string[] }
  | { readonly by: 'nothing' }

type Named = Exclude<Address, { readonly by: 'nothing' }>

const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i

/** An id is a UUID; everything else is a path, its names divided by `/`. */
export function parseAddress(text: string): Address {
  if (UUID.test(text)) return { by: 'id', id: text }
  const path = text.split('/').filter((name) => name !== '')
  return path.length === 0 ? { by: 'nothing' } : { by: 'path', path }
}

/** A path as `locate` reads it without `--project`. */
export const addressIn = (project: string, path: readonly string[]): string =>
  (project === DEFAULT_PROJECT ? path : [project, ...path]).join('/')

const DEFAULT_PROJECT = 'default'

export const withAddressOptions = (command: Command): Command =>
  withCompletion(command, 'object')
    .option('--project <name>', 'project that the path stands in (default: "default")')
    .addOption(
      new Option('--kind <kind>', 'kind that the path leads to, where several have the path').argParser(parseKind),
    )

const LOCATED = `fragment Located on TreeObject {
  id kind name phase finished generation project { name } root { id kind name phase }
}`
/** An object that the user has named. */
export type Located = FragmentOf<typeof LOCATED>

const BY_ID = gql(`query LocateById($id: ID!) { object(id: $id) { ...Located } }\n${LOCATED}`)
const BY_PATH = gql(`query LocateByPath($project: String!, $path: [String!]!) {
  objectsByPath(project: $project, path: $path) { ...Located }
}\n${LOCATED}`)
const BY_EITHER_PATH =
  gql(`query LocateByEitherPath($project: String!, $path: [String!]!, $first: String!, $rest: [String!]!) {
  objectsByPath(project: $project, path: $path) { ...Located }
  projectFirst: objectsByPath(project: $first, path: $rest) { ...Located }
}\n${LOCATED}`)

/**
 * Finds the object that the user has named. Without `--project`, the first name of a path may also be a project's. When
 * several objects have the address it is refused as ambiguous, since the command may be about to delete one.
 */
export async function locate(session: Session, text: string, options: AddressOptions): Promise<Outcome<Located>> {
  const address = parseAddress(text)
  if (address.by === 'nothing') return refused(invalid(`${JSON.stringify(text)} names no object.`))
  const wrong = await checkWords(session, options.kind === undefined ? {} : { kinds: [options.kind] })
  if (wrong) return refused(wrong)
  const found = (await look(session, address, options)).filter(
    ({ kind }) => address.by === 'id' || options.kind === undefined || options.kind === kind,
  )
  const [value, other] = found
  if (value && other) return refused(invalid(`${text} is ambiguous: ${difference(found)}`))
  if (value) return { ok: true, value }
  return refused(notFoundRefusal(await notFound(session, address, text, options)))
}

function difference(found: readonly Located[]): string {
  const projects = [...new Set(found.map(({ project }) => project.name))]
  if (projects.length > 1) {
    return `it stands in project ${projects[0]} and, with its first name as the project, in ${projects[1]}. Give --project.`
  }
  const kinds = [...new Set(found.map(({ kind }) => spell(kind)))]
  return `objects of the kinds ${kinds.join(', ')} have this path. Give --kind.`
}

async function notFound(
  session: Session,
  address: Named,
  text: string,
  { project, kind }: AddressOptions,
): Promise<string> {
  const what = kind === undefined || address.by === 'id' ? 'object' : words(kind)
  const where = project === undefined ? '' : ` in project ${project}`
  const paths = address.by === 'path' ? await suggestPaths(session, address.path, project) : []
  const suggestion = paths.length > 0 ? ` Did you mean ${paths.join(', or ')}?` : await otherMeaning(session, address)
  return `There is no ${what} ${text}${where} that you may read.${suggestion}`
}

/** A sentence about a name that is that of a kind or of a project; empty: it is none. */
async function otherMeaning(session: Session, address: Named): Promise<string> {
  if (address.by === 'id' || address.path.length > 1) return ''
  const [name = ''] = address.path
  const kind = OBJECT_KINDS.find((one) => spellings(one).includes(name.toLowerCase()))
  if (kind) return ` \`phaseline get --kind ${spell(kind)}\` lists objects of this kind.`
  return (await hasProject(session, name)) ? ` ${name} is a project: \`--project ${name}\` names it.` : ''
}
const spellings = (kind: ObjectKind): readonly string[] => [spell(kind), `${spell(kind)}s`]
const spell = (kind: string): string => kind.toLowerCase().replaceAll('_', '-')

async function look(
  { client, io: { signal } }: Session,
  address: Named,
  { project }: AddressOptions,
): Promise<readonly Located[]> {
  if (address.by === 'id') {
    const { object } = await client.query(BY_ID, { id: address.id }, { signal })
    return object ? [object] : []
  }
  const { path } = address
  const [first, ...rest] = path
  const place = { project: project ?? DEFAULT_PROJECT, path }
  if (project !== undefined || first === undefined || rest.length === 0) {
    return (await client.query(BY_PATH, place, { signal })).objectsByPath
  }
  const { objectsByPath, projectFirst } = await client.query(BY_EITHER_PATH, { ...place, first, rest }, { signal })
  return [...objectsByPath, ...projectFirst]
}
