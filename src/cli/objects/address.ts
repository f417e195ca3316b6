import { type Command, Option } from 'commander'
import type { ObjectKind } from '../../core/vocabulary.ts'
import { type FragmentOf, gql } from '../../documents/gql.ts'
import { parseKind } from '../options.ts'
import type { Session } from '../session.ts'
import { checkWords } from './check-words.ts'
import { invalid, notFoundRefusal, type Outcome, refused } from './refusal.ts'

export interface AddressOptions {
  readonly project?: string
  readonly kind?: ObjectKind
}

/** One object, as the user names it. */
export type Address =
  | { readonly by: 'id'; readonly id: string }
  | { readonly by: 'path'; readonly path: readonly string[] }
  | { readonly by: 'nothing' }

const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i

/** An id is a UUID; everything else is a path, its names divided by `/`. */
export function parseAddress(text: string): Address {
  if (UUID.test(text)) return { by: 'id', id: text }
  const path = text.split('/').filter((name) => name !== '')
  return path.length === 0 ? { by: 'nothing' } : { by: 'path', path }
}

export const withAddressOptions = (command: Command): Command =>
  command
    .option('--project <name>', 'project that the path stands in (default: "default")')
    .addOption(new Option('--kind <kind>', 'kind that the path leads to').argParser(parseKind).default('INSTALLATION'))

const LOCATED = `fragment Located on TreeObject {
  id kind name phase finished generation project { name } root { id name }
}`
/** An object that the user has named. */
export type Located = FragmentOf<typeof LOCATED>

const BY_ID = gql(`query LocateById($id: ID!) { object(id: $id) { ...Located } }\n${LOCATED}`)
const BY_PATH = gql(`query LocateByPath($project: String!, $kind: ObjectKind!, $path: [String!]!) {
  objectByPath(project: $project, kind: $kind, path: $path) { ...Located }
}\n${LOCATED}`)
const BY_EITHER_PATH = gql(`query LocateByEitherPath(
  $project: String!, $path: [String!]!, $first: String!, $rest: [String!]!, $kind: ObjectKind!
) {
  objectByPath(project: $project, kind: $kind, path: $path) { ...Located }
  projectFirst: objectByPath(project: $first, kind: $kind, path: $rest) { ...Located }
}\n${LOCATED}`)

/**
 * Finds the object that the user has named. Without `--project`, the first name of a path may also be a project's. When
 * both readings name an object the address is refused as ambiguous, since the command may be about to delete it.
 */
export async function locate(session: Session, text: string, options: AddressOptions): Promise<Outcome<Located>> {
  const address = parseAddress(text)
  if (address.by === 'nothing') return refused(invalid(`${JSON.stringify(text)} names no object.`))
  const wrong = await checkWords(session, options.kind === undefined ? {} : { kinds: [options.kind] })
  if (wrong) return refused(wrong)
  const { object, projectFirst } = await look(session, address, options)
  if (object && projectFirst) {
    const first = address.by === 'path' ? address.path[0] : ''
    return refused(
      invalid(
        `${text} is ambiguous: it stands in project default and, with ${first} as the project, there too. Give --project.`,
      ),
    )
  }
  const value = object ?? projectFirst
  if (value) return { ok: true, value }
  return refused(notFoundRefusal(notFound(address, text, options)))
}

function notFound(address: Address, text: string, { project, kind = 'INSTALLATION' }: AddressOptions): string {
  const what = address.by === 'id' ? 'object' : kind
  return `There is no ${what} ${text}${project === undefined ? '' : ` in project ${project}`} that you may read.`
}

async function look(
  { client, io: { signal } }: Session,
  address: Exclude<Address, { by: 'nothing' }>,
  { project, kind = 'INSTALLATION' }: AddressOptions,
): Promise<{ readonly object: Located | null; readonly projectFirst?: Located | null }> {
  if (address.by === 'id') return await client.query(BY_ID, { id: address.id }, { signal })
  const { path } = address
  const [first, ...rest] = path
  const place = { project: project ?? 'default', kind, path }
  const isEither = project === undefined && first !== undefined && rest.length > 0
  const { objectByPath: object, ...other } = isEither
    ? await client.query(BY_EITHER_PATH, { ...place, first, rest }, { signal })
    : await client.query(BY_PATH, place, { signal })
  return { object, ...other }
}
