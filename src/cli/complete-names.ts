import { nodesOf } from '../client-model/index.ts'
import { gql } from '../documents/gql.ts'
import type { Completed } from './completed.ts'
import { readContexts } from './contexts.ts'
import { readProjectNames } from './projects/api.ts'
import { type Session, type SessionOptions, withSession } from './session.ts'
import { EXIT } from './terminal/exit.ts'
import type { Io } from './terminal/io.ts'

const NAMES = gql(`query CompleteNames(
  $roots: ObjectFilter!, $project: String!, $above: [String!]!, $first: String!, $rest: [String!]!
) {
  roots: objects(filter: $roots, first: 500) { edges { node { kind path } } }
  below: objectsByPath(project: $project, path: $above) { children(first: 500) { edges { node { kind path } } } }
  ofProject: objectsByPath(project: $first, path: $rest) { children(first: 500) { edges { node { kind path } } } }
}`)

/** A shell waits for them. */
const ANSWER_MS = 1_000
const MOST = 50
/** A name with other characters could mean something to a shell. */
const PLAIN = /^[\w./@+-]+$/

interface Asked {
  readonly completed: Completed
  /** The word as far as it is typed. */
  readonly text: string
  /** All words of the line. */
  readonly words: readonly string[]
}

/** Names that begin with a text, for a shell. Silence is the answer to every failure, so that nothing disturbs who is typing. */
export async function completeNames(io: Io, { completed, text, words }: Asked): Promise<readonly string[]> {
  const found = await candidates(io, { completed, text, words }).catch(() => [])
  return [...new Set(found)].filter((name) => name.startsWith(text) && PLAIN.test(name)).slice(0, MOST)
}

async function candidates(io: Io, { completed, text, words }: Asked): Promise<readonly string[]> {
  if (completed === 'context') return Object.keys(readContexts(io.env).contexts)
  const signal = AbortSignal.any([io.signal, AbortSignal.timeout(ANSWER_MS)])
  const silent = { write: () => true }
  let found: readonly string[] = []
  await withSession({ ...io, stdout: silent, stderr: silent, signal }, connectionIn(words), async (session) => {
    found =
      completed === 'project'
        ? await readProjectNames(session)
        : await readPaths(session, text, { kind: completed, project: optionIn(words, '--project') })
    return EXIT.ok
  })
  return found
}

/** The value of an option in a line that is not finished. */
function optionIn(words: readonly string[], option: string): string | undefined {
  const at = words.indexOf(option)
  return at < 0 ? words.find((word) => word.startsWith(`${option}=`))?.slice(option.length + 1) : words[at + 1]
}

function connectionIn(words: readonly string[]): SessionOptions {
  const [url, tokenFile] = [optionIn(words, '--url'), optionIn(words, '--token-file')]
  return { ...(url !== undefined && { url }), ...(tokenFile !== undefined && { tokenFile }) }
}

/** Paths, as a command takes them: their first name may be a project, unless `--project` names one. */
async function readPaths(
  session: Session,
  text: string,
  { kind, project }: { readonly kind: Completed; readonly project: string | undefined },
): Promise<readonly string[]> {
  const above = text.split('/')
  const name = above.pop() ?? ''
  const [first = '', ...rest] = project === undefined ? above : []
  const isRoot = above.length === 0
  // A project without a name has no objects.
  const home = isRoot ? (project ?? 'default') : above.length === 1 ? first : ''
  const roots = { project: home, rootsOnly: true, ...(name !== '' && { nameContains: name }) }
  const variables = { roots, project: project ?? 'default', above, first, rest }
  const [found, projects] = await Promise.all([
    session.client.query(NAMES, variables, { signal: session.io.signal }),
    isRoot && project === undefined ? readProjectNames(session) : [],
  ])
  const inFirst = (one: Child): Child => ({ kind: one.kind, path: `${first}/${one.path}` })
  const paths = [
    ...(isRoot ? nodesOf(found.roots) : nodesOf(found.roots).map(inFirst)),
    ...childrenOf(found.below),
    ...childrenOf(found.ofProject).map(inFirst),
  ].filter(({ path }) => path.startsWith(text))
  const wanted = paths.filter((one) => one.kind === kind)
  return [...(wanted.length > 0 ? wanted : paths).map(({ path }) => path), ...projects.map((one) => `${one}/`)]
}

interface Child {
  readonly kind: string
  readonly path: string
}
interface Parent {
  readonly children: { readonly edges: readonly { readonly node: Child }[] }
}
const childrenOf = (parents: readonly Parent[]): readonly Child[] =>
  parents.flatMap(({ children }) => nodesOf(children))
